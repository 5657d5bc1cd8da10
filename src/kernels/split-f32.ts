/**
 * Split f32: a product of float32 accuracy on matrix units that take f16. Rung 11 of the ladder.
 *
 * Every element is scaled by a power of two of its row of A or column of B (scales.ts) and split into a high part of 11 bits and a
 * low part (split.ts); then C = high·high + high·low + low·high, three products in f16 with f32 sums, after Ootomo and Yokota,
 * "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance", 2022. Matrix
 * units truncate while they add, so the sums are flushed into f32 registers every few steps, often enough for the
 * error to stay below that of a plain f32 sum of the same length.
 *
 * Rows and columns with NaN or infinity are marked by their scale: their cells are computed again as a plain sum, and come
 * out as a plain f32 kernel's do.
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
  stepsOfK,
  stepsTogether,
  threads,
  wordElements,
  wordType,
  workgroupMemory,
} from '../wgsl/matrix-layout.ts';
import { matrixMain } from '../wgsl/matrix-main.ts';
import { matrixEnable } from '../wgsl/matrix-tile.ts';
import { cells, type WidthC } from '../wgsl/store.ts';
import { vectorizes } from '../wgsl/vectors.ts';
import { estimateMs, quickestFirst } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { makeTile, stagesOf } from './matrix-params.ts';
import { type Finish, partialBytes, reducePass } from './reduce.ts';
import { LINES, type LinesOptions, linesData, linesName, scalesPass } from './scales.ts';
import { sliceBytes, slicesFor } from './slices.ts';
import { HALVES, split, splitPasses } from './split.ts';

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
      .filter(params => params.pack !== ONLY_A || tileFor(problem, profile, params).b.kind === 'rows')
      .filter(params => misfit(tileFor(problem, profile, params)) === null)
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
      .filter(params => misfit(tileFor(problem, profile, params)) === null);
  },
  arithmetic: () => 'f32',
  estimate(problem, profile, params) {
    const tile = tileFor(problem, profile, params);
    const { m, n, k, batch } = problem;
    const { slices } = params;
    const tiles = tilesOf(problem, tile.bm, tile.bn);
    const inRows = tile.b.kind === 'rows';
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
      // The scales read the operands, the split reads them again and writes as much.
      prepared: batch * (12 * m * k + (inRows ? 4 : 12) * k * n) + sliceBytes(problem, slices),
      steps: ceilDiv(k, tile.bk * slices * tile.ways),
      pipelined: tile.stages === 2,
      threads: gridThreads(problem, tile) * slices,
      dispatches:
        (slices > 1 ? 2 : 1) +
        splitPasses({ name: 'a', operand: problem.a }) +
        (inRows ? 1 : splitPasses({ name: 'b', operand: problem.b })),
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
    const splitA = split({ ...linesA, block: [tile.bm, tile.bk], steps });
    // Or only its scales are looked for, and the kernel splits it on its way into workgroup memory.
    const splitB = tile.b.kind === 'blocked' ? split({ ...linesB, block: [tile.bn, tile.bk], steps }) : null;
    const {
      wgsl,
      bindings,
      params: uniforms,
    } = frame(
      { ...problem, a: splitA.operand, b: splitB?.operand ?? b },
      {
        access: wordType(tile),
        vectorC: tile.width,
        enable: matrixEnable(tile),
        step: tile.bk * Math.max(tile.together, tile.flush) * tile.ways,
        writable: params.still === 1 && splitB !== null,
        buffers: { a: 'packedA', b: splitB ? 'packedB' : 'b' },
        parts: { a: splitA.part, b: splitB?.part ?? 0 },
        slices,
        store: cut ? 'partial' : 'finished',
      },
    );
    const scaled: Finish = {
      name: 'storeScaled',
      wgsl: (binding, width) => storeScaled(problem, binding, width),
      bindings: [uniform('linesA'), uniform('linesB'), reads('scales'), reads('a'), reads('b')],
    };
    return {
      passes: [
        ...splitA.passes,
        ...(splitB?.passes ?? [scalesPass(linesB)]),
        {
          label: 'split-f32',
          wgsl: [
            wgsl,
            tileOf(tile.bm, tile.bn),
            cut ? '' : scaled.wgsl(bindings.length, tile.width),
            splitB ? '' : splitWhileStaging(cut ? bindings.length : null),
            matrixMain(tile),
          ].join(''),
          bindings: [
            ...bindings,
            ...(cut ? [] : scaled.bindings),
            ...(cut && !splitB ? [uniform('linesB'), reads('scales')] : []),
          ],
          workgroups: foldGrid(tilesOf(problem, tile.bm, tile.bn) * slices),
          threads: threads(tile),
          workgroupMemory: workgroupMemory(tile),
        },
        ...(cut ? [reducePass(problem, slices, scaled)] : []),
      ],
      uniforms: {
        params: uniforms,
        ...splitA.uniforms,
        ...(splitB?.uniforms ?? { [linesName(linesB)]: linesData(linesB) }),
      },
      scratch: {
        scales: (scalesOfA + copiesOf(b, batch) * n) * 4,
        ...(cut ? { partial: partialBytes(problem, slices) } : {}),
        ...splitA.scratch,
        ...splitB?.scratch,
      },
    };
  },
};

/**
 * What `pack` says: both operands are packed and split, or only A, and B is split on its way into workgroup memory. With both,
 * `still` is frame's `writable`.
 */
