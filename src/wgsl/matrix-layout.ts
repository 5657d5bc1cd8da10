/** The sizes of wgsl/matrix-tile.ts: what is laid over what, in cells, words and bytes. Pure arithmetic, no WGSL. */
import type { Problem } from '../problem.ts';
import type { MatrixConfig } from '../profile.ts';
import { type FewLines, NO_FEW, tilesOf } from './frame.ts';
import { type WidthC, widthStored } from './store.ts';

export interface MatrixTile {
  readonly config: MatrixConfig;
  readonly lanes: number;
  /** Whether the subgroup size has to be asked for. */
  readonly pinned: boolean;
  readonly bm: number;
  readonly bn: number;
  readonly bk: number;
  readonly sm: number;
  readonly sn: number;
  /** 1: plain. 2: A and B each lie as a high and a low part, and three products are summed (split-f32). */
  readonly parts: 1 | 2;
  /**
   * Of two parts in a pipeline: whether the two small products have sums of their own, which are added at the end. The large ones
   * are truncated a third as often then.
   */
  readonly apart: boolean;
  /** Steps of K between two flushes of the accumulators into f32 registers, a divisor of `steps`; 0 for none. */
  readonly flush: number;
  /**
   * 1: a step is fetched, put into workgroup memory and multiplied in turn (matrix-tile.ts). 2: as a pipeline with two buffers in
   * workgroup memory (matrix-pipeline.ts), with steps of one matrix.
   */
  readonly stages: 1 | 2;
  /**
   * Of one stage, 1: fetch the next step's words into registers while the present one is multiplied. Of two, of how many steps
   * registers hold the words: of 1 or 2 that are on their way, or of 4, where two are fetched in one go as soon as the two before
   * them have come. Lines come a round at a time (`together`).
   */
  readonly prefetch: number;
  /** Steps that the main loop takes in a round, a divisor of `steps` and of `flush`: 1, or 2 or 4 that are written out (`stepsTogether`). */
  readonly together: 1 | 2 | 4;
  /**
   * Steps of K in whose space tiles begin at different places, a divisor of `steps`; 0: all begin at the first. Tiles that share operands
   * run side by side: where those come from memory, not from the L2 cache, all of them would wait for the same words at the same time. Of two stages.
   */
  readonly stagger: number;
  readonly a: Source;
  readonly b: Source;
  /**
   * Whether finished sums are taken by the kernel's own `storeScaled`, with scales of the tile's rows and columns that its `giveScales`
   * has put into workgroup memory; else by frame()'s `storeC`.
   */
  readonly scaled: boolean;
  /** How many neighbouring ones it takes at once: `storeWidth`. */
  readonly width: WidthC;
  /** Steps of K, in each slice and way of it. */
  readonly steps: number;
  /**
   * Whether the number of steps is written into the source: the loop needs no guard against running forever then. Not
   * for software GPUs, whose compilers write such a loop out, which takes them minutes.
   */
  readonly fixedSteps: boolean;
  /**
   * Groups of subgroups in a workgroup, each of which makes the whole tile over its part of K: their sums are added in workgroup
   * memory. Of one stage, 1.
   */
  readonly ways: number;
  /** Slices that K is cut into, each of `steps` steps for each way; over 1, bare sums are stored (frame's `partial`). */
  readonly slices: number;
  /** Rows and columns of the last tiles, where those have so few that plain sums make them (matrix-few.ts). */
  readonly few: FewLines;
}

/**
 * An operand packed first: a step's words of a tile lie in one piece, along K, in the order in which the threads fetch them, filled up
 * with zeros (kernels/pack.ts).
 */
export interface Blocked {
  readonly kind: 'blocked';
}

/** An operand as it was given. Distances between a thread's words are constants then, too, which saves the registers for their addresses. */
interface AsItLies {
  /** Words from line to line. */
  readonly ld: number;
  /** Whether the last tile reaches past the operand's last row (of A) or column (of B). */
  readonly ragged: boolean;
  /** Whether K ends within a step, so that what lies behind its end has to be replaced by zeros. */
  readonly guardK: boolean;
}

/** Lines along K: rows of A, or columns of B where it is transposed. */
export interface Lines extends AsItLies {
  readonly kind: 'lines';
}

/** Rows across K: of B, or of A where it is transposed. */
export interface Rows extends AsItLies {
  readonly kind: 'rows';
  /**
   * Whether elements are f32, of which a high and a low part are made on their way into workgroup memory (kernels/scaled-store.ts). In a
   * pipeline only; `ld` counts words of f32 then.
   */
  readonly split?: boolean;
}

export type Source = Blocked | Lines | Rows;

