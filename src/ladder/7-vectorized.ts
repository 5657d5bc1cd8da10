/**
 * Rung 7, vectorized: rung 6 with storage and workgroup arrays of vec4<f32>, four elements to an instruction.
 *
 * B is transposed first (7-transpose.ts; its time is shown beside the rung's), so that both operands are read along K
 * and four products are one `dot(vec4, vec4)`. Mapping as in rungs 5 and 6: a workgroup of 8×8 threads makes a 32×32
 * tile of C, a thread 4×4 cells. The 32×32 tiles of A and Bᵀ are held as 32 rows of 8 vec4.
 */
import { ceilDiv, reads, roundUp, uniform, writes } from '../program.ts';
import { unroll } from '../wgsl/unroll.ts';
import { padA, transposeB } from './7-transpose.ts';
import { plainF32, type Rung, runsEverywhere, shapeUniform } from './rung.ts';

export const TILE = 32;
export const SIDE = 8;
const BLOCK = TILE / SIDE;
const THREADS = SIDE * SIDE;
/** vec4s in a row of a tile. */
const VECTORS = TILE / 4;
const LOADS = (TILE * VECTORS) / THREADS;

const wgsl = (edges: boolean) => /* wgsl */ `
// True where the shape is not a multiple of the tile: then loads and stores are guarded.
const EDGES = ${edges};

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> bt: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

var<workgroup> tileA: array<array<vec4f, ${VECTORS}>, ${TILE}>;
var<workgroup> tileBt: array<array<vec4f, ${VECTORS}>, ${TILE}>;

// Rows of A and of B transposed hold this many vec4s, the last one filled up with zeros.
fn vectors() -> u32 { return (shape.k + 3) / 4; }

fn loadA(row: u32, k4: u32) -> vec4f {
  let inside = !EDGES | ((row < shape.m) & (k4 < vectors()));
  return select(vec4f(), a[row * vectors() + k4], inside);
}

fn loadBt(col: u32, k4: u32) -> vec4f {
  let inside = !EDGES | ((col < shape.n) & (k4 < vectors()));
  return select(vec4f(), bt[col * vectors() + k4], inside);
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
  // The part of each tile that this thread fetches: vec4 x of every eighth row from y on.
  let y = thread / ${VECTORS};
  let x = thread % ${VECTORS};
  ${unroll(BLOCK, 2, i => unroll(BLOCK, 0, j => `var sum${i}${j} = 0.0;`))}

  for (var start = 0u; start < vectors(); start += ${VECTORS}) {
    ${unroll(
      LOADS,
      4,
      i => `tileA[y + ${i * SIDE}][x] = loadA(firstRow + y + ${i * SIDE}, start + x);
tileBt[y + ${i * SIDE}][x] = loadBt(firstCol + y + ${i * SIDE}, start + x);`,
    )}
    workgroupBarrier();
    ${unroll(
      VECTORS,
      4,
      k => `
// k = ${4 * k} to ${4 * k + 3}
${unroll(BLOCK, 0, i => `let a${k}_${i} = tileA[row + ${i}][${k}];`)}
${unroll(BLOCK, 0, j => `let b${k}_${j} = tileBt[col + ${j}][${k}];`)}
${unroll(BLOCK, 0, i => unroll(BLOCK, 0, j => `sum${i}${j} += dot(a${k}_${i}, b${k}_${j});`))}`,
    )}
    workgroupBarrier();
  }

  ${unroll(BLOCK, 2, i =>
    unroll(BLOCK, 0, j => `storeC(firstRow + row + ${i}, firstCol + col + ${j}, sum${i}${j});`),
  )}
}
`;

export const vectorized: Rung = {
  rung: '7',
  id: 'vectorized',
  idea: 'vec4 loads, dot products, B transposed first',
  m4: 1349.4,
  missing: runsEverywhere,
  build: shape => {
    const ragged = shape.k % 4 > 0;
    const rowBytes = roundUp(shape.k, 4) * 4;
    return {
      ...plainF32,
      passes: [
        ...(ragged ? [padA(shape)] : []),
        transposeB(shape),
        {
          label: 'vectorized',
          wgsl: wgsl(shape.m % TILE > 0 || shape.n % TILE > 0 || shape.k % TILE > 0),
          bindings: [uniform('shape'), reads(ragged ? 'ap' : 'a'), reads('bt'), writes('c')],
          workgroups: [ceilDiv(shape.n, TILE), ceilDiv(shape.m, TILE), 1],
          threads: THREADS,
          workgroupMemory: 2 * TILE * TILE * 4,
        },
      ],
      uniforms: { shape: shapeUniform(shape) },
      scratch: { ...(ragged ? { ap: shape.m * rowBytes } : {}), bt: shape.n * rowBytes },
    };
  },
};
