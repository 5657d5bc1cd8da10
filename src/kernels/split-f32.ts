/**
 * Split f32: a product of float32 accuracy on matrix units that take f16. Rung 11 of the ladder.
 *
 * Every element is scaled by a power of two of its row of A or column of B and split into a high part of 11 bits and a low part;
 * then C = high·high + high·low + low·high, three products in f16 with f32 sums, after Ootomo and Yokota, "Recovering single
 * precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance", 2022. Matrix units truncate
 * while they add, so the sums are flushed into f32 registers every few steps, often enough for the error to stay below that of a
 * plain f32 sum of the same length.
 *
 * Large operands are scaled and split by passes before the product (scales.ts, split.ts). Or a workgroup does it as it fetches
 * what it multiplies (wgsl/matrix-split.ts), which spares small products the passes and tall ones the memory traffic. Either way
 * rows and columns with NaN or infinity come out as a plain f32 kernel's do.
 */
import { GemmError } from '../errors.ts';
import { BYTES, copiesOf, type Problem } from '../problem.ts';
import { type Profile, subgroupSizeFor } from '../profile.ts';
import { ceilDiv, foldGrid, type Program, reads, roundUp, uniform } from '../program.ts';
import { SUBGROUP_MATRIX_FEATURE } from '../wgsl/experimental.ts';
import { frame, tileOf, tilesOf } from '../wgsl/frame.ts';
import {
  findsScales,
  gridThreads,
  type MatrixTile,
  misfit,
  SIDES,
  type Source,
  scalesOf,
  stepsOfK,
  stepsTogether,
  threads,
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
import { giveScalesOfB, scaledStore } from './scaled-store.ts';
import { type LinesOptions, linesData, linesName, scalesPass } from './scales.ts';
import { sliceBytes, slicesFor } from './slices.ts';
import { split, splitPasses } from './split.ts';

/** Tiles, and the share of the matrix units' rate that each reaches at 4096³ (an H200; docs/performance.md). */
const TILES = [
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 1, pack: 2, efficiency: 0.63 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 1, pack: 1, still: 1, efficiency: 0.89 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 4, pack: 1, still: 1, efficiency: 0.88 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 1, pack: 1, efficiency: 0.88 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 32, stages: 2, prefetch: 2, pack: 1, efficiency: 0.86 },
  { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, pack: 2, efficiency: 0.5 },
  { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, pack: 1, efficiency: 0.7 },
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
        ...{ still: 0, ...tile },
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
      .flatMap((tile): Params[] =>
        tile.stages === 2 && tile.pack === BOTH && !tile.still ? [tile, { ...tile, pack: NEITHER }] : [tile],
      )
      .filter(params => fits(params, tileFor(problem, profile, params)));
  },
  arithmetic: () => 'f32',
  estimate(problem, profile, params) {
    const tile = tileFor(problem, profile, params);
    const { m, n, k, batch } = problem;
    const { slices } = params;
    const tiles = tilesOf(problem, tile.bm, tile.bn);
    const prepared = [
      preparing({ name: 'a', operand: problem.a }, m * k, scalesOf(tile, 'A')),
      preparing({ name: 'b', operand: problem.b }, k * n, scalesOf(tile, 'B')),
    ];
    return estimateMs({
      operations: 3 * 2 * tiles * tile.bm * tile.bn * (k + START_AND_END * slices),
      unit: 'matrix',
      efficiency:
        TILES.find(
          ({ bm, bn, stages, prefetch, pack }) =>
            bm === tile.bm &&
            bn === tile.bn &&
            stages === tile.stages &&
            prefetch === tile.prefetch &&
            pack === params.pack,
        )?.efficiency ?? 0.3,
      bytes: 0.5 * tiles * (tile.bm + tile.bn) * k * BYTES.f32,
      prepared: batch * (prepared[0].bytes + prepared[1].bytes) + sliceBytes(problem, slices),
      steps: ceilDiv(k, tile.bk * slices * tile.ways),
      pipelined: tile.stages === 2,
      threads: gridThreads(problem, tile) * slices,
      dispatches: (slices > 1 ? 2 : 1) + prepared[0].passes + prepared[1].passes,
    });
  },
  build(problem, profile, params): Program {
    const { m, n, k, batch, a, b } = problem;
    const { slices } = params;
    const cut = slices > 1;
    const tile = tileFor(problem, profile, params);
    const reason = misfit(tile);
    if (reason) throw new GemmError('invalid-argument', `split-f32: ${reason}`);
    const linesA: LinesOptions = { name: 'a', operand: a, lines: m, length: k, batch, firstScale: 0 };
    const scalesOfA = copiesOf(a, batch) * m;
    const linesB: LinesOptions = { ...linesA, name: 'b', operand: b, lines: n, firstScale: scalesOfA };
    const steps = stepsOfK(tile);
    const splitA = tile.a.kind === 'blocked' ? split({ ...linesA, block: [tile.bm, tile.bk], steps }) : null;
    const splitB = tile.b.kind === 'blocked' ? split({ ...linesB, block: [tile.bn, tile.bk], steps }) : null;
    const {
      wgsl,
      bindings,
      params: uniforms,
    } = frame(
      { ...problem, a: splitA?.operand ?? a, b: splitB?.operand ?? b },
      {
        access: wordType(tile),
        vectorC: tile.width,
        enable: matrixEnable(tile),
        step: tile.bk * Math.max(tile.together, tile.flush) * tile.ways,
        writable: params.still === 1 && splitA !== null && splitB !== null,
        buffers: { a: splitA ? 'packedA' : 'a', b: splitB ? 'packedB' : 'b' },
        parts: { a: splitA?.part ?? 0, b: splitB?.part ?? 0 },
        slices,
        store: cut ? 'partial' : 'finished',
      },
    );
    const given = scalesOf(tile, 'B') === 'given';
    const scaledB = given
      ? {
          passes: [scalesPass(linesB)],
          uniforms: { [linesName(linesB)]: linesData(linesB) },
          scratch: {},
        }
      : null;
    const prepared = [splitA, splitB ?? scaledB].filter(it => it !== null);
    const scaled = scaledStore(problem, tile);
    // What a workgroup has found, it takes off its own sums.
    const inReduction = cut && tile.store === 'storeC';
    return {
      passes: [
        ...prepared.flatMap(({ passes }) => passes),
        {
          label: 'split-f32',
          wgsl: [
            wgsl,
            tileOf(tile.bm, tile.bn),
            inReduction ? '' : scaled.wgsl(bindings.length, tile.width),
            given ? giveScalesOfB(inReduction ? bindings.length : null) : '',
            matrixMain(tile),
          ].join(''),
          bindings: [
            ...bindings,
            ...(inReduction ? [] : scaled.bindings),
            ...(inReduction && given ? [uniform('linesB'), reads('scales')] : []),
          ],
          workgroups: foldGrid(tilesOf(problem, tile.bm, tile.bn) * slices),
          threads: threads(tile),
          workgroupMemory: workgroupMemory(tile),
        },
        ...(cut ? [reducePass(problem, slices, inReduction ? scaled : undefined)] : []),
      ],
      uniforms: Object.assign({ params: uniforms }, ...prepared.map(({ uniforms }) => uniforms)),
      scratch: Object.assign(
        prepared.length > 0 ? { scales: (scalesOfA + copiesOf(b, batch) * n) * 4 } : {},
        cut ? { partial: partialBytes(problem, slices) } : {},
        ...prepared.map(({ scratch }) => scratch),
      ),
    };
  },
};

