/** What the matrix kernels have in common on the way from parameters to a tile. */
import { BYTES, type InputType, type Problem } from '../problem.ts';
import { type Profile, subgroupSizeFor } from '../profile.ts';
import {
  fewLines,
  type Lines,
  type MatrixTile,
  type Rows,
  staggerOf,
  storeWidth,
} from '../wgsl/matrix-layout.ts';
import { vectorizes } from '../wgsl/vectors.ts';
import type { Params } from './kernel.ts';

/** What a kernel decides of its tile; all else follows from problem, device and parameters. */
type Own = Pick<
  MatrixTile,
  'config' | 'parts' | 'apart' | 'a' | 'b' | 'together' | 'steps' | 'flush' | 'scaled'
>;

export const stagesOf = ({ stages }: Params): 1 | 2 => (stages === 2 ? 2 : 1);

/** @throws RangeError on a device without a subgroup size to rely on: kernels reject problems there */
export function makeTile(
  problem: Problem,
  profile: Profile,
  params: Params,
  { config, parts, apart, a, b, together, steps, flush, scaled }: Own,
): MatrixTile {
  const subgroup = subgroupSizeFor(profile);
  if ('missing' in subgroup) throw new RangeError('rejected problems are not built');
  const { m, n, k } = problem;
  const { bm, bn, bk, sm, sn, prefetch, slices, ways = 1 } = params;
  const stages = stagesOf(params);
  const lanes = subgroup.size;
  const bytes = (m + n) * k * parts * BYTES[config.componentType as InputType];
  // A literal, as is what callers give: this is done for every candidate, and objects spread into others are slow to make.
  return {
    config,
    lanes,
    pinned: subgroup.pinned,
    bm,
    bn,
    bk,
    sm,
    sn,
    parts,
    apart,
    flush,
    stages,
    prefetch,
    together,
    stagger: staggerOf({ stages, steps }, bytes, params.stagger),
    a,
    b,
    scaled,
    width: storeWidth(problem, { config, sn, lanes, slices }),
    steps,
    fixedSteps: !profile.software,
    ways,
    slices,
    few: fewLines(problem, { config, lanes, bm, bn, bk, sm, sn, stages, a, b }),
  };
}

/**
 * An operand as it lies, in words of so many elements; null where its lines along K, or its rows across it, are not made of whole
 * pieces of so many.
 */
export function asItLies(
  name: 'a' | 'b',
  { m, n, k, a, b }: Problem,
  { piece, word, cells, guardK }: { piece: number; word: number; cells: number; guardK: boolean },
): Lines | Rows | null {
  const [operand, size] = name === 'a' ? [a, m] : [b, n];
  const alongK = operand.trans === (name === 'b');
  if (!vectorizes(operand, alongK ? k : size, piece)) return null;
  return { kind: alongK ? 'lines' : 'rows', ld: operand.ld / word, ragged: size % cells > 0, guardK };
}
