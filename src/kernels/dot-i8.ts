/**
 * 8-bit dot products: four products of i8 or u8 and their sum in one instruction (`dot4I8Packed`, `dot4U8Packed`).
 *
 * Mapping: 16×16 threads make a tile of 64×64 or 128×128 cells, a thread 4×4 or 8×8 of them. K is taken in steps of 64
 * through workgroup memory, where a word holds 4 elements along K of one row of A or one column of B, and a vec4 the words
 * of four neighbouring rows or columns: `tileA[word][row / 4]`. Operands that do not lie along K are turned on the way in,
 * 4×4 bytes at a time.
 */
import { isInteger, operations, type Problem } from '../problem.ts';
import { ceilDiv, foldGrid, type Program } from '../program.ts';
import { frame, tileOf, tilesOf } from '../wgsl/frame.ts';
import { widthC } from '../wgsl/store.ts';
import { unroll } from '../wgsl/unroll.ts';
import type { Width } from '../wgsl/vectors.ts';
import { liesAlongK, widest, words } from '../wgsl/words.ts';
import { estimateMs } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';

const SIDE = 16;
const THREADS = SIDE * SIDE;
/** Words along K in a step. */
const STEP = 16;
const FEATURE = 'packed_4x8_integer_dot_product';

/** WGSL: `blockA(batch, row, k)`: four rows' words of k to k + 3, 0 outside of A; `blockB(batch, k, col)` likewise. */
function block(problem: Problem, name: 'A' | 'B', width: Width): string {
  const isA = name === 'A';
  const alongK = liesAlongK(problem, name);
  const place = isA ? 'batch: u32, row: u32, k: u32' : 'batch: u32, k: u32, col: u32';
  const at = (line: number, k: number) =>
    isA ? `batch, row + ${line}, k + ${k}` : `batch, k + ${k}, col + ${line}`;
  const fn = (body: string) => `fn block${name}(${place}) -> vec4<u32> {\n  ${body}\n}\n`;
  if (width === 1) {
    const word = (line: number) =>
      `pack(vec4(${[0, 1, 2, 3].map(k => `load${name}(${at(line, k)})`).join(', ')}))`;
    return fn(`return vec4(\n    ${[0, 1, 2, 3].map(word).join(',\n    ')},\n  );`);
  }
  const wordAt = (i: number) => `word${name}(${alongK ? at(i, 0) : at(0, i)})`;
  const four = `vec4(\n    ${[0, 1, 2, 3].map(wordAt).join(',\n    ')},\n  )`;
  return words(problem, name, width).wgsl + fn(`return ${alongK ? four : `turn(${four})`};`);
}

const pieces = /* wgsl */ `
fn pack(bytes: vec4<i32>) -> u32 {
  let low = (vec4<u32>(bytes) & vec4(255u)) << vec4(0, 8, 16, 24);
  return low.x | low.y | low.z | low.w;
}

// Turns 4×4 bytes: word i of the result holds byte i of every word.
fn turn(words: vec4<u32>) -> vec4<u32> {
  const shifts = vec4<u32>(0, 8, 16, 24);
  let x = (vec4(words.x) >> shifts) & vec4(255u);
  let y = (vec4(words.y) >> shifts) & vec4(255u);
  let z = (vec4(words.z) >> shifts) & vec4(255u);
  let w = vec4(words.w) >> shifts;
  return x | (y << vec4(8u)) | (z << vec4(16u)) | (w << vec4(24u));
}
`;

