/**
 * Split-K: for few cells and a long K, where tiles alone would leave most of the device idle. K is cut into slices,
 * every slice makes its own partial sums of all of C, and reduce.ts adds them up in a fixed order.
 *
 * Mapping: a workgroup of 16×16 threads makes a 64×64 tile of C over one slice of K, in steps of 16 through panels in
 * workgroup memory (wgsl/panels.ts); a thread makes 4×4 cells.
 */
import { BYTES } from '../problem.ts';
import { foldGrid, type Program } from '../program.ts';
import { frame, tileOf, tilesOf } from '../wgsl/frame.ts';
import { multiplyPanels, panels } from '../wgsl/panels.ts';
import { estimateMs } from './cost.ts';
import type { Kernel } from './kernel.ts';
import { needsF16, plainArithmetic } from './needs.ts';
import { partialBytes, reducePass } from './reduce.ts';
import { sliceBytes } from './slices.ts';

const TILE = 64;
const STEP = 16;
const SIDE = TILE / 4;
const THREADS = SIDE * SIDE;

const main = /* wgsl */ `
@compute @workgroup_size(${SIDE}, ${SIDE})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let place = tileOf(group, groups);
  if (!place.valid) { return; }
  let x = local.x;
  let y = local.y;
  const tile = 0u;
  var sum0 = vec4<Sum>();
  var sum1 = vec4<Sum>();
  var sum2 = vec4<Sum>();
  var sum3 = vec4<Sum>();

  // A slice is whole steps long: only the end of K itself can fall inside of a step, and there the loads give 0.
  let start = place.slice * params.depth;
  let end = min(start + params.depth, params.k);
  for (var base = start; base < end; base += ${STEP}) {
    stageA(tile, place.batch, place.row, base, thread);
    stageB(tile, place.batch, base, place.col, thread);
    workgroupBarrier();
    ${multiplyPanels(STEP, 4)}
    workgroupBarrier();
  }

  var sums = array(sum0, sum1, sum2, sum3);
  for (var i = 0u; i < 4; i++) {
    for (var j = 0u; j < 4; j++) {
      storeC(place.batch, place.row + rowOf(y, i), place.col + colOf(x, j), sums[i][j], place.slice);
    }
  }
}
`;

/** K in whose time a slice of a tile is begun and its sums are stored. */
const START_AND_END = 32;

export const splitK: Kernel = {
  name: 'split-k',
  idea: '64×64 tiles of slices of K, and a second pass that adds them up',
  rejects: needsF16,
  arithmetic: plainArithmetic,
  // Enough workgroups for a large device, and slices of at least 8 steps.
  candidates(problem) {
    const most = Math.max(2, Math.floor(problem.k / (8 * STEP)));
    const slicesFor = (workgroups: number) =>
      Math.min(most, Math.max(2, Math.round(workgroups / tilesOf(problem, TILE, TILE))));
    return [...new Set([512, 1024, 256, 128].map(slicesFor))].map(slices => ({ slices }));
  },
  estimate(problem, _, { slices }) {
    const { k, a, b } = problem;
    // Each tile reads its rows of A and columns of B once.
    const tileBytes = TILE * k * (BYTES[a.type] + BYTES[b.type]);
    return estimateMs({
      operations: 2 * tilesOf(problem, TILE, TILE) * TILE * TILE * (k + START_AND_END * slices),
      unit: 'fma',
      efficiency: 0.45,
      bytes: tilesOf(problem, TILE, TILE) * tileBytes,
      prepared: sliceBytes(problem, slices),
      threads: tilesOf(problem, TILE, TILE) * slices * THREADS,
      dispatches: 2,
    });
  },
  build(problem, _, { slices }): Program {
    const panel = panels(problem, { tile: TILE, step: STEP, tiles: 1 });
    const { wgsl, bindings, params } = frame(problem, {
      ...panel.vectors,
      store: 'partial',
      slices,
      step: STEP,
    });
    return {
      passes: [
        {
          label: 'split-k',
          wgsl: wgsl + tileOf(TILE, TILE) + panel.wgsl + main,
          bindings,
          workgroups: foldGrid(tilesOf(problem, TILE, TILE) * slices),
          threads: THREADS,
          workgroupMemory: panel.bytes,
        },
        reducePass(problem, slices),
      ],
      uniforms: { params },
      scratch: { partial: partialBytes(problem, slices) },
    };
  },
};
