/**
 * Rung 2, workgroups: fewer, larger workgroups of 16×16 threads, so that launch cost is shared and all lanes work.
 *
 * Mapping: still x picks the row and y the column. Neighbours in a subgroup (x runs fastest) stand in neighbouring
 * rows: they read addresses of A that are a whole row apart, and write C a whole row apart.
 */
import { ceilDiv, reads, uniform, writes } from '../program.ts';
import { plainF32, type Rung, runsEverywhere, shapeUniform } from './rung.ts';

export const SIDE = 16;

const wgsl = (k: number) => /* wgsl */ `
// The end of the loop is a constant, so that the compiler knows that it ends, and may unroll it.
const K = ${k}u;

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(${SIDE}, ${SIDE})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  let col = id.y;
  // The grid is a whole number of workgroups: at the edges some threads have no cell.
  if (row >= shape.m || col >= shape.n) { return; }
  var sum = 0.0;
  for (var k = 0u; k < K; k++) {
    sum += a[row * K + k] * b[k * shape.n + col];
  }
  c[row * shape.n + col] = sum;
}
`;

export const workgroups: Rung = {
  rung: '2',
  id: 'workgroups',
  idea: 'workgroups of 16×16 threads',
  m4: 240.1,
  missing: runsEverywhere,
  build: shape => ({
    ...plainF32,
    passes: [
      {
        label: 'workgroups',
        wgsl: wgsl(shape.k),
        bindings: [uniform('shape'), reads('a'), reads('b'), writes('c')],
        workgroups: [ceilDiv(shape.m, SIDE), ceilDiv(shape.n, SIDE), 1],
        threads: SIDE * SIDE,
        workgroupMemory: 0,
      },
    ],
    uniforms: { shape: shapeUniform(shape) },
    scratch: {},
  }),
};
