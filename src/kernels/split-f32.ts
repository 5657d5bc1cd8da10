/**
 * Split f32: a product of float32 accuracy on matrix units that take f16. Rung 11 of the ladder.
 *
 * Every element is scaled by a power of two of its row of A or column of B and split into a high part of 11 bits and a low part;
 * then C = high·high + high·low + low·high, three products in f16 with f32 sums, after Ootomo and Yokota, "Recovering single
 * precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance", 2022. Matrix units truncate
 * while they add, so the sums are flushed into f32 registers every few steps, often enough for the error to stay below that of a
 * plain f32 sum of the same length.
 *
 * Operands are scaled and split before the product (split.ts); or of B, only scales are looked for, and each workgroup splits it as
 * it fetches what it multiplies. Cells of rows and columns with NaN or infinity are computed anew, as a plain f32 kernel does
 * (scaled-store.ts).
 */
import { GemmError } from '../errors.ts';
import { BYTES, copiesOf, type Problem } from '../problem.ts';
import { type Profile, subgroupSizeFor } from '../profile.ts';
import { ceilDiv, foldGrid, type Program, reads, roundUp, uniform } from '../program.ts';
import { SUBGROUP_MATRIX_FEATURE } from '../wgsl/experimental.ts';
import { frame, tileOf, tilesOf } from '../wgsl/frame.ts';
import {
  gridThreads,
  type MatrixTile,
  misfit,
  splitsB,
  stepsOfK,
  stepsTogether,
  threads,
  wholeTiles,
  wordElements,
  wordType,
  workgroupMemory,
} from '../wgsl/matrix-layout.ts';
import { matrixMain } from '../wgsl/matrix-main.ts';
import { matrixEnable } from '../wgsl/matrix-tile.ts';
import { estimateMs, quickestFirst } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { asItLies, makeTile, stagesOf } from './matrix-params.ts';
import { partialBytes, reducePass } from './reduce.ts';
import { reducedStore, splitWhileStaging, tileStore } from './scaled-store.ts';
import { sliceBytes, slicesFor } from './slices.ts';
import { type LinesOptions, split, splitPasses } from './split.ts';

/** Tiles, and the share of the matrix units' rate that each reaches at 4096³ (an H200; docs/performance.md). */
const TILES = [
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 1, pack: 2, efficiency: 0.65 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 1, pack: 1, still: 1, efficiency: 0.97 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 1, pack: 1, efficiency: 0.96 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 2, pack: 1, efficiency: 0.95 },
  { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, pack: 2, apart: 1, efficiency: 0.52 },
  { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, pack: 1, apart: 1, efficiency: 0.75 },
  { bm: 128, bn: 64, bk: 16, sm: 64, sn: 32, stages: 1, prefetch: 1, pack: 1, efficiency: 0.69 },
  { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 1, prefetch: 0, pack: 1, efficiency: 0.55 },
  { bm: 32, bn: 32, bk: 16, sm: 16, sn: 16, stages: 1, prefetch: 0, pack: 1, efficiency: 0.15 },
] as const;

/** K in whose time a tile is begun and its results are stored. */
const START_AND_END = 192;

/** K from which on it is no less accurate than plain f32: a single product may be off by more. */
const SHORTEST = 16;

/** Cells a subgroup that a software GPU's compiler can take. */
const SOFTWARE_CELLS = 16 * 16;