/**
 * What `pack` says. 1: both operands are scaled, split and packed first. 2: only A, and of B the scales are looked for, with which
 * it is split on its way into workgroup memory. 0: both are split there, with scales that each workgroup finds. What can't be is
 * packed. With both, `still` is frame's `writable`.
 */
const [NEITHER, BOTH, ONLY_A] = [0, 1, 2];

/** Where the scales of an operand come from that is split on its way into workgroup memory, as far as it can be. */
function splitOf({ pack }: Params, name: 'a' | 'b'): 'given' | 'found' | undefined {
  if (pack === NEITHER) return 'found';
  return pack === ONLY_A && name === 'b' ? 'given' : undefined;
}

/** Whether parameters go together and, if `pack` says that something is split there, something is: else it says the same as BOTH. */
const fits = ({ pack }: Params, tile: MatrixTile): boolean =>
  (pack === BOTH || SIDES.some(side => scalesOf(tile, side))) && misfit(tile) === null;

/** What prepares an operand of so many elements: the scales read it, the split reads it again and writes as much. */
function preparing(
  lines: Pick<LinesOptions, 'name' | 'operand'>,
  elements: number,
  scales: 'given' | 'found' | undefined,
) {
  if (scales === 'found') return { bytes: 0, passes: 0 };
  if (scales === 'given') return { bytes: 4 * elements, passes: 1 };
  return { bytes: 12 * elements, passes: splitPasses(lines) };
}

