/**
 * Rung 6, unrolled: rung 5 with every loop of fixed length written out, and nothing else.
 *
 * The source is generated: the 32 steps of k, the 4×4 cells and the 16 loads of each tile are straight-line code, so no
 * counter is kept, every index is a constant, and the sums are plain variables that certainly live in registers.
 */
import { ceilDiv, reads, uniform, writes } from '../program.ts';
import { unroll } from '../wgsl/unroll.ts';
import { plainF32, type Rung, runsEverywhere, shapeUniform } from './rung.ts';

export const TILE = 32;
export const SIDE = 8;
const BLOCK = TILE / SIDE;
const THREADS = SIDE * SIDE;
const LOADS = (TILE * TILE) / THREADS;

const wgsl = (edges: boolean) => /* wgsl */ `
// True where the shape is not a multiple of the tile: then loads and stores are guarded.
const EDGES = ${edges};

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

var<workgroup> tileA: array<array<f32, ${TILE}>, ${TILE}>;
var<workgroup> tileB: array<array<f32, ${TILE}>, ${TILE}>;

fn loadA(row: u32, k: u32) -> f32 {
  let inside = !EDGES | ((row < shape.m) & (k < shape.k));
  return select(0.0, a[row * shape.k + k], inside);
}

fn loadB(k: u32, col: u32) -> f32 {
  let inside = !EDGES | ((k < shape.k) & (col < shape.n));
  return select(0.0, b[k * shape.n + col], inside);
}

fn storeC(row: u32, col: u32, sum: f32) {
  if (!EDGES || (row < shape.m && col < shape.n)) {
    c[row * shape.n + col] = sum;
  }
}

@compute @workgroup_size(${SIDE}, ${SIDE})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let firstRow = group.y * ${TILE};
  let firstCol = group.x * ${TILE};
  let row = local.y * ${BLOCK};
  let col = local.x * ${BLOCK};
  // The part of each tile that this thread fetches: column x of every second row from y on.
  let y = thread / ${TILE};
  let x = thread % ${TILE};
  ${unroll(BLOCK, 2, i => unroll(BLOCK, 0, j => `var sum${i}${j} = 0.0;`))}

  for (var start = 0u; start < shape.k; start += ${TILE}) {
    ${unroll(
      LOADS,
      4,
      i => `tileA[y + ${(i * THREADS) / TILE}][x] = loadA(firstRow + y + ${(i * THREADS) / TILE}, start + x);
tileB[y + ${(i * THREADS) / TILE}][x] = loadB(start + y + ${(i * THREADS) / TILE}, firstCol + x);`,
    )}
    workgroupBarrier();
    ${unroll(
      TILE,
      4,
      k => `
// k = ${k}
${unroll(BLOCK, 0, i => `let a${k}_${i} = tileA[row + ${i}][${k}];`)}
${unroll(BLOCK, 0, j => `let b${k}_${j} = tileB[${k}][col + ${j}];`)}
${unroll(BLOCK, 0, i => unroll(BLOCK, 0, j => `sum${i}${j} += a${k}_${i} * b${k}_${j};`))}`,
    )}
    workgroupBarrier();
  }

  ${unroll(BLOCK, 2, i =>
    unroll(BLOCK, 0, j => `storeC(firstRow + row + ${i}, firstCol + col + ${j}, sum${i}${j});`),
  )}
}
`;

export const unrolled: Rung = {
  rung: '6',
  id: 'unrolled',
  idea: 'every fixed loop written out',
  m4: 1074.2,
  missing: runsEverywhere,
  build: shape => ({
    ...plainF32,
    passes: [
      {
        label: 'unrolled',
        wgsl: wgsl(shape.m % TILE > 0 || shape.n % TILE > 0 || shape.k % TILE > 0),
        bindings: [uniform('shape'), reads('a'), reads('b'), writes('c')],
        workgroups: [ceilDiv(shape.n, TILE), ceilDiv(shape.m, TILE), 1],
        threads: THREADS,
        workgroupMemory: 2 * TILE * TILE * 4,
      },
    ],
    uniforms: { shape: shapeUniform(shape) },
    scratch: {},
  }),
};