export const splitF32: Kernel = {
  name: 'split-f32',
  idea: 'f32 as two f16 parts, three products on the matrix units',
  rejects({ a, b, accuracy, k }, profile) {
    if (a.type !== 'f32' || b.type !== 'f32') return `${a.type} times ${b.type}, and it splits f32`;
    if (accuracy === 'strict') return 'accuracy `strict` asks for f32 arithmetic only';
    if (!profile.features.includes(SUBGROUP_MATRIX_FEATURE))
      return `the device has no \`${SUBGROUP_MATRIX_FEATURE}\``;
    if (!profile.features.includes('shader-f16')) return 'the device has no `shader-f16`';
    const subgroup = subgroupSizeFor(profile);
    if ('missing' in subgroup) return subgroup.missing;
    if (configOf(profile) === undefined) return 'the device has no matrices of f16 with f32 results';
    if (k < SHORTEST)
      return `k is ${k}: below ${SHORTEST}, three products of halves round more often than plain f32`;
    return null;
  },
  candidates(problem, profile) {
    const most = profile.software ? SOFTWARE_CELLS : Number.POSITIVE_INFINITY;
    const tiles = TILES.filter(({ sm, sn }) => sm * sn <= most)
      .map(({ efficiency: _, ...tile }) => ({
        ...{ still: 0, apart: 0, ...tile },
        bk: tile.stages === 2 ? configOf(profile).K : tile.bk,
        slices: 1,
      }))
      .filter(params => fits(params, tileFor(problem, profile, params)))
      .flatMap(params => {
        const threads = gridThreads(problem, tileFor(problem, profile, params));
        return slicesFor(problem, threads).map(slices => ({ ...params, slices }));
      });
    return quickestFirst(tiles, params => this.estimate(problem, profile, params));
  },
  space(problem, profile) {
    return this.candidates(problem, profile)
      .flatMap(tile =>
        tile.stages === 2
          ? [1, 2, 4].map(prefetch => ({ ...tile, prefetch }))
          : [16, 32].flatMap(bk => [0, 1].map(prefetch => ({ ...tile, bk, prefetch }))),
      )
      .flatMap(tile => [1, 2, 4, 8].map((slices): Params => ({ ...tile, slices })))
      .flatMap((tile): Params[] => (tile.still ? [tile, { ...tile, still: 0 }] : [tile]))
      .flatMap((tile): Params[] => (tile.apart ? [tile, { ...tile, apart: 0 }] : [tile]))
      .filter(params => fits(params, tileFor(problem, profile, params)));
  },
  arithmetic: () => 'f32',
  estimate(problem, profile, params) {
    const tile = tileFor(problem, profile, params);
    const { m, n, k, batch } = problem;
    const { slices } = params;
    const tiles = wholeTiles(problem, tile);
    // The scales read an operand, the split reads it again and writes as much.
    const prepared = 12 * m * k + (splitsB(tile) ? 4 : 12) * k * n;
    return estimateMs({
      operations: 3 * 2 * tiles * tile.bm * tile.bn * (k + START_AND_END * slices),
      unit: 'matrix',
      efficiency: efficiencyOf(tile, params.pack),
      bytes: 0.5 * tiles * (tile.bm + tile.bn) * k * BYTES.f32,
      prepared: batch * prepared + sliceBytes(problem, slices),
      steps: ceilDiv(k, tile.bk * slices * tile.ways),
      pipelined: tile.stages === 2,
      threads: gridThreads(problem, tile) * slices,
      dispatches: (slices > 1 ? 2 : 1) + splitPasses(linesOf(problem, tile)),
    });
  },
  build(problem, profile, params): Program {
    const { m, n, batch, a, b } = problem;
    const { slices } = params;
    const cut = slices > 1;
    const tile = tileFor(problem, profile, params);
    const reason = misfit(tile);
    if (reason) throw new GemmError('invalid-argument', `split-f32: ${reason}`);
    const splitB = splitsB(tile);
    const prepared = split(linesOf(problem, tile));
    const {
      wgsl,
      bindings,
      params: uniforms,
    } = frame(
      { ...problem, a: prepared.a?.operand ?? a, b: prepared.b?.operand ?? b },
      {
        access: wordType(tile),
        vectorC: tile.width,
        enable: matrixEnable(tile),
        step: tile.bk * Math.max(tile.together, tile.flush) * tile.ways,
        writable: params.still === 1 && !splitB,
        buffers: { a: 'packedA', b: splitB ? 'b' : 'packedB' },
        parts: { a: prepared.a?.part ?? 0, b: prepared.b?.part ?? 0 },
        slices,
        store: cut ? 'partial' : 'finished',
      },
    );
    const store = tile.scaled ? tileStore(problem, tile) : null;
    return {
      passes: [
        ...prepared.passes,
        {
          label: 'split-f32',
          wgsl: [
            wgsl,
            tileOf(tile.bm, tile.bn, tile.few),
            store?.wgsl(bindings.length) ?? '',
            splitB ? splitWhileStaging(cut ? bindings.length : null) : '',
            matrixMain(tile),
          ].join(''),
          bindings: [
            ...bindings,
            ...(store?.bindings ?? []),
            ...(cut && splitB ? [uniform('linesB'), reads('scales')] : []),
          ],
          workgroups: foldGrid(tilesOf(problem, tile.bm, tile.bn) * slices),
          threads: threads(tile),
          workgroupMemory: workgroupMemory(tile),
        },
        ...(cut ? [reducePass(problem, slices, reducedStore(problem))] : []),
      ],
      uniforms: { params: uniforms, ...prepared.uniforms },
      scratch: {
        scales: (copiesOf(a, batch) * m + copiesOf(b, batch) * n) * BYTES.f32,
        ...(cut ? { partial: partialBytes(problem, slices) } : {}),
        ...prepared.scratch,
      },
    };
  },
};

/** What is known of a tile, or of one that fetches its words at another time. */
function efficiencyOf({ bm, bn, stages, prefetch }: MatrixTile, pack: number): number {
  const alike = TILES.filter(
    tile => tile.bm === bm && tile.bn === bn && tile.stages === stages && tile.pack === pack,
  );
  return (alike.find(tile => tile.prefetch === prefetch) ?? alike[0])?.efficiency ?? 0.3;
}

/**
 * What `pack` says. 1: both operands are scaled, split and packed first. 2: only A, and of B the scales are looked for, with which
 * it is split on its way into workgroup memory, if it can be. With both, `still` is frame's `writable`.
 */
