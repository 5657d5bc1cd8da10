/** Where the threads of wgsl/matrix-tile.ts fetch a step's words from, and where in workgroup memory they go, as WGSL. */
import {
  type Blocked,
  isAcrossK,
  type Lines,
  layout,
  linedSides,
  type MatrixTile,
  type Rows,
  SIDES,
  type Side,
  sizesOf,
  sourceOf,
  stepsOfK,
  strideOf,
  threadsOfWay,
  wordElements,
} from './matrix-layout.ts';
import { over, plus } from './terms.ts';

/** Where one of a thread's words is fetched from, and where in workgroup memory it goes, as WGSL. */
export interface Place {
  readonly at: (part: number) => string;
  readonly slice: string | number;
  readonly inner: string;
}

/** Of an operand, where a thread's words of a step are; along K they lie in slices of `lines` each. */
export function placesOf(tile: MatrixTile, side: Side, lines = sizesOf(tile, side).own): Place[] {
  const source = sourceOf(tile, side);
  return source.kind === 'rows' ? placesAcrossK(tile, side, source) : placesAlongK(tile, side, source, lines);
}

/** Along K, a thread fetches a word of every so many-th line. */
function placesAlongK(tile: MatrixTile, side: Side, source: Blocked | Lines, lines: number): Place[] {
  const { all } = sizesOf(tile, side);
  const { word } = layout(tile);
  const stride = strideOf(tile, side);
  const words = tile.bk / word;
  if (source.kind === 'blocked') return placesInBlock(tile, side, all, lines, stride);
  const { delta, line, ofLine, at } = alongLine(tile, side);
  const { first, size } = IN_C[side];
  return Array.from({ length: all / delta }, (_, i) => ({
    at: () =>
      asItLies(
        side,
        source,
        source.ragged
          ? `min(${first} + ${plus(i * delta, line)}, ${size} - 1) * ${source.ld} + from${side}`
          : plus(i * delta * source.ld, `from${side}`),
        `now * ${words}`,
        `now * ${words} + ${ofLine} < params.k / ${word}`,
      ),
    ...inSlice(side, i * delta, lines, stride, { delta, line, at }),
  }));
}

/** The tile's first row or column of C, and how many there are. */
const IN_C = {
  A: { first: 'tile.row', size: 'params.m' },
  B: { first: 'tile.col', size: 'params.n' },
} as const;

/** How the threads share the lines of an operand along K: names of a thread's first line, its word of it, and that word's place in its step. */
function alongLine(tile: MatrixTile, side: Side) {
  const words = tile.bk / layout(tile).word;
  const threads = threadsOfWay(tile);
  return linedSides(tile).includes(side)
    ? {
        delta: threads / (tile.together * words),
        ...{ line: 'lineOfRound', ofLine: 'wordOfRound', at: 'atRound' },
      }
    : { delta: threads / words, line: 'line', ofLine: 'atK', at: 'atK' };
}

/** Across K, a thread fetches one column of words, every so many-th row of it. */
function placesAcrossK(tile: MatrixTile, side: Side, source: Rows): Place[] {
  const { bk } = tile;
  const delta = threadsOfWay(tile) / (sizesOf(tile, side).all / wordElements(tile));
  return Array.from({ length: bk / delta }, (_, i) => ({
    // Split here, the first or the second half of a word that is to be; else the word.
    at: half =>
      asItLies(
        side,
        source,
        plus(i * delta * source.ld + (source.split ? half : 0), `from${side}`),
        `now * ${bk * source.ld}`,
        `${plus(i * delta, `now * BK + row${side}`)} < params.k`,
      ),
    slice: `column${side}`,
    inner: plus(i * delta * strideOf(tile, side), `to${side}`),
  }));
}

/** A step's words in the order in which the threads fetch them: line by line, along K. */
function placesInBlock(
  tile: MatrixTile,
  side: Side,
  lines: number,
  linesOfSlice: number,
  stride: number,
): Place[] {
  const words = tile.bk / layout(tile).word;
  const T = threadsOfWay(tile);
  const delta = T / words;
  return Array.from({ length: (lines * words) / T }, (_, i) => ({
    at: part => `${side.toLowerCase()}[${plus(i * T, `block${side}${part} + now * ${lines * words}`)}]`,
    ...inSlice(side, i * delta, linesOfSlice, stride, { delta, line: 'line', at: 'atK' }),
  }));
}

/** Whether a thread's lines, `delta` apart, begin at the same line of every slice. */
const sameLine = (lines: number, delta: number) => lines % delta === 0;

/** Where word `at` of the line `first` lines below the thread's own goes. */
function inSlice(
  side: Side,
  first: number,
  lines: number,
  stride: number,
  { delta, line, at }: { readonly delta: number; readonly line: string; readonly at: string },
) {
  return sameLine(lines, delta)
    ? { slice: Math.floor(first / lines), inner: plus((first % lines) * stride, `to${side}`) }
    : {
        slice: `(${plus(first, line)}) / ${lines}`,
        inner: `(${plus(first, line)}) % ${lines} * ${stride} + ${at}`,
      };
}

