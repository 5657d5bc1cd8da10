/**
 * Register tile: the f32 workhorse for large products on every device. Rung 9 of the ladder.
 *
 * Mapping: a workgroup makes a bm×bn tile of C, a thread tm×tn cells of it, in groups of 4×4 that lie as far apart as the
 * workgroup has threads along that side, so that neighbours read neighbouring vec4s of workgroup memory. Threads are laid over the tile
 * in blocks of 4×8: a subgroup of 32 reads 4 different vec4s of A and 8 of B, all others are broadcasts. K is taken in
 * steps of bk; both panels hold vec4s along the tile's side, so an operand that is stored along K is turned 4×4 in
 * registers on its way in (wgsl/register-panels.ts). Everything is under way early: the next step's words come from storage,
 * and the next k's vec4s from workgroup memory, while the present ones are multiplied (wgsl/register-loop.ts).
 *
 * 8×16 cells a thread read six vec4s for 128 multiply-adds. On an H200 that reaches 51 TFLOP/s at 4096³ where the f32
 * units' own limit is 65.7 (docs/performance.md).
 *
 * With `pack`, both operands are first copied into f32 in the order in which the panels take them (pack.ts). For f32 in whole
 * vec4s that is no faster, but f16 are then converted once, and not for every tile that they go into; the same holds for
 * the guards of rows that are not aligned.
 */