export const SIDES = ['A', 'B'] as const;
export type Side = (typeof SIDES)[number];

export const sourceOf = ({ a, b }: Pick<MatrixTile, 'a' | 'b'>, side: Side): Source => (side === 'A' ? a : b);

export const isAcrossK = (tile: MatrixTile, side: Side): boolean => sourceOf(tile, side).kind === 'rows';

/** Whether a pipeline splits B on its way into workgroup memory. */
export const splitsB = ({ b }: Pick<MatrixTile, 'b'>): boolean => b.kind === 'rows' && b.split === true;

/** Cells of a tile, and of a subgroup's part of it, along M or N. */
export const sizesOf = ({ bm, bn, sm, sn }: MatrixTile, side: Side) =>
  side === 'A' ? { all: bm, own: sm } : { all: bn, own: sn };

const BYTES: Record<string, number> = { f32: 4, f16: 2, i8: 1, u8: 1 };

/** Bytes that are moved at once: 16, or 8 where a row of a matrix is no longer than that. */
export const wordBytes = ({ config }: Pick<MatrixTile, 'config'>): 8 | 16 => {
  const bytes = BYTES[config.componentType];
  return (config.N * bytes) % 16 === 0 && (config.K * bytes) % 16 === 0 ? 16 : 8;
};

/** The WGSL type of such a word. */
export const wordType = (tile: MatrixTile): 'vec4<u32>' | 'vec2<u32>' =>
  wordBytes(tile) === 16 ? 'vec4<u32>' : 'vec2<u32>';

/** Elements of an operand in a word. */
export const wordElements = (tile: Pick<MatrixTile, 'config'>): number =>
  wordBytes(tile) / BYTES[tile.config.componentType];

/** Subgroups that a tile is laid out over. */
export const subgroups = ({ bm, bn, sm, sn }: Pick<MatrixTile, 'bm' | 'bn' | 'sm' | 'sn'>): number =>
  (bm / sm) * (bn / sn);
/** Threads that make a tile over one way's part of K. */
export const threadsOfWay = (tile: Pick<MatrixTile, 'bm' | 'bn' | 'sm' | 'sn' | 'lanes'>): number =>
  subgroups(tile) * tile.lanes;
export const threads = (tile: MatrixTile): number => tile.ways * threadsOfWay(tile);
/** Steps of all of K. */
export const stepsOfK = ({ steps, ways, slices }: Pick<MatrixTile, 'steps' | 'ways' | 'slices'>): number =>
  steps * ways * slices;

/** Cells a subgroup that leave no registers for four steps' words of lines. */
export const MANY_CELLS = 64 * 64;

/**
 * Steps of K that the main loop takes in one round: a pipeline's are written out, so that it is a constant which buffer,
 * matrices and registers each uses. A round's words of lines come together: of four steps, 128 bytes, a whole line of the cache.
 */
export const stepsTogether = ({
  stages,
  prefetch,
  sm,
  sn,
  lined,
}: Pick<MatrixTile, 'stages' | 'prefetch' | 'sm' | 'sn'> & { readonly lined: boolean }): 1 | 2 | 4 => {
  if (stages === 1) return 1;
  return prefetch > 2 || (lined && sm * sn < MANY_CELLS) ? 4 : 2;
};

/** Steps whose words a pipeline fetches in a step of its round: one; or two, right behind the wait for the two before them. */
export const fetchedAt = (step: number, prefetch: number): number[] => {
  if (prefetch < 4) return [step + prefetch];
  return step % 2 === 0 ? [step + 2, step + 3] : [];
};

/** The operands whose words a pipeline fetches a round's at a time. */
export const linedSides = (tile: MatrixTile): Side[] =>
  SIDES.filter(side => tile.stages === 2 && sourceOf(tile, side).kind === 'lines');

/** Operands larger than this don't stay in a large GPU's L2 cache (an H200's: 50 MiB in two halves). */
export const CACHE = 24 * 2 ** 20;

/** `stagger` for operands of so many bytes, or as asked for at the most. */
export const staggerOf = (
  { stages, steps }: Pick<MatrixTile, 'stages' | 'steps'>,
  bytes: number,
  asked = bytes > CACHE ? 64 : 0,
): number => (stages === 1 ? 0 : ([64, 32, 16, 8].find(space => space <= asked && steps % space === 0) ?? 0));

/** Rows or columns of a last tile that plain sums make, of f16: a thread's sums with each are a word of workgroup memory. */
const FEW = 4;

/**
 * The rows and columns of the last tiles that plain sums make (matrix-few.ts), where both operands lie in blocks and threads have whole
 * words of each step.
 */
