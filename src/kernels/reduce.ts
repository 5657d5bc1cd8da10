/**
 * Reduce: the second pass of every kernel that cuts K into slices. It adds the slices' partial sums and finishes them
 * (alpha, beta, bias, activation and the rest).
 *
 * Mapping: a workgroup of 256 threads takes 256/LANES units of one or four neighbouring cells; LANES threads share a
 * unit, each adds every LANES-th slice, and their sums meet in workgroup memory. Everything is added in an order that
 * depends on the problem alone: the same input gives the same bits.
 */
import type { Problem } from '../problem.ts';
import { type Binding, ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { declareParams } from '../wgsl/frame.ts';
import {
  cells,
  declareEpilogue,
  epilogueOperands,
  storeFinished,
  type WidthC,
  widthC,
  widthPartial,
} from '../wgsl/store.ts';
import { unroll } from '../wgsl/unroll.ts';

const THREADS = 256;
/** Slices that a thread reads before it adds them: loads under way at once. */
const LOADS = 4;

/** Bytes of the scratch buffer `partial`: m×n sums for each product and each slice. */
export const partialBytes = ({ m, n, batch }: Problem, slices: number): number => slices * batch * m * n * 4;

/** What a kernel does to a total before it calls `storeC`. */
export interface Finish {
  /** The function that takes a total, as `storeC` does. */
  readonly name: string;
  /** WGSL: the function, and what it reads, from `binding` on. */
  readonly wgsl: (binding: number, width: WidthC) => string;
  readonly bindings: readonly Binding[];
}

/** Adds up the buffer `partial` of frame()'s partial store; the pass before it provides the uniform `params`. */
export function reducePass(problem: Problem, slices: number, finish?: Finish): Pass {
  const { m, n, batch, c } = problem;
  const vector = widthPartial(problem);
  const width = widthC(problem);
  const lanes = [16, 8, 4, 2].find(count => 2 * count <= slices) ?? 1;
  const units = THREADS / lanes;
  const extra = epilogueOperands(problem);
  const bindings: Binding[] = [uniform('params'), reads('partial'), writes('c'), ...extra.map(reads)];
  return {
    label: 'reduce',
    wgsl: `${c.type === 'f16' ? 'enable f16;\n\n' : ''}${declareParams(problem)}
@group(0) @binding(1) var<storage, read> partial: array<Unit>;
@group(0) @binding(2) var<storage, read_write> c: array<${cells(c.type, width)}>;
${declareEpilogue(problem, 3, width)}
${storeFinished(problem, width)}
${finish?.wgsl(bindings.length, width) ?? ''}${main(vector, width, lanes, units, finish?.name ?? 'storeC')}`,
    bindings: [...bindings, ...(finish?.bindings ?? [])],
    workgroups: foldGrid(ceilDiv(batch * m * n, units * vector)),
    threads: THREADS,
    workgroupMemory: THREADS * vector * 4,
  };
}

const main = (vector: WidthC, width: WidthC, lanes: number, units: number, store: string) => /* wgsl */ `
alias Unit = ${cells('Sum', vector)};

const LANES = ${lanes}u;
const UNITS = ${units}u;
const STORES = ${(units * vector) / width}u;          // of ${width === 1 ? 'a cell' : 'four cells'} each

var<workgroup> sums: array<array<Unit, UNITS>, LANES>;

@compute @workgroup_size(${THREADS})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let first = group.y * groups.x + group.x;
  let cells = params.batch * params.m * params.n;
  let units = cells / ${vector};
  let lane = thread / UNITS;
  let unit = min(first * UNITS + thread % UNITS, units - 1);

  var sum = Unit();
  for (var slice = lane; slice < params.slices; slice += ${LOADS} * LANES) {
    ${unroll(LOADS, 4, i => `let part${i} = select(Unit(), partial[(slice + ${i} * LANES) * units + unit], slice + ${i} * LANES < params.slices);`)}
    ${unroll(LOADS, 4, i => `sum += part${i};`)}
  }
  sums[lane][thread % UNITS] = sum;
  workgroupBarrier();

  for (var i = thread; i < STORES; i += ${THREADS}) {
    let cell = ${width === 4 ? '4 * (first * STORES + i)' : 'first * STORES + i'};
    var total = ${cells('Sum', width)}();
    for (var other = 0u; other < LANES; other++) { total += sums[other][${vector === width ? 'i' : 'i / 4][i % 4'}]; }
    if (cell < cells) {
      ${store}(cell / (params.m * params.n), cell / params.n % params.m, cell % params.n, total);
    }
  }
}
`;
