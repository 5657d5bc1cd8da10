/**
 * Small batched: many small products. Every C fits into one tile, so that each operand is read once, and a workgroup
 * makes one C of up to 64×64 or several tiny ones side by side.
 *
 * Mapping: (tile/4)² threads make one C, each 4×4 cells of it; `products` such groups of threads make up a workgroup.
 * K is taken in steps through panels in workgroup memory (wgsl/panels.ts), in one step where the operands fit.
 */
import { BYTES, operations, type Problem } from '../problem.ts';
import { ceilDiv, foldGrid, type Program } from '../program.ts';
import { frame } from '../wgsl/frame.ts';
import { multiplyPanels, panels } from '../wgsl/panels.ts';
import { estimateMs } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { needsF16, plainArithmetic } from './needs.ts';

const LARGEST = 64;
const THREADS = 256;

const main = ({ tile, step, products }: Params) => /* wgsl */ `
const TEAM = ${(tile / 4) ** 2}u;        // threads that make a product
const SIDE = ${tile / 4}u;
const PRODUCTS = ${products}u;     // that the workgroup makes

@compute @workgroup_size(TEAM * PRODUCTS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) index: u32,
) {
  let tile = index / TEAM;
  let thread = index % TEAM;
  let x = thread % SIDE;
  let y = thread / SIDE;
  let product = (group.y * groups.x + group.x) * PRODUCTS + tile;
  // Past the end of the batch, threads help with its last product: all of them have to reach the barriers.
  let batch = min(product, params.batch - 1);
  var sum0 = vec4<Sum>();
  var sum1 = vec4<Sum>();
  var sum2 = vec4<Sum>();
  var sum3 = vec4<Sum>();

  for (var base = 0u; base < params.k; base += ${step}) {
    stageA(tile, batch, 0, base, thread);
    stageB(tile, batch, base, 0, thread);
    workgroupBarrier();
    ${multiplyPanels(step, 4)}
    workgroupBarrier();
  }

  var sums = array(sum0, sum1, sum2, sum3);
  // storeC leaves cells outside of C alone: that is where the threads without a product of their own store.
  let outside = select(params.m, 0, product < params.batch);
  for (var i = 0u; i < 4; i++) {
    for (var j = 0u; j < 4; j++) {
      storeC(batch, outside + rowOf(y, i), colOf(x, j), sums[i][j]);
    }
  }
}
`;

/** The smallest tile that holds C. */
const tileFor = ({ m, n }: Problem) => [8, 16, 32].find(tile => Math.max(m, n) <= tile) ?? LARGEST;

export const smallBatched: Kernel = {
  name: 'small-batched',
  idea: 'one workgroup makes a whole small C, or several tiny ones',
  rejects(problem, profile) {
    const { m, n } = problem;
    if (Math.max(m, n) > LARGEST)
      return `C is ${m}×${n}, and it makes products of up to ${LARGEST}×${LARGEST}`;
    return needsF16(problem, profile);
  },
  arithmetic: plainArithmetic,
  // The longest step that K fills, with as many products as fill the workgroup; fewer of both for small devices.
  candidates(problem) {
    const tile = tileFor(problem);
    const full = THREADS / (tile / 4) ** 2;
    const steps = [tile, tile / 2, tile / 4].filter(step => step >= 4 && (step <= 4 || step < 2 * problem.k));
    const counts = [...new Set([full, Math.max(1, full / 4)])];
    return (steps.length > 0 ? steps : [Math.max(4, tile / 4)]).flatMap(step =>
      counts.map(products => ({ tile, step, products })),
    );
  },
  estimate(problem) {
    const { m, n, k, batch, a, b, c } = problem;
    const tile = tileFor(problem);
    return estimateMs({
      operations: operations({ ...problem, m: tile, n: tile }),
      unit: 'fma',
      efficiency: 0.4,
      bytes: batch * (m * k * BYTES[a.type] + k * n * BYTES[b.type] + m * n * BYTES[c.type]),
      threads: batch * (tile / 4) ** 2,
      dispatches: 1,
    });
  },
  build(problem, _, params): Program {
    const { tile, step, products } = params;
    const panel = panels(problem, { tile, step, tiles: products });
    const { wgsl, bindings, params: numbers } = frame(problem, panel.vectors);
    return {
      passes: [
        {
          label: 'small-batched',
          wgsl: wgsl + panel.wgsl + main(params),
          bindings,
          workgroups: foldGrid(ceilDiv(problem.batch, products)),
          threads: products * (tile / 4) ** 2,
          workgroupMemory: panel.bytes,
        },
      ],
      uniforms: { params: numbers },
      scratch: {},
    };
  },
};
