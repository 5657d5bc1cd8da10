/**
 * Rung 8, subgroup matrix: the subgroup multiplies whole small matrices, held across its lanes, on the GPU's matrix
 * units.
 *
 * Mapping: a workgroup is four subgroups, set 2×2 over a tile of C. Each subgroup keeps a 2×2 grid of result matrices;
 * K is taken in steps of 32 through workgroup memory, and for each K of the matrix unit within a step the subgroup loads two left and
 * two right matrices and does four multiply-accumulates. The results go back through workgroup memory to C, so that the
 * edges can be guarded. With matrices of 8×8×8, as on Apple's GPUs, the tile is 32×32.
 *
 * Nothing is taken for granted: the shape M×N×K of the matrices, their types and the subgroup size are the adapter's.
 */
import { type MatrixConfig, type Profile, subgroupSizeFor } from '../profile.ts';
import { ceilDiv, reads, roundUp, uniform, writes } from '../program.ts';
import {
  SUBGROUP_MATRIX_ENABLE,
  SUBGROUP_MATRIX_FEATURE,
  SUBGROUP_SIZE_ENABLE,
} from '../wgsl/experimental.ts';
import { matrixName, type Rung, shapeUniform } from './rung.ts';

/** Subgroups along each side of the workgroup's tile, and result matrices along each side of a subgroup's. */
export const GRID = 2;

interface Variant {
  readonly config: MatrixConfig;
  /** Lanes of a subgroup, and whether the kernel has to ask for that many. */
  readonly lanes: number;
  readonly pinned: boolean;
  readonly edges: boolean;
}

const wgsl = ({ config, lanes, pinned, edges }: Variant) => /* wgsl */ `
${SUBGROUP_MATRIX_ENABLE}
enable subgroups;${config.componentType === 'f16' || config.resultComponentType === 'f16' ? '\nenable f16;' : ''}${pinned ? `\n${SUBGROUP_SIZE_ENABLE}` : ''}

alias Input = ${config.componentType};
alias Output = ${config.resultComponentType};
// The matrices of the matrix unit. The type of a matrix names its columns before its rows.
const M = ${config.M}u;
const N = ${config.N}u;
const K = ${config.K}u;
alias Left = subgroup_matrix_left<Input, K, M>;
alias Right = subgroup_matrix_right<Input, N, K>;
alias Result = subgroup_matrix_result<Output, N, M>;

const THREADS = ${4 * lanes}u;            // four subgroups of ${lanes} lanes
const ROWS = ${GRID * GRID} * M;              // the tile of C that a workgroup makes
const COLS = ${GRID * GRID} * N;
const STEP = ${stepOf(config)}u;                // of K, through workgroup memory
// True where the shape is not a multiple of the tile: then loads and stores are guarded.
const EDGES = ${edges};

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<Input>;
@group(0) @binding(2) var<storage, read> b: array<Input>;
@group(0) @binding(3) var<storage, read_write> c: array<Output>;

var<workgroup> tileA: array<Input, ROWS * STEP>;
var<workgroup> tileB: array<Input, STEP * COLS>;
var<workgroup> tileC: array<Output, ROWS * COLS>;

fn loadA(row: u32, k: u32) -> Input {
  let inside = !EDGES | ((row < shape.m) & (k < shape.k));
  return select(Input(), a[row * shape.k + k], inside);
}

fn loadB(k: u32, col: u32) -> Input {
  let inside = !EDGES | ((k < shape.k) & (col < shape.n));
  return select(Input(), b[k * shape.n + col], inside);
}

@compute @workgroup_size(THREADS)${pinned ? ` @subgroup_size(${lanes})` : ''}
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let firstRow = group.y * ROWS;
  let firstCol = group.x * COLS;
  // This subgroup's part of the tile.
  let row = subgroup / 2 * 2 * M;
  let col = subgroup % 2 * 2 * N;
  var result00: Result;
  var result01: Result;
  var result10: Result;
  var result11: Result;

  for (var start = 0u; start < shape.k; start += STEP) {
    for (var i = thread; i < ROWS * STEP; i += THREADS) {
      tileA[i] = loadA(firstRow + i / STEP, start + i % STEP);
    }
    for (var i = thread; i < STEP * COLS; i += THREADS) {
      tileB[i] = loadB(start + i / COLS, firstCol + i % COLS);
    }
    workgroupBarrier();
    for (var k = 0u; k < STEP; k += K) {
      let left0 = subgroupMatrixLoad<Left, row_major>(&tileA, row * STEP + k, STEP);
      let left1 = subgroupMatrixLoad<Left, row_major>(&tileA, (row + M) * STEP + k, STEP);
      let right0 = subgroupMatrixLoad<Right, row_major>(&tileB, k * COLS + col, COLS);
      let right1 = subgroupMatrixLoad<Right, row_major>(&tileB, k * COLS + col + N, COLS);
      result00 = subgroupMatrixMultiplyAccumulate(left0, right0, result00);
      result01 = subgroupMatrixMultiplyAccumulate(left0, right1, result01);
      result10 = subgroupMatrixMultiplyAccumulate(left1, right0, result10);
      result11 = subgroupMatrixMultiplyAccumulate(left1, right1, result11);
    }
    workgroupBarrier();
  }

  subgroupMatrixStore<row_major>(&tileC, row * COLS + col, result00, COLS);
  subgroupMatrixStore<row_major>(&tileC, row * COLS + col + N, result01, COLS);
  subgroupMatrixStore<row_major>(&tileC, (row + M) * COLS + col, result10, COLS);
  subgroupMatrixStore<row_major>(&tileC, (row + M) * COLS + col + N, result11, COLS);
  workgroupBarrier();
  for (var i = thread; i < ROWS * COLS; i += THREADS) {
    let y = firstRow + i / COLS;
    let x = firstCol + i % COLS;
    if (!EDGES || (y < shape.m && x < shape.n)) {
      c[y * shape.n + x] = tileC[i];
    }
  }
}
`;

