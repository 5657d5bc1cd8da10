/**
 * Split-K: for few cells or a long K, where tiles alone would leave the device waiting. K is cut twice: into `ways`, groups
 * of a workgroup's threads, whose sums meet in workgroup memory, and where that is not enough into `slices`, which different
 * workgroups make and reduce.ts adds up. Both are added in a fixed order.
 *
 * Mapping: a workgroup makes a bm×bn tile of C over one slice of K, in steps of ways·bk; each way makes the whole tile over
 * its bk ks of every step, a thread tm×tn cells of it (wgsl/blocks.ts). All words of a step are under way at once, and while a step
 * is multiplied, the next one is fetched into registers.
 */
import { GemmError } from '../errors.ts';
import { BYTES, type Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import { ceilDiv, foldGrid, type Program } from '../program.ts';
import {
  type BlockTile,
  blockPanels,
  declareBlocks,
  lineOf,
  multiplyBlocks,
  sharesWords,
  threadsOfWay,
} from '../wgsl/blocks.ts';
import { frame, tileOf, tilesOf } from '../wgsl/frame.ts';
import { type WidthC, widthStored } from '../wgsl/store.ts';
import { lines } from '../wgsl/unroll.ts';
import { inFours } from '../wgsl/words.ts';
import { estimateMs, GATHERED, quickestFirst } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { needsF16, plainArithmetic } from './needs.ts';
import { partialBytes, reducePass } from './reduce.ts';
import { sliceBytes, slicesFor } from './slices.ts';

/** Tiles, and the share of the f32 units' rate that each reaches where there are many of them. */
const TILES = [
  { bm: 64, bn: 64, bk: 16, tm: 4, tn: 8, ways: 2, efficiency: 0.65 },
  { bm: 64, bn: 64, bk: 16, tm: 4, tn: 4, ways: 1, efficiency: 0.55 },
  { bm: 32, bn: 64, bk: 8, tm: 4, tn: 8, ways: 8, efficiency: 0.5 },
  { bm: 32, bn: 64, bk: 16, tm: 4, tn: 8, ways: 4, efficiency: 0.5 },
  { bm: 32, bn: 64, bk: 16, tm: 4, tn: 8, ways: 2, efficiency: 0.5 },
  { bm: 32, bn: 64, bk: 16, tm: 4, tn: 4, ways: 4, efficiency: 0.5 },
  { bm: 32, bn: 32, bk: 16, tm: 4, tn: 4, ways: 4, efficiency: 0.4 },
  { bm: 32, bn: 32, bk: 16, tm: 4, tn: 4, ways: 2, efficiency: 0.4 },
  { bm: 16, bn: 32, bk: 16, tm: 4, tn: 4, ways: 8, efficiency: 0.45 },
  { bm: 16, bn: 16, bk: 8, tm: 4, tn: 4, ways: 16, efficiency: 0.3 },
] as const;

/** Candidates for a problem. */
const MOST = 6;

/** K in whose time a tile, or a slice of one, is begun and stored, and in whose time the sums of a way are added to it. */
const START_AND_END = 16;
const ADDING = 8;

/** Cells a thread that a software GPU's compiler can take: it needs many seconds for straight-line code of more. */
const SOFTWARE_CELLS = 16;

export const splitK: Kernel = {
  name: 'split-k',
  idea: 'K shared among the threads of a workgroup, and among workgroups',
  rejects: needsF16,
  arithmetic: plainArithmetic,
  candidates(problem, profile) {
    const all = TILES.filter(tile => fits(tile, profile)).flatMap(({ efficiency: _, ...tile }) => {
      const threads = tilesOf(problem, tile.bm, tile.bn) * threadsOf(tile);
      return slicesFor(problem, threads).map(slices => ({ ...tile, slices }));
    });
    return quickestFirst(all, params => this.estimate(problem, profile, params)).slice(0, MOST);
  },
  space(problem, profile) {
    return TILES.filter(tile => fits(tile, profile)).flatMap(({ efficiency: _, ...tile }) =>
      [1, 2, 4, 8, 16, 32, 64, 128, 256]
        .filter(slices => slices === 1 || slices * stepOf(tile) <= problem.k)
        .map(slices => ({ ...tile, slices })),
    );
  },
  estimate(problem, _, params) {
    const { m, n, k, batch, a, b, c } = problem;
    const { bm, bn, slices } = params;
    const tile = tileIn(params);
    const tiles = tilesOf(problem, bm, bn);
    const { efficiency } = TILES.find(it => sameTile(it, tile)) ?? { efficiency: 0.5 };
    // Each tile reads its rows of A and columns of B once, for the most part from a cache.
    const tileBytes = k * (bm * BYTES[a.type] + bn * BYTES[b.type]);
    return estimateMs({
      operations: 2 * tiles * bm * bn * (k + (START_AND_END + ADDING * tile.ways) * slices),
      unit: 'fma',
      efficiency: efficiency * (inFours(problem) ? 1 : GATHERED),
      bytes: 0.5 * tiles * tileBytes + batch * m * n * BYTES[c.type],
      prepared: sliceBytes(problem, slices),
      steps: ceilDiv(k, stepOf(tile) * slices),
      // The multiply-adds of a thread are independent of one another: half as many threads keep the units busy.
      threads: 2 * tiles * slices * threadsOf(tile),
      dispatches: slices > 1 ? 2 : 1,
    });
  },
  build(problem, _, params): Program {
    const { bm, bn, slices } = params;
    const tile = tileIn(params);
    checkFit(tile);
    const panels = blockPanels(problem, tile);
    const width = widthStored(problem, slices);
    const {
      wgsl,
      bindings,
      params: uniforms,
    } = frame(problem, {
      ...panels.vectors,
      vectorC: width,
      store: slices > 1 ? 'partial' : 'finished',
      slices,
      step: stepOf(tile),
    });
    return {
      passes: [
        {
          label: 'split-k',
          wgsl: [wgsl, tileOf(bm, bn), panels.wgsl, main(problem, params, panels.words, width)].join(''),
          bindings,
          workgroups: foldGrid(tilesOf(problem, bm, bn) * slices),
          threads: threadsOf(tile),
          workgroupMemory: panels.bytes,
        },
        ...(slices > 1 ? [reducePass(problem, slices)] : []),
      ],
      uniforms: { params: uniforms },
      scratch: slices > 1 ? { partial: partialBytes(problem, slices) } : {},
    };
  },
};

const tileIn = ({ bm, bn, bk, tm, tn, ways }: Params): BlockTile => ({ bm, bn, bk, tm, tn, ways });

const sameTile = (x: BlockTile, y: BlockTile) =>
  (['bm', 'bn', 'bk', 'tm', 'tn', 'ways'] as const).every(size => x[size] === y[size]);

const threadsOf = (tile: BlockTile) => tile.ways * threadsOfWay(tile);

/** K that a workgroup takes in a step. */
const stepOf = ({ bk, ways }: BlockTile) => bk * ways;

/** Whether the device has the threads and the workgroup memory, and its compiler the patience. */
function fits(tile: BlockTile, { limits, software }: Profile): boolean {
  return (
    threadsOf(tile) <= limits.maxComputeInvocationsPerWorkgroup &&
    tile.bk * lineOf(tile) * 16 <= limits.maxComputeWorkgroupStorageSize &&
    !(software && tile.tm * tile.tn > SOFTWARE_CELLS)
  );
}

/** @throws GemmError `invalid-argument` where tile, cells and ways do not go together */
function checkFit(tile: BlockTile): void {
  const { bm, bn, bk, tm, tn, ways } = tile;
  const inFours = [bk, tm, tn].every(size => size % 4 === 0) && [bm, bn].every(size => size % 8 === 0);
  if (!inFours || bm % tm !== 0 || bn % tn !== 0 || !sharesWords(tile) || rowsAtOnce(tile) < 1) {
    throw new GemmError(
      'invalid-argument',
      `split-k: a ${bm}×${bn}×${bk} tile with ${tm}×${tn} cells a thread, ${ways} ways`,
      "Cells and ks come in fours, rows and columns in eights, and a way's threads share its words evenly.",
    );
  }
}

/** Of each four of a thread's rows, how many have room in a panel with all their sums; 0 where not one has. */
function rowsAtOnce(tile: BlockTile): number {
  const { bm, bn, tm, ways } = tile;
  const sumsOfRow = (ways * (bm / tm) * bn) / 4;
  return [4, 2, 1].find(rows => rows * sumsOfRow <= tile.bk * lineOf(tile)) ?? 0;
}

function main(
  problem: Problem,
  params: Params,
  words: Readonly<Record<'A' | 'B', number>>,
  width: WidthC,
): string {
  const { slices } = params;
  const tile = tileIn(params);
  const { tm, tn, ways } = tile;
  const T = threadsOfWay(tile);
  const each = (text: (name: 'A' | 'B', unit: string, i: number) => string) =>
    (['A', 'B'] as const).flatMap(name =>
      Array.from({ length: words[name] }, (_, i) => text(name, i ? `lane + ${i * T}` : 'lane', i)),
    );
  const fetch = (how: 'var ' | '' = '') =>
    each((name, unit, i) => `${how}word${name}${i} = fetch${name}(tile, base, way, ${unit});`);
  const put = each((name, unit, i) => `put${name}(way, ${unit}, word${name}${i});`);
  const sums = Array.from({ length: tm }, (_, i) =>
    Array.from({ length: tn / 4 }, (_, h) => `var sum${i}_${h} = vec4<Sum>();`).join(' '),
  );
  const steps = [
    'loop {',
    ...indent(put),
    '  workgroupBarrier();',
    `  base += ${stepOf(tile)};`,
    '  if (base >= end) { break; }',
    ...indent(fetch()),
    ...indent(multiplyBlocks(problem, tile)),
    '  workgroupBarrier();',
    '}',
    ...multiplyBlocks(problem, tile),
  ];
  const rows = rowsAtOnce(tile);
  return /* wgsl */ `${ways > 1 ? exchange(tile, rows) : ''}
@compute @workgroup_size(${threadsOf(tile)})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = tileOf(group, groups);
  if (!tile.valid) { return; }
  let way = thread / ${T};
  let lane = thread % ${T};
  ${lines([...laneInTile(tile), ...declareBlocks(tile)], 2)}
  ${lines(sums, 2)}

  // A slice is whole steps long: only the end of K itself can fall inside of a step, and there the loads give 0.
  var base = tile.slice * params.depth;
  let end = min(base + params.depth, params.k);
  ${lines(fetch('var '), 2)}
  ${lines(steps, 2)}

  ${lines(ways > 1 ? addWays(tile, rows, width, slices) : storeSums(tile, width, slices), 2)}
}
`;
}

const indent = (text: readonly string[]) => text.map(line => `  ${line}`);

/** WGSL: which thread of a way this is. In wide tiles, a subgroup of 32 takes 4×8 threads: it reads fewer vec4s. */
function laneInTile({ bm, bn, tm, tn }: BlockTile): string[] {
  const [threadsM, threadsN] = [bm / tm, bn / tn];
  return threadsN > 8 && threadsN % 8 === 0 && threadsM % 4 === 0
    ? [
        `let y = lane / 32 / ${threadsN / 8} * 4 + lane % 32 / 8;`,
        `let x = lane / 32 % ${threadsN / 8} * 8 + lane % 8;`,
      ]
    : [`let y = lane / ${threadsN};`, `let x = lane % ${threadsN};`];
}

/** WGSL: the row of the tile that row i of a thread's is. */
const rowOf = ({ bm, tm }: BlockTile, i: number) => `${(i >> 2) * 4 * (bm / tm) + (i % 4)} + 4 * y`;

const stored = (row: string, col: string, sum: string, width: WidthC, slices: number): string[] => {
  const slice = slices > 1 ? ', tile.slice' : '';
  return width === 4
    ? [`storeC(tile.batch, tile.row + ${row}, tile.col + ${col}, ${sum}${slice});`]
    : ['x', 'y', 'z', 'w'].map(
        (c, j) => `storeC(tile.batch, tile.row + ${row}, tile.col + ${col} + ${j}, ${sum}.${c}${slice});`,
      );
};

/** WGSL of one way: a thread's sums go straight into C. */
const storeSums = (tile: BlockTile, width: WidthC, slices: number): string[] =>
  Array.from({ length: tile.tm }, (_, i) => i).flatMap(i =>
    Array.from({ length: tile.tn / 4 }, (_, h) => h).flatMap(h =>
      stored(rowOf(tile, i), `${(h * tile.bn) / (tile.tn / 4)} + 4 * x`, `sum${i}_${h}`, width, slices),
    ),
  );

/** WGSL: what sums of several ways go through. The panels are free then. */
const exchange = (tile: BlockTile, rows: number) => {
  const { bm, bn, tm, ways } = tile;
  return /* wgsl */ `
const SUMS = ${((bm / tm) * rows * bn) / 4}u;       // vec4s of each way that are added up at once

fn putSum(way: u32, at: u32, sum: vec4<Sum>) {
  let index = way * SUMS + at;
  panels[index / ${lineOf(tile)}][index % ${lineOf(tile)}] = sum;
}

fn totalOf(at: u32) -> vec4<Sum> {
  var total = vec4<Sum>();
  for (var way = 0u; way < ${ways}; way++) {
    let index = way * SUMS + at;
    total += panels[index / ${lineOf(tile)}][index % ${lineOf(tile)}];
  }
  return total;
}
`;
};

/** WGSL: all threads add up the ways' sums, some rows at a time. */
function addWays(tile: BlockTile, rows: number, width: WidthC, slices: number): string[] {
  const { bm, bn, tm, tn } = tile;
  const [threadsM, threadsN, vectors, T] = [bm / tm, bn / tn, bn / 4, threadsOf(tile)];
  const sums = threadsM * rows * vectors;
  const add = (from: number, turn: number) => {
    const at = turn ? `(thread + ${turn * T})` : 'thread';
    const inRows =
      rows === 4 ? `${at} / ${vectors}` : `${at} / ${rows * vectors} * 4 + ${at} / ${vectors} % ${rows}`;
    const row = `${(from >> 2) * 4 * threadsM + (from % 4)} + ${inRows}`;
    const text = [
      `let total = totalOf(${at});`,
      ...stored(row, `${at} % ${vectors} * 4`, 'total', width, slices),
    ];
    return [(turn + 1) * T <= sums ? '{' : `if (${at} < SUMS) {`, ...indent(text), '}'];
  };
  return Array.from({ length: tm / rows }, (_, round) => round * rows).flatMap(from => [
    'workgroupBarrier();',
    ...Array.from({ length: rows }, (_, i) =>
      Array.from(
        { length: tn / 4 },
        (_, h) =>
          `putSum(way, (${rows} * y + ${i}) * ${vectors} + ${h * threadsN} + x, sum${from + i}_${h});`,
      ).join(' '),
    ),
    'workgroupBarrier();',
    ...Array.from({ length: ceilDiv(sums, T) }, (_, turn) => add(from, turn)).flat(),
  ]);
}