export function fewLines(
  { m, n }: Pick<Problem, 'm' | 'n'>,
  tile: Pick<MatrixTile, 'config' | 'lanes' | 'bm' | 'bn' | 'bk' | 'sm' | 'sn' | 'stages' | 'a' | 'b'>,
): FewLines {
  const { config, bm, bn, bk, stages, a, b } = tile;
  const halves = config.componentType === 'f16' && wordBytes(tile) === 16;
  if (!halves || stages === 1 || a.kind !== 'blocked' || b.kind !== 'blocked') return NO_FEW;
  const words = bk / wordElements(tile);
  const over = (size: number, own: number, other: number) =>
    size > own && size % own <= FEW && (other * words) % threadsOfWay(tile) === 0 ? size % own : 0;
  return { rows: over(m, bm, bn), cols: over(n, bn, bm) };
}

/** Threads of a grid, each counted twice: half as many fill a device as with kernels that use none of its matrix units. */
export const gridThreads = (problem: Problem, tile: MatrixTile): number =>
  2 * wholeTiles(problem, tile) * threads(tile);

/** Tiles that matrices make: all but those of few rows or columns. */
export const wholeTiles = ({ m, n, batch }: Problem, { bm, bn, few }: MatrixTile): number =>
  tilesOf({ m: m - few.rows, n: n - few.cols, batch }, bm, bn);

/** Words of a line of an operand in a slice of workgroup memory, or of a row across K: of one part, if there are two. */
export const wordsInLine = (tile: MatrixTile, side: Side): number =>
  (isAcrossK(tile, side) ? sizesOf(tile, side).own : tile.bk) / wordElements(tile);

/** Parts of a line that lie side by side there: a pipeline's all do, and are padded but once. */
const partsInLine = ({ stages, parts }: Pick<MatrixTile, 'stages' | 'parts'>): 1 | 2 =>
  stages === 2 ? parts : 1;

/** Words from line to line, or from row to row. One word of padding, so that eight neighbours lie in different banks. */
export const strideOf = (tile: MatrixTile, side: Side): number =>
  partsInLine(tile) * wordsInLine(tile, side) + 1;

/** Sizes in words. A slice is what a subgroup needs of an operand: lines along K, or rows across it. */
export function layout(tile: MatrixTile) {
  const { bm, bn, bk, sm, sn, config, parts } = tile;
  const word = wordElements(tile);
  const [strideA, strideB] = [strideOf(tile, 'A'), strideOf(tile, 'B')];
  const numbers = wordBytes(tile) / 4;
  const staging = (config.M * sn) / numbers;
  return {
    word,
    numbers,
    strideA,
    strideB,
    staging,
    sliceA: Math.max((isAcrossK(tile, 'A') ? bk : sm) * strideA, staging),
    sliceB: (isAcrossK(tile, 'B') ? bk : sn) * strideB,
    slicesA: (bm / sm) * parts,
    slicesB: (bn / sn) * parts,
  };
}

/** Of a row of result matrices, the numbers that each lane gets. */
export const valuesOf = ({ config, sn, lanes }: Pick<MatrixTile, 'config' | 'sn' | 'lanes'>): number =>
  (config.M * sn) / lanes;

/** How many of its numbers a lane can take at once. */
export const laneWidth = (tile: Pick<MatrixTile, 'config' | 'sn' | 'lanes'>): WidthC =>
  valuesOf(tile) % 4 === 0 ? 4 : 1;

/** How many neighbouring cells it can store at once: as many, where their rows allow it. */
export const storeWidth = (
  problem: Problem,
  tile: Pick<MatrixTile, 'config' | 'sn' | 'lanes' | 'slices'>,
): WidthC => (laneWidth(tile) === 1 ? 1 : widthStored(problem, tile.slices));

/** Greatest common divisor. */
const divisor = (x: number, y: number): number => (y === 0 ? x : divisor(y, x % y));

/**
 * The sizes of wgsl/matrix-pipeline.ts, in words if nothing else is said. An operand along K lies in slices of some lines; one
 * across it in a slice for each row or column of subgroups.
 */
export function pipelineLayout(tile: MatrixTile) {
  const { sm, sn, bk, config } = tile;
  const { word, numbers } = layout(tile);
  const lines = divisor(sm, sn);
  const slicesOf = (side: Side) => {
    const { all, own } = sizesOf(tile, side);
    return all / (isAcrossK(tile, side) ? own : lines);
  };
  const sliceOf = (side: Side) => (isAcrossK(tile, side) ? bk : lines) * strideOf(tile, side);
  const slice = Math.max(sliceOf('A'), sliceOf('B'));
  const [slicesA, slicesB] = [slicesOf('A'), slicesOf('B')];
  const slicesAll = slicesA + slicesB;
  const staged = stagedBlock(tile, numbers, slice);
  return {
    word,
    numbers,
    lines,
    slice,
    slicesA,
    slicesB,
    slicesAll,
    ...staged,
    /** Blocks that a subgroup stages at once, one in each of its slices. */
    atOnce: config.M * staged.rowStaged > slice ? 0 : Math.floor(slicesAll / subgroups(tile)),
  };
}

