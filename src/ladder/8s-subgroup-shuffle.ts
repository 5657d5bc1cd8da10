/**
 * Rung 8s, subgroup shuffle: what rung 8 does, on every device with plain `subgroups`, in f32: the operands are held in
 * the lanes' registers and passed between lanes, with no workgroup memory and no barrier.
 *
 * Mapping: a subgroup of L lanes makes 8 rows × 4L columns of C; each lane owns every L-th column, four of them. K is
 * taken in steps of L: lane l holds column l of A's 8×L piece, one element a row, fetched by neighbours from neighbouring
 * addresses. Then, for each k of the step, the lanes fetch row k of B side by side, the lane that holds A's column
 * k hands its eight elements to all the others, and each lane adds 32 products. Four subgroups stand below each other
 * in a workgroup, so that the rows of B that one fetches are in the cache for the other three.
 */
import { type Profile, subgroupSizeFor } from '../profile.ts';
import { ceilDiv, reads, uniform, writes } from '../program.ts';
import { SUBGROUP_SIZE_ENABLE } from '../wgsl/experimental.ts';
import { unroll } from '../wgsl/unroll.ts';
import { plainF32, type Rung, shapeUniform } from './rung.ts';

export const ROWS = 8;
export const COLS = 4;
export const SUBGROUPS = 4;

const wgsl = (lanes: number, pinned: boolean, edges: boolean) => /* wgsl */ `
enable subgroups;${pinned ? `\n${SUBGROUP_SIZE_ENABLE}` : ''}

const LANES = ${lanes}u;
const ROWS = ${ROWS}u;                // rows of C that a lane makes
const COLS = ${COLS}u;                // columns of C that a lane makes, LANES apart
// True where the shape is not a multiple of the tile: then loads and stores are guarded.
const EDGES = ${edges};

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

fn loadA(row: u32, k: u32) -> f32 {
  let inside = !EDGES | ((row < shape.m) & (k < shape.k));
  return select(0.0, a[row * shape.k + k], inside);
}

fn loadB(k: u32, col: u32) -> f32 {
  let inside = !EDGES | ((k < shape.k) & (col < shape.n));
  return select(0.0, b[k * shape.n + col], inside);
}

@compute @workgroup_size(${SUBGROUPS} * LANES)${pinned ? ` @subgroup_size(${lanes})` : ''}
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let row = (group.y * ${SUBGROUPS} + subgroup) * ROWS;
  let col = group.x * COLS * LANES + lane;
  ${unroll(ROWS, 2, i => `var sum${i} = vec4f();`)}

  for (var start = 0u; start < shape.k; start += LANES) {
    // Column start + lane of A's piece, in this lane's registers.
    ${unroll(ROWS, 4, i => `let a${i} = loadA(row + ${i}, start + lane);`)}
    for (var k = 0u; k < LANES; k++) {
      let right = vec4f(
        loadB(start + k, col),
        loadB(start + k, col + LANES),
        loadB(start + k, col + 2 * LANES),
        loadB(start + k, col + 3 * LANES),
      );
      ${unroll(ROWS, 6, i => `sum${i} += subgroupShuffle(a${i}, k) * right;`)}
    }
  }

  ${unroll(ROWS, 2, i => `storeC(row + ${i}, col, sum${i});`)}
}

fn storeC(row: u32, firstCol: u32, sums: vec4f) {
  for (var j = 0u; j < COLS; j++) {
    let col = firstCol + j * LANES;
    if (!EDGES || (row < shape.m && col < shape.n)) {
      c[row * shape.n + col] = sums[j];
    }
  }
}
`;

function missing(profile: Profile): string | null {
  const subgroup = subgroupSizeFor(profile);
  return 'missing' in subgroup ? subgroup.missing : null;
}

export const subgroupShuffle: Rung = {
  rung: '8s',
  id: 'subgroup-shuffle',
  idea: 'A in registers, passed between lanes',
  m4: null,
  missing,
  build: (shape, profile) => {
    const subgroup = subgroupSizeFor(profile);
    if ('missing' in subgroup) throw new RangeError(subgroup.missing);
    const { size: lanes, pinned } = subgroup;
    const [rows, cols] = [SUBGROUPS * ROWS, COLS * lanes];
    const edges = shape.m % rows > 0 || shape.n % cols > 0 || shape.k % lanes > 0;
    return {
      ...plainF32,
      detail: `${lanes} lanes`,
      passes: [
        {
          label: 'subgroup-shuffle',
          wgsl: wgsl(lanes, pinned, edges),
          bindings: [uniform('shape'), reads('a'), reads('b'), writes('c')],
          workgroups: [ceilDiv(shape.n, cols), ceilDiv(shape.m, rows), 1],
          threads: SUBGROUPS * lanes,
          workgroupMemory: 0,
        },
      ],
      uniforms: { shape: shapeUniform(shape) },
      scratch: {},
    };
  },
};