const [BOTH, ONLY_A] = [1, 2];

/** Rows of A, which are split before the product, and columns of B, of which that may only look for the scales. */
function linesOf({ m, n, k, batch, a, b }: Problem, tile: MatrixTile): LinesOptions[] {
  const { bm, bn, bk } = tile;
  const steps = stepsOfK(tile);
  const inB = splitsB(tile) ? undefined : { lines: bn, k: bk, steps };
  const of = { length: k, batch };
  return [
    { name: 'a', operand: a, lines: m, firstScale: 0, blocks: { lines: bm, k: bk, steps }, ...of },
    { name: 'b', operand: b, lines: n, firstScale: copiesOf(a, batch) * m, blocks: inB, ...of },
  ];
}

/** Whether parameters go together and, if `pack` says that B is split there, it is: else it says the same as BOTH. */
const fits = ({ pack }: Params, tile: MatrixTile): boolean =>
  (pack === BOTH || splitsB(tile)) && misfit(tile) === null;

/** The largest matrices of f16 with f32 results. */
const configOf = (profile: Profile) =>
  profile.matrixConfigs
    .filter(
      ({ componentType, resultComponentType }) => componentType === 'f16' && resultComponentType === 'f32',
    )
    .sort((x, y) => y.M * y.N * y.K - x.M * x.N * x.K)[0];

/** When to flush. */
interface Flushes {
  /** K between two flushes. */
  readonly every: number;
  /** Most steps between two. */
  readonly most: number;
  /** How long a flush takes, in steps. */
  readonly cost: number;
}

/**
 * A plain f32 sum errs by about 0.29·√K units of the last place, and truncation by about 0.058 for each of K (measured on an H200:
 * docs/performance.md), so a flush every 4·√K stays below; in multiples of 32, and a quarter of that more at the most. The driver's
 * compiler writes out 16 steps of large tiles, and makes less of a loop of more. Where small products are summed apart, in small
 * tiles, a third of the truncations are left, a flush takes less, and more steps do no harm.
 */
const flushesOf = (k: number, apart: boolean): Flushes =>
  apart
    ? { every: Math.max(32, 16 * Math.floor((11 * Math.sqrt(k)) / 16)), most: 32, cost: 1 }
    : { every: Math.max(32, 32 * Math.floor(Math.sqrt(k) / 8 + 0.25)), most: 16, cost: 2.5 };

/**
 * Steps of K, and of those between two flushes (0 for none): no fewer flushes than one `every` K, and of those numbers the
 * quickest. Both are multiples of `together`; the last flush may be filled up with steps of zeros.
 */
function stepsFor(
  k: number,
  bk: number,
  together: number,
  { every, most: mostSteps, cost }: Flushes,
): { readonly steps: number; readonly flush: number } {
  const steps = roundUp(ceilDiv(k, bk), together);
  const allowed = Math.min(every / bk, mostSteps);
  const most = together * Math.max(ceilDiv(2, together), Math.floor(allowed / together));
  const fewest = every === 0 ? 1 : ceilDiv(steps, most);
  if (fewest === 1) return { steps, flush: 0 };
  const whole = (flush: number) => ceilDiv(steps, flush) * (flush + cost);
  const [flush] = Array.from({ length: fewest }, (_, i) =>
    roundUp(ceilDiv(steps, fewest + i), together),
  ).sort((x, y) => whole(x) - whole(y));
  return { steps: ceilDiv(steps, flush) * flush, flush };
}

export function tileFor(problem: Problem, profile: Profile, params: Params): MatrixTile {
  const config = configOf(profile);
  if (!config) throw new RangeError('split-f32: rejected problems are not built');
  const { k } = problem;
  const { bn, bk, sm, sn, prefetch, slices, ways = 1 } = params;
  const stages = stagesOf(params);
  const apart = params.apart === 1 && stages === 2;
  const flushes = flushesOf(k, apart);
  const { flush: every = flushes.every } = params;
  const together = stepsTogether({ stages, prefetch, sm, sn, lined: false });
  const { steps, flush } = stepsFor(ceilDiv(k, slices * ways), bk, together, { ...flushes, every });
  const guardK = k !== stepsOfK({ steps, ways, slices }) * bk;
  // A word of eight halves is made of eight f32 that lie side by side.
  const splitB = params.pack === ONLY_A && stages === 2 && wordElements({ config }) === 8;
  const lying = splitB ? asItLies('b', problem, { piece: 8, word: 4, cells: bn, guardK }) : null;
  return makeTile(problem, profile, params, {
    config,
    parts: 2,
    apart,
    together,
    steps,
    flush,
    a: { kind: 'blocked' },
    b: lying?.kind === 'rows' ? { ...lying, split: true } : { kind: 'blocked' },
    // Of slices, bare sums are stored: the reduction takes the scales off.
    scaled: slices === 1,
  });
}