function asItLies(side: Side, { guardK }: Lines | Rows, from: string, step: string, inside: string) {
  const word = `${side.toLowerCase()}[${from} + ${step}]`;
  return guardK ? `select(Word(), ${word}, ${inside})` : word;
}

/** What all of a thread's places along K have in common. */
function declareLine(words: number, threads: number): string {
  return [
    `// Along K, this thread fetches word atK of its line and of every ${threads / words}th line below. Eight neighbouring threads`,
    '// take eight lines, so that their stores fall into different banks.',
    `let line = thread / ${8 * words} * 8 + thread % 8;`,
    `let atK = thread / 8 % ${words};`,
  ].join('\n');
}

/**
 * What a thread's places have in common where lines come a round at a time. Eight rows of threads take the even lines first, so
 * that neighbouring stores fall into different banks.
 */
function declareRound(tile: MatrixTile, sides: readonly string[]): string[] {
  const words = tile.bk / layout(tile).word;
  const together = tile.together * words;
  const delta = threadsOfWay(tile) / together;
  const row = `thread / ${together}`;
  return [
    `// Of ${sides.join(' and ')}, this thread fetches word wordOfRound of ${tile.together} steps' words of its line and of every ${delta}th line below: all of one step.`,
    `let wordOfRound = thread % ${together};`,
    delta % 8 === 0
      ? `let lineOfRound = thread / ${8 * together} * 8 + ${row} % 4 * 2 + thread / ${4 * together} % 2;`
      : `let lineOfRound = ${row};`,
    `let stepOfRound = ${over('wordOfRound', words)};`,
    `let atRound = ${words > 1 ? `wordOfRound % ${words}` : '0u'};`,
  ];
}

/** Where an operand's blocks begin that this thread fetches its words from. */
function declareBlocks(tile: MatrixTile, side: Side): string[] {
  const { bk, parts } = tile;
  const size = (sizesOf(tile, side).all * bk) / wordElements(tile);
  const index = side === 'A' ? 'tile.row / BM' : 'tile.col / BN';
  return Array.from(
    { length: parts },
    (_, part) =>
      `let block${side}${part} = (params.offset${side} + ${part ? `params.part${side} + ` : ''}tile.batch * params.stride${side}) / WORD + ${index} * ${stepsOfK(tile) * size} + thread;`,
  );
}

/** What all of a thread's places have in common; of operands along K with the slices that `placesOf` was given. */
export function declarePlaces(tile: MatrixTile, lines?: number): string {
  const lined = linedSides(tile);
  const byLine = SIDES.filter(side => !isAcrossK(tile, side) && !lined.includes(side));
  return [
    ...(byLine.length > 0 ? [declareLine(tile.bk / layout(tile).word, threadsOfWay(tile))] : []),
    ...(lined.length > 0 ? declareRound(tile, lined) : []),
    ...SIDES.flatMap(side => declareSide(tile, side, lines)),
  ].join('\n');
}

const declareSide = (tile: MatrixTile, side: Side, lines = sizesOf(tile, side).own): string[] => {
  const source = sourceOf(tile, side);
  return source.kind === 'rows'
    ? declareAcrossK(tile, side, source)
    : declareAlongK(tile, side, source, lines);
};

/** Where the first of a thread's words of an operand along K comes from and, where that is alike in every slice, where it goes. */
function declareAlongK(tile: MatrixTile, side: Side, source: Blocked | Lines, lines: number): string[] {
  const { delta, line, ofLine, at } = alongLine(tile, side);
  const inTile = source.kind === 'lines' && !source.ragged;
  return [
    ...(sameLine(lines, delta)
      ? [`let to${side} = ${line} % ${lines} * ${strideOf(tile, side)} + ${at};`]
      : []),
    ...(source.kind === 'blocked'
      ? declareBlocks(tile, side)
      : [
          `let from${side} = ${beginOf(side)} / WORD + ${ofLine}${inTile ? ` + (${IN_C[side].first} + ${line}) * ${source.ld}` : ''};`,
        ]),
  ];
}

function declareAcrossK(tile: MatrixTile, side: Side, { ld, ragged, split }: Rows): string[] {
  const word = wordElements(tile);
  const { all, own } = sizesOf(tile, side);
  const { first, size } = IN_C[side];
  const words = all / word;
  return [
    `// Of ${side}, it fetches column at${side} of words, in row row${side} and every ${threadsOfWay(tile) / words}th row below.`,
    `let row${side} = thread / ${words};`,
    `let at${side} = thread % ${words};`,
    `let column${side} = at${side} / ${own / word};`,
    `let to${side} = row${side} * ${strideOf(tile, side)} + at${side} % ${own / word};`,
    `let col${side} = ${ragged ? `// Columns past the edge repeat the last ones: what they add up to is never stored.\n  min(${first} / WORD + at${side}, ${size} / WORD - 1)` : `${first} / WORD + at${side}`};`,
    split
      ? `let from${side} = ${beginOf(side)} / 4 + row${side} * ${ld} + col${side} * 2;`
      : `let from${side} = ${beginOf(side)} / WORD + row${side} * ${ld} + col${side};`,
  ];
}

/** Where an operand of this product begins, in elements. */
const beginOf = (side: Side) => `(params.offset${side} + tile.batch * params.stride${side})`;
