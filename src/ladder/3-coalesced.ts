/**
 * Rung 3, coalesced: the roles of x and y are swapped, and nothing else.
 *
 * Mapping: x picks the column, y the row. Neighbours in a subgroup now stand in neighbouring columns of one row: in
 * each step they read neighbouring addresses of B, which the hardware fetches together, and all the same address
 * of A, which it fetches once.
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
  let row = id.y;
  let col = id.x;
  if (row >= shape.m || col >= shape.n) { return; }
  var sum = 0.0;
  for (var k = 0u; k < K; k++) {
    sum += a[row * K + k] * b[k * shape.n + col];
  }
  c[row * shape.n + col] = sum;
}
`;

export const coalesced: Rung = {
  rung: '3',
  id: 'coalesced',
  idea: 'x picks the column: neighbours read neighbours',
  m4: 410.9,
  missing: runsEverywhere,
  build: shape => ({
    ...plainF32,
    passes: [
      {
        label: 'coalesced',
        wgsl: wgsl(shape.k),
        bindings: [uniform('shape'), reads('a'), reads('b'), writes('c')],
        workgroups: [ceilDiv(shape.n, SIDE), ceilDiv(shape.m, SIDE), 1],
        threads: SIDE * SIDE,
        workgroupMemory: 0,
      },
    ],
    uniforms: { shape: shapeUniform(shape) },
    scratch: {},
  }),
};
