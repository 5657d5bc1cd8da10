/**
 * Rung 5, thread tiling: each thread makes a 4×4 block of C, so that what it reads from workgroup memory is used four
 * times from registers.
 *
 * Mapping: a workgroup of 8×8 threads makes a 32×32 tile of C from 32×32 tiles of A and B. Thread (x, y) owns rows
 * 4y to 4y+3 and columns 4x to 4x+3 of the tile. In each step of k it reads four elements of A and four of B and adds
 * sixteen products. The tiles are fetched row by row, neighbours fetching neighbours.
 */
import { ceilDiv, reads, uniform, writes } from '../program.ts';
import { plainF32, type Rung, runsEverywhere, shapeUniform } from './rung.ts';

export const TILE = 32;
export const SIDE = 8;

const wgsl = (edges: boolean) => /* wgsl */ `
const TILE = ${TILE}u;              // rows and columns of C that a workgroup makes, and its step along K
const SIDE = ${SIDE}u;               // threads along each side of the workgroup
const BLOCK = TILE / SIDE;     // rows and columns of C that a thread makes
const LOADS = TILE * TILE / (SIDE * SIDE);
// True where the shape is not a multiple of the tile: then loads and stores are guarded.
const EDGES = ${edges};

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

var<workgroup> tileA: array<array<f32, TILE>, TILE>;
var<workgroup> tileB: array<array<f32, TILE>, TILE>;

fn loadA(row: u32, k: u32) -> f32 {
  let inside = !EDGES | ((row < shape.m) & (k < shape.k));
  return select(0.0, a[row * shape.k + k], inside);
}

fn loadB(k: u32, col: u32) -> f32 {
  let inside = !EDGES | ((k < shape.k) & (col < shape.n));
  return select(0.0, b[k * shape.n + col], inside);
}

@compute @workgroup_size(SIDE, SIDE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let firstRow = group.y * TILE;
  let firstCol = group.x * TILE;
  var sums: array<array<f32, BLOCK>, BLOCK>;

  for (var start = 0u; start < shape.k; start += TILE) {
    for (var i = 0u; i < LOADS; i++) {
      let y = (thread + i * SIDE * SIDE) / TILE;
      let x = (thread + i * SIDE * SIDE) % TILE;
      tileA[y][x] = loadA(firstRow + y, start + x);
      tileB[y][x] = loadB(start + y, firstCol + x);
    }
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      for (var i = 0u; i < BLOCK; i++) {
        for (var j = 0u; j < BLOCK; j++) {
          sums[i][j] += tileA[local.y * BLOCK + i][k] * tileB[k][local.x * BLOCK + j];
        }
      }
    }
    workgroupBarrier();
  }

  for (var i = 0u; i < BLOCK; i++) {
    for (var j = 0u; j < BLOCK; j++) {
      let row = firstRow + local.y * BLOCK + i;
      let col = firstCol + local.x * BLOCK + j;
      if (!EDGES || (row < shape.m && col < shape.n)) {
        c[row * shape.n + col] = sums[i][j];
      }
    }
  }
}
`;

export const threadTiling: Rung = {
  rung: '5',
  id: 'thread-tiling',
  idea: 'each thread makes 4×4 cells',
  m4: 951.3,
  missing: runsEverywhere,
  build: shape => ({
    ...plainF32,
    passes: [
      {
        label: 'thread-tiling',
        wgsl: wgsl(shape.m % TILE > 0 || shape.n % TILE > 0 || shape.k % TILE > 0),
        bindings: [uniform('shape'), reads('a'), reads('b'), writes('c')],
        workgroups: [ceilDiv(shape.n, TILE), ceilDiv(shape.m, TILE), 1],
        threads: SIDE * SIDE,
        workgroupMemory: 2 * TILE * TILE * 4,
      },
    ],
    uniforms: { shape: shapeUniform(shape) },
    scratch: {},
  }),
};
