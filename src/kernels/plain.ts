/**
 * Plain: the fallback that runs everywhere and serves everything: any types, layouts and sizes, on the least device
 * that WebGPU allows (16 KiB of workgroup memory, 256 threads, no features). Rung 4 of the ladder in the library's frame.
 *
 * Mapping: a workgroup of 16×16 threads makes a 16×16 tile of C, a thread one cell; K is taken in steps of 16 through
 * workgroup memory.
 */

import { BYTES, operations } from '../problem.ts';
import { ceilDiv, foldGrid, type Program, roundUp } from '../program.ts';
import { frame, tileOf } from '../wgsl/frame.ts';
import { estimateMs } from './cost.ts';
import type { Kernel } from './kernel.ts';
import { needsF16, plainArithmetic } from './needs.ts';

const TILE = 16;

const main = /* wgsl */ `
const TILE = ${TILE}u;

var<workgroup> tileA: array<array<Sum, TILE>, TILE>;
var<workgroup> tileB: array<array<Sum, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let tile = tileOf(group, groups);
  if (!tile.valid) { return; }
  let row = tile.row + local.y;
  let col = tile.col + local.x;
  var sum = Sum();
  for (var start = 0u; start < params.k; start += TILE) {
    tileA[local.y][local.x] = loadA(tile.batch, row, start + local.x);
    tileB[local.y][local.x] = loadB(tile.batch, start + local.y, col);
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      sum += tileA[local.y][k] * tileB[k][local.x];
    }
    workgroupBarrier();
  }
  storeC(tile.batch, row, col, sum);
}
`;

export const plain: Kernel = {
  name: 'plain',
  idea: 'one cell a thread, 16×16 tiles; runs everywhere',
  rejects: needsF16,
  arithmetic: plainArithmetic,
  candidates: () => [{ tile: TILE }],
  // Bound by workgroup memory: two reads for each multiply-add. Every tile fetches 16 rows and 16 columns, and takes as
  // long where it has fewer.
  estimate: problem => {
    const whole = { ...problem, m: roundUp(problem.m, TILE), n: roundUp(problem.n, TILE) };
    return estimateMs({
      operations: operations(whole),
      unit: 'fma',
      efficiency: 0.1,
      bytes: (operations(whole) / TILE) * BYTES[problem.a.type],
      threads: whole.m * whole.n * problem.batch,
      dispatches: 1,
    });
  },
  build(problem): Program {
    const { wgsl, bindings, params } = frame(problem);
    return {
      passes: [
        {
          label: 'plain',
          wgsl: wgsl + tileOf(TILE, TILE) + main,
          bindings,
          workgroups: foldGrid(ceilDiv(problem.m, TILE) * ceilDiv(problem.n, TILE) * problem.batch),
          threads: TILE * TILE,
          workgroupMemory: 2 * TILE * TILE * 4,
        },
      ],
      uniforms: { params },
      scratch: {},
    };
  },
};
