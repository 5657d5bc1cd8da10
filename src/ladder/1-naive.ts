/**
 * Rung 1, naive: a thread for each cell of C, alone in its workgroup.
 *
 * Mapping: x picks the row, y the column. The thread walks along a row of A and down a column of B. A GPU starts a
 * whole subgroup for each workgroup, so with workgroups of one thread all other lanes idle: this is the slowest
 * way that still looks like a GPU kernel.
 */
import { reads, uniform, writes } from '../program.ts';
import { plainF32, type Rung, runsEverywhere, shapeUniform } from './rung.ts';

const wgsl = (k: number) => /* wgsl */ `
// The end of the loop is a constant, so that the compiler knows that it ends, and may unroll it.
const K = ${k}u;

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  let col = id.y;
  var sum = 0.0;
  for (var k = 0u; k < K; k++) {
    sum += a[row * K + k] * b[k * shape.n + col];
  }
  c[row * shape.n + col] = sum;
}
`;

export const naive: Rung = {
  rung: '1',
  id: 'naive',
  idea: 'a thread for each cell of C',
  m4: 86.9,
  missing: runsEverywhere,
  build: shape => ({
    ...plainF32,
    passes: [
      {
        label: 'naive',
        wgsl: wgsl(shape.k),
        bindings: [uniform('shape'), reads('a'), reads('b'), writes('c')],
        workgroups: [shape.m, shape.n, 1],
        threads: 1,
        workgroupMemory: 0,
      },
    ],
    uniforms: { shape: shapeUniform(shape) },
    scratch: {},
  }),
};