/**
 * Results are staged in blocks: of some matrices side by side, in rows that begin every `rowStaged` words. Where a slice has room for
 * it, rows are two words longer than what they hold, so that numbers which are stored at once fall into different banks.
 */
function stagedBlock({ config: { M, N }, sn }: MatrixTile, numbers: number, slice: number) {
  const blocks = [
    { wide: 2, padding: 2 },
    { wide: 1, padding: 2 },
    { wide: 1, padding: 0 },
  ].map(({ wide, padding }) => ({
    /** Matrices side by side. */
    wide,
    rowStaged: (wide * N) / numbers + padding,
    /** Whether rows are taken in another order: of two neighbouring ones, eight lanes would read from the same banks. */
    spread: wide === 1 && padding > 0,
  }));
  const fits = ({ wide, rowStaged }: (typeof blocks)[number]) =>
    (sn / N) % wide === 0 && M * rowStaged <= slice;
  return blocks.find(fits) ?? blocks[2];
}

/** The function that takes a finished sum. */
export const storeOf = ({ scaled }: MatrixTile): string => (scaled ? 'storeScaled' : 'storeC');

/** Bytes of workgroup memory that the tile's scales take. */
export const scaleBytes = ({ scaled, bm, bn }: MatrixTile): number => (scaled ? (bm + bn) * 4 : 0);

export const workgroupMemory = (tile: MatrixTile): number => {
  if (tile.stages === 2) {
    const { slice, slicesAll } = pipelineLayout(tile);
    return 2 * tile.ways * slice * slicesAll * wordBytes(tile) + scaleBytes(tile);
  }
  const { sliceA, slicesA, sliceB, slicesB } = layout(tile);
  return (sliceA * slicesA + sliceB * slicesB) * wordBytes(tile) + scaleBytes(tile);
};

/** Why these sizes make no pipeline, or null. */
function misfitOfPipeline(tile: MatrixTile): string | null {
  const { bk, config, lanes, prefetch } = tile;
  if (bk !== config.K) return `a pipeline's steps are one matrix deep: bk has to be ${config.K}`;
  if (![1, 2, 4].includes(prefetch)) return 'a pipeline holds words of 1, 2 or 4 steps';
  const lines = threadsOfWay(tile) / (tile.together * (bk / wordElements(tile)));
  for (const side of linedSides(tile)) {
    const { all } = sizesOf(tile, side);
    if (lines % 1 !== 0 || all % lines !== 0)
      return `${threadsOfWay(tile)} threads do not fetch ${tile.together} steps of ${all} lines evenly`;
  }
  if (prefetch === 4 && linedSides(tile).length > 0 && tile.sm * tile.sn >= MANY_CELLS)
    return 'there are no registers for four steps of lines';
  const { atOnce } = pipelineLayout(tile);
  if (tile.flush > 0 && wordBytes(tile) !== 16) return 'totals go through words of 16 bytes';
  if (((config.M * config.N) / 4) % lanes !== 0)
    return `${lanes} lanes cannot share a matrix of ${config.M}×${config.N} in fours`;
  return atOnce > 0 ? null : 'there is no room in workgroup memory to stage results';
}

/** Why these sizes do not go together, or null: every thread fetches the same number of words, eight rows at a time. */
export function misfit(tile: MatrixTile): string | null {
  const { bm, bn, bk, sm, sn, config } = tile;
  if (tile.stages === 2) {
    const reason = misfitOfPipeline(tile);
    if (reason !== null) return reason;
  } else if (tile.ways > 1) return 'only a pipeline cuts K into ways';
  const word = wordElements(tile);
  const T = threadsOfWay(tile);
  const [wordsA, wordsB] = [bk / word, bn / word];
  const fits =
    [bm / sm, bn / sn, sm / config.M, sn / config.N, bk / config.K, sn / word].every(Number.isInteger) &&
    T % (8 * wordsA) === 0 &&
    T % wordsB === 0 &&
    (bm * wordsA) % T === 0 &&
    (bk * wordsB) % T === 0 &&
    (tile.a.kind !== 'rows' || (config.M % word === 0 && T % (bm / word) === 0));
  return fits
    ? null
    : `${bm}×${bn}×${bk} with ${sm}×${sn} a subgroup does not divide evenly among ${T} threads`;
}
