/**
 * Rung 4, shared memory: tiles of A and B are fetched once for a workgroup and read from workgroup memory.
 *
 * Mapping: a workgroup of 16×16 threads makes a 16×16 tile of C. K is taken in steps of 16: each thread fetches one
 * element of A's tile and one of B's, waits for the others (first barrier), adds 16 products to its cell, and waits
 * again (second barrier) before the tiles are overwritten. Every element of A and B is fetched 16 times less often.
 */
import { ceilDiv, reads, uniform, writes } from '../program.ts';
import { plainF32, type Rung, runsEverywhere, shapeUniform } from './rung.ts';

export const TILE = 16;

const wgsl = (edges: boolean) => /* wgsl */ `
const TILE = ${TILE}u;
// True where the shape is not a multiple of the tile: then loads and the store are guarded.
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

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.y * TILE + local.y;
  let col = group.x * TILE + local.x;
  var sum = 0.0;
  for (var start = 0u; start < shape.k; start += TILE) {
    tileA[local.y][local.x] = loadA(row, start + local.x);
    tileB[local.y][local.x] = loadB(start + local.y, col);
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      sum += tileA[local.y][k] * tileB[k][local.x];
    }
    workgroupBarrier();
  }
  if (EDGES && (row >= shape.m || col >= shape.n)) { return; }
  c[row * shape.n + col] = sum;
}
`;

export const sharedMemory: Rung = {
  rung: '4',
  id: 'shared-memory',
  idea: '16×16 tiles staged in workgroup memory',
  m4: 483.9,
  missing: runsEverywhere,
  build: shape => ({
    ...plainF32,
    passes: [
      {
        label: 'shared-memory',
        wgsl: wgsl(shape.m % TILE > 0 || shape.n % TILE > 0 || shape.k % TILE > 0),
        bindings: [uniform('shape'), reads('a'), reads('b'), writes('c')],
        workgroups: [ceilDiv(shape.n, TILE), ceilDiv(shape.m, TILE), 1],
        threads: TILE * TILE,
        workgroupMemory: 2 * TILE * TILE * 4,
      },
    ],
    uniforms: { shape: shapeUniform(shape) },
    scratch: {},
  }),
};