/** The largest matrices of f16 with f32 results. */
const configOf = (profile: Profile) =>
  profile.matrixConfigs
    .filter(
      ({ componentType, resultComponentType }) => componentType === 'f16' && resultComponentType === 'f32',
    )
    .sort((x, y) => y.M * y.N * y.K - x.M * x.N * x.K)[0];

/**
 * K between two flushes. A plain f32 sum errs by about 0.29·√K units of the last place, and truncation by about 0.058 for each
 * of K (measured on an H200: docs/performance.md), so 4·√K stays below; in multiples of 32, and a quarter of that more at the most.
 */
const flushEvery = (k: number): number => Math.max(32, 32 * Math.floor(Math.sqrt(k) / 8 + 0.25));

/** How long a flush takes, in steps (an H200: docs/performance.md). */
const FLUSH = 2.5;

/**
 * Steps of K, and of those between two flushes (0 for none): no fewer flushes than one `every` K, and of those numbers the
 * quickest. Both are multiples of `together`; the last flush may be filled up with steps of zeros.
 */
function stepsFor(
  k: number,
  bk: number,
  every: number,
  together: number,
): { readonly steps: number; readonly flush: number } {
  const steps = roundUp(ceilDiv(k, bk), together);
  const most = together * Math.max(ceilDiv(2, together), Math.floor(every / bk / together));
  const fewest = every === 0 ? 1 : ceilDiv(steps, most);
  if (fewest === 1) return { steps, flush: 0 };
  const cost = (flush: number) => ceilDiv(steps, flush) * (flush + FLUSH);
  const [flush] = Array.from({ length: fewest }, (_, i) =>
    roundUp(ceilDiv(steps, fewest + i), together),
  ).sort((x, y) => cost(x) - cost(y));
  return { steps: ceilDiv(steps, flush) * flush, flush };
}

export function tileFor(problem: Problem, profile: Profile, params: Params): MatrixTile {
  const config = configOf(profile);
  if (!config) throw new RangeError('split-f32: rejected problems are not built');
  const { k } = problem;
  const { bm, bn, bk, sm, sn, prefetch, slices, ways = 1, flush: every = flushEvery(k) } = params;
  const stages = stagesOf(params);
  const together = stepsTogether({ stages, prefetch, sm, sn, lined: false });
  const { steps, flush } = stepsFor(ceilDiv(k, slices * ways), bk, every, together);
  const guardK = k !== stepsOfK({ steps, ways, slices }) * bk;
  const source = (name: 'a' | 'b', cells: number): Source => {
    const split = splitOf(params, name);
    // A word of eight halves is made of eight f32 that lie side by side.
    if (!split || stages === 1 || wordElements({ config }) !== 8) return { kind: 'blocked' };
    const lying = asItLies(name, problem, { piece: 8, word: 4, cells, guardK });
    return lying && (split === 'found' || lying.kind === 'rows') ? { ...lying, split } : { kind: 'blocked' };
  };
  const sources = { a: source('a', bm), b: source('b', bn) };
  return makeTile(problem, profile, params, {
    config,
    parts: 2,
    together,
    steps,
    flush,
    a: sources.a,
    b: sources.b,
    // Of slices, bare sums are stored, and the reduction takes the scales off, if it can know them.
    store: slices > 1 && !findsScales(sources) ? 'storeC' : 'storeScaled',
  });
}