import { GemmError } from '../errors.ts';
import { BYTES, copiesOf, isInteger, type Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import { type Binding, ceilDiv, foldGrid, type Pass, type Program } from '../program.ts';
import { type FrameOptions, frame, tileOf, tilesOf } from '../wgsl/frame.ts';
import { BLOCK, type RegisterTile, registerTileMain, threadsOf } from '../wgsl/register-loop.ts';
import { carries, type Panel, packedPanel, panel, panelBytes, type Side } from '../wgsl/register-panels.ts';
import { widthStored } from '../wgsl/store.ts';
import { inFours, liesAlongK, widest, words } from '../wgsl/words.ts';
import { estimateMs, GATHERED, quickestFirst } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { needsF16, plainArithmetic } from './needs.ts';
import { pack } from './pack.ts';
import { partialBytes, reducePass } from './reduce.ts';
import { sliceBytes, slicesFor } from './slices.ts';

/**
 * Tiles, with two figures of an H200 (docs/performance.md). `efficiency` is the time that cost.ts's rate gives, over the
 * measured time. `weight` is how many threads, as cost.ts counts them, a thread stands for: one with many cells
 * has many multiply-adds to issue while others wait.
 */
const TILES = [
  { bm: 128, bn: 128, tm: 8, tn: 16, pack: 0, efficiency: 1.03, weight: 2.5 },
  { bm: 128, bn: 128, tm: 8, tn: 16, pack: 1, efficiency: 1.06, weight: 2.5 },
  { bm: 128, bn: 64, tm: 8, tn: 8, pack: 0, efficiency: 0.88, weight: 4 },
  { bm: 64, bn: 64, tm: 8, tn: 8, pack: 0, efficiency: 0.89, weight: 4 },
  { bm: 128, bn: 64, tm: 8, tn: 4, pack: 0, efficiency: 0.64, weight: 1 },
  { bm: 64, bn: 64, tm: 4, tn: 4, pack: 0, efficiency: 0.52, weight: 1 },
  { bm: 128, bn: 32, tm: 8, tn: 4, pack: 0, efficiency: 0.75, weight: 1 },
  { bm: 32, bn: 128, tm: 8, tn: 8, pack: 0, efficiency: 0.64, weight: 4 },
  { bm: 32, bn: 128, tm: 4, tn: 8, pack: 0, efficiency: 0.6, weight: 1 },
  { bm: 32, bn: 32, tm: 4, tn: 4, pack: 0, efficiency: 0.35, weight: 1 },
] as const;

/** A tile that nothing is known of. */
const UNKNOWN = { efficiency: 0.5, weight: 1 } as const;

/** Steps along K, the usual one first. */
const STEPS = [16, 8] as const;

/** Share of the speed that is left with the shorter step, which has twice as many barriers. */
const SHORT = 0.95;

/** The same where elements are converted in every tile that they go into. */
const CONVERTED = 0.91;

/** Rows and columns from which on packing is little beside the product. */
const LARGE = 512;

/** K in whose time a tile, or a slice of one, is begun and its sums are stored. */
const START_AND_END = 32;

/** Cells a thread that a software GPU's compiler can take, in the shorter step: it needs many seconds for long straight-line code. */
const SOFTWARE_CELLS = 16;

const WORD = 4;

export const registerTile: Kernel = {
  name: 'register-tile',
  idea: 'large tiles of sums in registers, panels in workgroup memory',
  rejects: needsF16,
  arithmetic: plainArithmetic,
  candidates(problem, profile) {
    const room = profile.limits.maxComputeWorkgroupStorageSize;
    const params = tilesFor(problem, profile).flatMap(({ efficiency: _, weight, ...tile }) => {
      const [usual, short] = STEPS;
      const fits = !profile.software && memoryOf(problem, { ...tile, bk: usual }) <= room;
      const bk = fits ? usual : short;
      const threads = tilesOf(problem, tile.bm, tile.bn) * threadsOf(tile);
      return slicesFor(problem, weight * threads).map(slices => paramsOf(tile, bk, slices));
    });
    return quickestFirst(params, it => this.estimate(problem, profile, it));
  },
  space(problem, profile) {
    return tilesFor(problem, profile).flatMap(tile =>
      STEPS.flatMap(bk => [1, 2, 4, 8, 16].map(slices => paramsOf(tile, bk, slices))),
    );
  },
  estimate(problem, _, params) {
    const { bm, bn, bk, slices, pack: packs = 0 } = params;
    const { m, n, k, batch, a, b } = problem;
    const tiles = tilesOf(problem, bm, bn);
    const { efficiency, weight } = TILES.find(tile => isOf(tile, params)) ?? UNKNOWN;
    const [bytesA, bytesB] = [a, b].map(({ type }) => (packs ? BYTES.f32 : BYTES[type]));
    return estimateMs({
      operations: 2 * tiles * bm * bn * (k + START_AND_END * slices),
      unit: 'fma',
      efficiency: efficiency * (packs ? 1 : asTheyLie(problem)) * (bk < STEPS[0] ? SHORT : 1),
      bytes: batch * m * n * k * (bytesA / bn + bytesB / bm),
      prepared: (packs ? packedBytes(problem) : 0) + sliceBytes(problem, slices),
      steps: ceilDiv(k, bk * slices),
      threads: weight * tiles * slices * threadsOfParams(params),
      dispatches: (packs ? 2 : 1) + (slices > 1 ? 1 : 0),
    });
  },
  build(problem, _, params): Program {
    const { bm, bn, slices } = params;
    checkFit(problem, params);
    const operands = params.pack ? packedOperands(problem, params) : operandsAsTheyLie(problem, params);
    const source = registerTileMain(operands.a, operands.b, tileOfParams(problem, params));
    return {
      passes: [
        ...operands.passes,
        {
          label: 'register-tile',
          wgsl: [operands.wgsl, tileOf(bm, bn), source].join(''),
          bindings: operands.bindings,
          workgroups: foldGrid(tilesOf(problem, bm, bn) * slices),
          threads: threadsOfParams(params),
          workgroupMemory: operands.a.bytes + operands.b.bytes,
        },
        ...(slices > 1 ? [reducePass(problem, slices)] : []),
      ],
      uniforms: operands.uniforms,
      scratch: { ...operands.scratch, ...(slices > 1 ? { partial: partialBytes(problem, slices) } : {}) },
    };
  },
};

type Tile = Omit<(typeof TILES)[number], 'efficiency' | 'weight'>;

const paramsOf = ({ bm, bn, tm, tn, pack: packs }: Tile, bk: number, slices: number): Params => ({
  ...{ bm, bn, bk, tm, tn, pack: packs, slices },
});

/** Whether parameters are of a tile, in steps of any length. */
const isOf = (tile: Tile, { bm, bn, tm, tn, pack: packs = 0 }: Params): boolean =>
  tile.bm === bm && tile.bn === bn && tile.tm === tm && tile.tn === tn && tile.pack === packs;

/** The tiles that a device's compiler can take, packed ones where packing may pay. */
function tilesFor(problem: Problem, { software }: Profile) {
  const { m, n, a } = problem;
  const packs = asTheyLie(problem) < 1 && !isInteger(a.type) && Math.min(m, n) >= LARGE;
  return TILES.filter(
    ({ tm, tn, pack }) => (packs || pack === 0) && (!software || tm * tn <= SOFTWARE_CELLS),
  );
}

/** Share of the speed that is left for operands that are not packed. */
function asTheyLie(problem: Problem): number {
  const { a, b } = problem;
  const converted = a.type !== 'f32' || b.type !== 'f32';
  return (converted ? CONVERTED : 1) * (inFours(problem) ? 1 : GATHERED);
}

/** Bytes that packing reads and writes; one copy serves a batch that shares an operand. */
function packedBytes({ m, n, k, batch, a, b }: Problem): number {
  return (
    k *
    (copiesOf(a, batch) * m * (BYTES[a.type] + BYTES.f32) +
      copiesOf(b, batch) * n * (BYTES[b.type] + BYTES.f32))
  );
}

/** Whether an operand is turned on its way into its panel. */
const isTurned = (problem: Problem, name: 'A' | 'B', packs: number): boolean =>
  !packs && liesAlongK(problem, name);

/** Bytes of both panels. */
const memoryOf = (problem: Problem, { bm, bn, bk, pack: packs }: Tile & { bk: number }): number =>
  panelBytes(bm, bk, isTurned(problem, 'A', packs)) + panelBytes(bn, bk, isTurned(problem, 'B', packs));

/** @throws GemmError `invalid-argument` where threads, cells and steps do not go together */
function checkFit(problem: Problem, params: Params): void {
  const { bm, bn, bk, tm, tn, pack: packs = 0 } = params;
  const fits = tm % 4 === 0 && tn % 4 === 0 && bk % 4 === 0 && bm % tm === 0 && bn % tn === 0;
  if (!fits || (bm / tm) % BLOCK.rows !== 0 || (bn / tn) % BLOCK.cols !== 0) {
    throw new GemmError(
      'invalid-argument',
      `register-tile: a ${bm}×${bn}×${bk} tile with ${tm}×${tn} cells a thread`,
      `Cells come in fours, and threads in blocks of ${BLOCK.rows}×${BLOCK.cols}.`,
    );
  }
  for (const name of ['A', 'B'] as const) {
    const side = sideOf(name, params);
    if (!carries(side, isTurned(problem, name, packs))) {
      throw new GemmError(
        'invalid-argument',
        `register-tile: ${side.threads} threads can't share a step of ${bk} of ${side.side} ${name === 'A' ? 'rows' : 'columns'} evenly`,
      );
    }
  }
  if (packs && isInteger(problem.a.type)) {
    throw new GemmError('invalid-argument', `register-tile packs f32 and f16, not ${problem.a.type}`);
  }
}

/** How the kernel comes by its operands: the frame, their panels, and passes that run before. */
interface Operands {
  readonly wgsl: string;
  readonly bindings: readonly Binding[];
  readonly a: Panel;
  readonly b: Panel;
  readonly passes: readonly Pass[];
  readonly uniforms: Program['uniforms'];
  readonly scratch: Program['scratch'];
}

const tileOfParams = (problem: Problem, { bm, bn, bk, tm, tn, slices }: Params): RegisterTile => ({
  ...{ bm, bn, bk, tm, tn, slices },
  width: widthStored(problem, slices),
  narrowed: slices === 1 && BYTES[problem.c.type] < BYTES.f32,
});

const threadsOfParams = ({ bm, bn, tm, tn }: Params) => threadsOf({ bm, bn, tm, tn });

function frameOptions(problem: Problem, { bk, slices }: Params): FrameOptions {
  const store = slices > 1 ? 'partial' : 'finished';
  return { slices, step: bk, store, vectorC: widthStored(problem, slices) };
}

function sideOf(name: 'A' | 'B', params: Params): Side {
  const { bm, bn, bk, tm, tn } = params;
  const [side, cells] = name === 'A' ? [bm, tm] : [bn, tn];
  return { name, side, along: side / cells, threads: threadsOfParams(params), bk };
}

function operandsAsTheyLie(problem: Problem, params: Params): Operands {
  const [vectorA, vectorB] = [widest(problem, 'A', WORD), widest(problem, 'B', WORD)];
  const {
    wgsl,
    bindings,
    params: uniforms,
  } = frame(problem, { ...frameOptions(problem, params), vectorA, vectorB });
  const [a, b] = (['A', 'B'] as const).map(name => {
    const vector = name === 'A' ? vectorA : vectorB;
    const wholeWords = vector === WORD && !isInteger(problem.a.type);
    return {
      panel: panel(problem, sideOf(name, params), wholeWords),
      wgsl: wholeWords ? '' : words(problem, name, vector).wgsl,
    };
  });
  return {
    wgsl: [wgsl, a.wgsl, b.wgsl].join(''),
    bindings,
    ...{ a: a.panel, b: b.panel },
    passes: [],
    uniforms: { params: uniforms },
    scratch: {},
  };
}

function packedOperands(problem: Problem, params: Params): Operands {
  const { m, n, k, batch } = problem;
  const { bm, bn, bk, slices } = params;
  const steps = ceilDiv(ceilDiv(k, slices), bk) * slices;
  const { passes, operands, ...packed } = pack(
    { order: 'steps', type: 'f32', wordBytes: 16, batch, length: k, steps },
    [
      { name: 'a', operand: problem.a, lines: m, block: [bm, bk] },
      { name: 'b', operand: problem.b, lines: n, block: [bn, bk] },
    ],
  );
  const { params: uniforms, ...framed } = frame(
    { ...problem, ...operands },
    { ...frameOptions(problem, params), access: 'vec4<f32>', buffers: { a: 'packedA', b: 'packedB' } },
  );
  return {
    ...framed,
    passes,
    a: packedPanel(sideOf('A', params)),
    b: packedPanel(sideOf('B', params)),
    uniforms: { params: uniforms, ...packed.uniforms },
    scratch: packed.scratch,
  };
}