/** @param groups blocks of 4 rows and of 4 columns that a thread makes */
const main = (problem: Problem, groups: number) => {
  const tile = SIDE * 4 * groups;
  const dot = problem.a.type === 'i8' ? 'dot4I8Packed' : 'dot4U8Packed';
  const rows = 4 * groups;
  const across = (name: 'A' | 'B') => (liesAlongK(problem, name) ? STEP : tile / 4);
  const split = (name: 'A' | 'B') =>
    liesAlongK(problem, name) ? ['at % STEP', 'at / STEP'] : [`at / ${across(name)}`, `at % ${across(name)}`];
  return /* wgsl */ `
const STEP = ${STEP}u;         // words along K
const LINES = ${tile / 4}u;        // vec4s of words across: the tile's rows or columns in fours
const LOADS = ${(tile / 4) * STEP} / ${THREADS};

// One vec4 more than is used, so that threads that write along K reach different banks.
var<workgroup> tileA: array<array<vec4<u32>, LINES + 1>, STEP>;
var<workgroup> tileB: array<array<vec4<u32>, LINES + 1>, STEP>;

fn dots(a: u32, b: vec4<u32>) -> vec4<i32> {
  return vec4<i32>(vec4(${['x', 'y', 'z', 'w'].map(c => `${dot}(a, b.${c})`).join(', ')}));
}

@compute @workgroup_size(${SIDE}, ${SIDE})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let place = tileOf(group, groups);
  if (!place.valid) { return; }
  ${unroll(rows, 2, i => unroll(groups, 0, g => `var sum${i}_${g} = vec4<i32>();`))}

  for (var base = 0u; base < params.k; base += 4 * STEP) {
    for (var i = 0u; i < LOADS; i++) {
      let at = thread + i * ${THREADS};
      let wordA = ${split('A')[0]};
      let lineA = ${split('A')[1]};
      tileA[wordA][lineA] = blockA(place.batch, place.row + 4 * lineA, base + 4 * wordA);
      let wordB = ${split('B')[0]};
      let lineB = ${split('B')[1]};
      tileB[wordB][lineB] = blockB(place.batch, base + 4 * wordB, place.col + 4 * lineB);
    }
    workgroupBarrier();
    for (var word = 0u; word < STEP; word++) {
      ${unroll(groups, 6, g => `let a${g} = tileA[word][local.y + ${g * SIDE}];\nlet b${g} = tileB[word][local.x + ${g * SIDE}];`)}
      ${unroll(rows, 6, i => unroll(groups, 0, g => `sum${i}_${g} += dots(a${Math.floor(i / 4)}[${i % 4}], b${g});`))}
    }
    workgroupBarrier();
  }

  var sums = array(${Array.from({ length: rows * groups }, (_, i) => `sum${Math.floor(i / groups)}_${i % groups}`).join(', ')});
  for (var i = 0u; i < ${rows * groups}; i++) {
    let row = place.row + 4 * local.y + i / ${4 * groups} * ${4 * SIDE} + i / ${groups} % 4;
    let col = place.col + 4 * local.x + i % ${groups} * ${4 * SIDE};
    ${
      widthC(problem) === 4
        ? 'storeC(place.batch, row, col, sums[i]);'
        : 'for (var j = 0u; j < 4; j++) { storeC(place.batch, row, col + j, sums[i][j]); }'
    }
  }
}
`;
};

const tileSize = ({ groups }: Params) => SIDE * 4 * groups;

export const dotI8: Kernel = {
  name: 'dot-i8',
  idea: 'four 8-bit products and their sum in one instruction',
  rejects({ a, b }, { wgslFeatures }) {
    if (!isInteger(a.type)) return `${a.type} matrices, and it multiplies i8 and u8 only`;
    if (a.type !== b.type) return `${a.type} times ${b.type}, and the dot product takes two of a kind`;
    return wgslFeatures.includes(FEATURE) ? null : `the device's WGSL has no \`${FEATURE}\``;
  },
  arithmetic: () => 'exact',
  // Large tiles where there are enough of them to fill a large device.
  candidates: problem => (tilesOf(problem, 128, 128) >= 128 ? [2, 1] : [1, 2]).map(groups => ({ groups })),
  estimate(problem, _, params) {
    const { m, n, k } = problem;
    const tile = tileSize(params);
    const tiles = tilesOf(problem, tile, tile);
    return estimateMs({
      operations: operations({ ...problem, m: ceilDiv(m, tile) * tile, n: ceilDiv(n, tile) * tile }),
      unit: 'dot',
      efficiency: 0.2 * params.groups,
      bytes: tiles * 2 * tile * k,
      threads: tiles * THREADS,
      dispatches: 1,
    });
  },
  build(problem, _, { groups }): Program {
    const tile = tileSize({ groups });
    const vectors = { vectorA: widest(problem, 'A', 4), vectorB: widest(problem, 'B', 4) };
    const { wgsl, bindings, params } = frame(problem, {
      ...vectors,
      vectorC: widthC(problem),
      enable: [`requires ${FEATURE};`],
    });
    const blocks = block(problem, 'A', vectors.vectorA) + block(problem, 'B', vectors.vectorB);
    return {
      passes: [
        {
          label: 'dot-i8',
          wgsl: wgsl + tileOf(tile, tile) + pieces + blocks + main(problem, groups),
          bindings,
          workgroups: foldGrid(tilesOf(problem, tile, tile)),
          threads: THREADS,
          workgroupMemory: 2 * STEP * (tile / 4 + 1) * 16,
        },
      ],
      uniforms: { params },
      scratch: {},
    };
  },
};