export const stepOf = (config: MatrixConfig) => roundUp(32, config.K);
const bytesOf = (type: string) => (type === 'f32' ? 4 : 2);

function workgroupMemory(config: MatrixConfig): number {
  const [rows, cols, step] = [GRID * GRID * config.M, GRID * GRID * config.N, stepOf(config)];
  return (
    (rows * step + step * cols) * bytesOf(config.componentType) +
    rows * cols * bytesOf(config.resultComponentType)
  );
}

/** f32 throughout if the device offers it, else f16 with f32 results, else f16; of each the largest matrix that fits. */
const TYPES = [
  ['f32', 'f32'],
  ['f16', 'f32'],
  ['f16', 'f16'],
] as const;

/** The matrix shape and types that this device runs rung 8 with, or why it can't. */
export function chooseMatrix(profile: Profile): Omit<Variant, 'edges'> | { readonly missing: string } {
  if (!profile.features.includes(SUBGROUP_MATRIX_FEATURE)) {
    return { missing: `the device has no \`${SUBGROUP_MATRIX_FEATURE}\`` };
  }
  const subgroup = subgroupSizeFor(profile);
  if ('missing' in subgroup) return subgroup;
  const { maxComputeWorkgroupStorageSize: memory } = profile.limits;
  const known = TYPES.flatMap(([input, output]) =>
    profile.matrixConfigs
      .filter(config => config.componentType === input && config.resultComponentType === output)
      .sort((x, y) => y.M * y.N * y.K - x.M * x.N * x.K),
  );
  const usable = known.filter(
    config => config.componentType === 'f32' || profile.features.includes('shader-f16'),
  );
  const config = usable.find(config => workgroupMemory(config) <= memory);
  if (config) return { config, lanes: subgroup.size, pinned: subgroup.pinned };
  if (usable.length > 0) {
    const least = Math.min(...usable.map(workgroupMemory));
    return {
      missing: `the smallest matrix that the device offers needs ${least} bytes of workgroup memory, the device has ${memory}`,
    };
  }
  if (known.length > 0) return { missing: 'the device has f16 matrices only, and no `shader-f16`' };
  const types = profile.matrixConfigs.map(config => `${config.componentType}→${config.resultComponentType}`);
  return {
    missing: `no f32 or f16 matrices among those the device offers (${[...new Set(types)].join(', ') || 'none'})`,
  };
}

export const subgroupMatrix: Rung = {
  rung: '8',
  id: 'subgroup-matrix',
  idea: "matrices held across a subgroup's lanes",
  m4: 1715.5,
  missing: profile => {
    const choice = chooseMatrix(profile);
    return 'missing' in choice ? choice.missing : null;
  },
  build: (shape, profile) => {
    const choice = chooseMatrix(profile);
    if ('missing' in choice) throw new RangeError(choice.missing);
    const { config, lanes } = choice;
    const [rows, cols] = [GRID * GRID * config.M, GRID * GRID * config.N];
    const edges = shape.m % rows > 0 || shape.n % cols > 0 || shape.k % stepOf(config) > 0;
    const result = config.resultComponentType as 'f32' | 'f16';
    return {
      inputs: config.componentType as 'f32' | 'f16',
      result,
      arithmetic: result === 'f16' ? 'f16' : 'matrix-f32',
      preparation: 'beside',
      detail: `${matrixName(config)}, ${lanes} lanes`,
      passes: [
        {
          label: 'subgroup-matrix',
          wgsl: wgsl({ ...choice, edges }),
          bindings: [uniform('shape'), reads('a'), reads('b'), writes('c')],
          workgroups: [ceilDiv(shape.n, cols), ceilDiv(shape.m, rows), 1],
          threads: 4 * lanes,
          workgroupMemory: workgroupMemory(config),
        },
      ],
      uniforms: { shape: shapeUniform(shape) },
      scratch: {},
    };
  },
};