const ONLY_A = 2;

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
  const { b, n, k } = problem;
  const { bn, bk, sm, sn, prefetch, slices, ways = 1, flush: every = flushEvery(k) } = params;
  const stages = stagesOf(params);
  const together = stepsTogether({ stages, prefetch, sm, sn, lined: false });
  const { steps, flush } = stepsFor(ceilDiv(k, slices * ways), bk, every, together);
  // A word of eight halves is made of eight f32 that lie side by side.
  const inRows = stages === 2 && wordElements({ config }) === 8 && !b.trans && vectorizes(b, n, 8);
  const guardK = k !== stepsOfK({ steps, ways, slices }) * bk;
  return makeTile(problem, profile, params, {
    config,
    parts: 2,
    together,
    steps,
    flush,
    a: { kind: 'blocked' },
    b:
      params.pack === ONLY_A && inRows
        ? { kind: 'rows', ld: b.ld / 4, ragged: n % bn > 0, guardK, split: true }
        : { kind: 'blocked' },
    // Of slices, bare sums are stored: the reduction takes the scales off.
    store: slices > 1 ? 'storeC' : 'storeScaled',
  });
}

/** WGSL: one copy of an operand serves the whole batch, or each product has its own. */
const SCALE_OF = /* wgsl */ `fn scaleOf(lines: Lines, batch: u32, line: u32) -> f32 {
  return scales[lines.first + min(batch, lines.copies - 1) * lines.lines + line];
}`;

/** WGSL for a pipeline that reads B as it lies; the scales are bound from `binding` on, if they are not bound yet. */
const splitWhileStaging = (binding: number | null) => /* wgsl */ `${
  binding === null
    ? ''
    : `
${LINES}

@group(0) @binding(${binding}) var<uniform> linesB: Lines;
@group(0) @binding(${binding + 1}) var<storage, read> scales: array<f32>;

${SCALE_OF}
`
}
${HALVES}
// Of four columns; those past the edge repeat the last one.
fn scalesOfB(batch: u32, col: u32) -> vec4f {
  let last = params.n - 1;
  return vec4f(
    scaleOf(linesB, batch, min(col, last)), scaleOf(linesB, batch, min(col + 1, last)),
    scaleOf(linesB, batch, min(col + 2, last)), scaleOf(linesB, batch, min(col + 3, last)),
  );
}

struct Parts { high: vec4<u32>, low: vec4<u32> }

fn splitWords(x: vec4<u32>, y: vec4<u32>, scaleX: vec4f, scaleY: vec4f) -> Parts {
  let first = halves(bitcast<vec4f>(x) * scaleX);
  let second = halves(bitcast<vec4f>(y) * scaleY);
  return Parts(vec4(first.high, second.high), vec4(first.low, second.low));
}
`;

/**
 * WGSL: takes the scales off a sum, or computes it anew where its row or column is marked. Sizes are read and not written
 * out, so that products of many sizes share a pipeline.
 */
const storeScaled = ({ a, b }: Problem, binding: number, width: WidthC) => /* wgsl */ `
${LINES}

alias Cells = ${cells('f32', width)};

@group(0) @binding(${binding}) var<uniform> linesA: Lines;
@group(0) @binding(${binding + 1}) var<uniform> linesB: Lines;
@group(0) @binding(${binding + 2}) var<storage, read> scales: array<f32>;
@group(0) @binding(${binding + 3}) var<storage, read> originalA: array<f32>;
@group(0) @binding(${binding + 4}) var<storage, read> originalB: array<f32>;

fn plainSum(batch: u32, row: u32, col: u32) -> f32 {
  let fromA = linesA.offset + batch * linesA.stride + row * ${a.trans ? '1' : 'linesA.ld'};
  let fromB = linesB.offset + batch * linesB.stride + col * ${b.trans ? 'linesB.ld' : '1'};
  var sum = 0.0;
  for (var k = 0u; k < params.k; k++) {
    sum += originalA[fromA + k * ${a.trans ? 'linesA.ld' : '1'}] * originalB[fromB + k * ${b.trans ? '1' : 'linesB.ld'}];
  }
  return sum;
}

${SCALE_OF}

// 1 / scale, exactly.
fn inverse(scale: Cells) -> Cells { return bitcast<Cells>((254u << 23) - bitcast<${cells('u32', width)}>(scale)); }

fn storeScaled(batch: u32, row: u32, col: u32, sum: Cells) {
  if (row >= params.m || col >= params.n) { return; }
  let scaleA = Cells(scaleOf(linesA, batch, row));
  let scaleB = Cells(${
    width === 1
      ? 'scaleOf(linesB, batch, col)'
      : `
    scaleOf(linesB, batch, col), scaleOf(linesB, batch, col + 1),
    scaleOf(linesB, batch, col + 2), scaleOf(linesB, batch, col + 3),
  `
  });
  // The smaller factor first: the other way round, the product could overflow on its way.
  let one = inverse(scaleA);
  let other = inverse(scaleB);
  var value = sum * min(one, other) * max(one, other);
  let marked = (scaleA == Cells()) | (scaleB == Cells());
  ${
    width === 1
      ? 'if (marked) { value = plainSum(batch, row, col); }'
      : `if (any(marked)) {
    for (var j = 0u; j < 4; j++) {
      if (marked[j]) { value[j] = plainSum(batch, row, col + j); }
    }
  }`
  }
  storeC(batch, row, col, value);
}
`;
