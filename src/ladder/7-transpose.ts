/**
 * Prepares operands for rung 7, which reads both along K, four elements at a time.
 *
 * `transposeB` turns B (k×n) into Bᵀ (n rows of `padded` elements). A 16×16 tile goes through workgroup memory, so that
 * both the reads and the writes are of neighbours; its rows are 17 long, so that a column lies in 16 different banks.
 * `padA` copies A into rows of `padded` elements; it is needed only where k is not a multiple of 4. Both fill up with
 * zeros, which add nothing to any sum.
 */
import { ceilDiv, type Pass, reads, uniform, writes } from '../program.ts';
import type { Shape } from './rung.ts';

const TILE = 16;

const transposeWgsl = /* wgsl */ `
const TILE = ${TILE}u;

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> bt: array<f32>;

var<workgroup> tile: array<array<f32, TILE + 1>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let padded = (shape.k + 3) / 4 * 4;
  let firstK = group.x * TILE;
  let firstCol = group.y * TILE;
  let inside = firstK + local.y < shape.k && firstCol + local.x < shape.n;
  tile[local.y][local.x] = 0.0;
  if (inside) {
    tile[local.y][local.x] = b[(firstK + local.y) * shape.n + firstCol + local.x];
  }
  workgroupBarrier();
  let k = firstK + local.x;
  let col = firstCol + local.y;
  if (k < padded && col < shape.n) {
    bt[col * padded + k] = tile[local.x][local.y];
  }
}
`;

const padWgsl = /* wgsl */ `
const TILE = ${TILE}u;

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> ap: array<f32>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let padded = (shape.k + 3) / 4 * 4;
  let row = id.y;
  let k = id.x;
  if (row >= shape.m || k >= padded) { return; }
  var value = 0.0;
  if (k < shape.k) { value = a[row * shape.k + k]; }
  ap[row * padded + k] = value;
}
`;

export function transposeB(shape: Shape): Pass {
  return {
    label: 'transpose B',
    wgsl: transposeWgsl,
    bindings: [uniform('shape'), reads('b'), writes('bt')],
    workgroups: [ceilDiv(shape.k, TILE), ceilDiv(shape.n, TILE), 1],
    threads: TILE * TILE,
    workgroupMemory: TILE * (TILE + 1) * 4,
  };
}

export function padA(shape: Shape): Pass {
  return {
    label: 'pad A',
    wgsl: padWgsl,
    bindings: [uniform('shape'), reads('a'), writes('ap')],
    workgroups: [ceilDiv(shape.k, TILE), ceilDiv(shape.m, TILE), 1],
    threads: TILE * TILE,
    workgroupMemory: 0,
  };
}
