/** Where the threads of wgsl/matrix-tile.ts fetch a step's words from, and where in workgroup memory they go, as WGSL. */
import {
  type Blocked,
  type Lines,
  layout,
  linedSides,
  type MatrixTile,
  type Rows,
  stepsOfK,
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

/** Of an operand along K, a thread fetches a word of every so many-th line; in workgroup memory they lie in slices of `lines` each. */
function placesAlongK(tile: MatrixTile, side: 'A' | 'B', source: Blocked | Lines, lines: number): Place[] {
  const all = side === 'A' ? tile.bm : tile.bn;
  const { word, strideA: stride } = layout(tile);
  const words = tile.bk / word;
  if (source.kind === 'blocked') return placesInBlock(tile, side, all, lines, stride);
  const [first, last] = side === 'A' ? ['tile.row', 'params.m - 1'] : ['tile.col', 'params.n - 1'];
  const { delta, line, ofLine, at } = alongLine(tile, side);
  return Array.from({ length: all / delta }, (_, i) => ({
    at: () =>
      asItLies(
        side,
        source,
        source.ragged
          ? `min(${first} + ${plus(i * delta, line)}, ${last}) * ${source.ld} + from${side}`
          : plus(i * delta * source.ld, `from${side}`),
        `now * ${words}`,
        `now * ${words} + ${ofLine} < params.k / ${word}`,
      ),
    ...inSlice(side, i * delta, lines, stride, { delta, line, at }),
  }));
}

/** How the threads share the lines of an operand along K: names of a thread's first line, its word of it, and that word's place in its step. */
function alongLine(tile: MatrixTile, side: 'A' | 'B') {
  const words = tile.bk / layout(tile).word;
  const threads = threadsOfWay(tile);
  return linedSides(tile).includes(side)
    ? {
        delta: threads / (tile.together * words),
        ...{ line: 'lineOfRound', ofLine: 'wordOfRound', at: 'atRound' },
      }
    : { delta: threads / words, line: 'line', ofLine: 'atK', at: 'atK' };
}

export const placesA = (tile: MatrixTile, lines = tile.sm): Place[] => placesAlongK(tile, 'A', tile.a, lines);

/** Of B in rows, a thread fetches one column of words, every ΔK-th row of it. */
export function placesB(tile: MatrixTile, lines = tile.sn): Place[] {
  const { bn, bk, b } = tile;
  if (b.kind !== 'rows') return placesAlongK(tile, 'B', b, lines);
  const { word, strideB } = layout(tile);
  const delta = threadsOfWay(tile) / (bn / word);
  return Array.from({ length: bk / delta }, (_, i) => ({
    // Split here, the first or the second half of a word that is to be; else the word.
    at: half =>
      asItLies(
        'B',
        b,
        plus(i * delta * b.ld + (b.split ? half : 0), 'fromB'),
        `now * ${bk * b.ld}`,
        `${plus(i * delta, 'now * BK + rowB')} < params.k`,
      ),
    slice: 'columnB',
    inner: plus(i * delta * strideB, 'toB'),
  }));
}

/** A step's words in the order in which the threads fetch them: line by line, along K. */
function placesInBlock(
  tile: MatrixTile,
  side: 'A' | 'B',
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
  side: 'A' | 'B',
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

function asItLies(side: 'A' | 'B', { guardK }: Lines | Rows, from: string, step: string, inside: string) {
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
function declareBlocks(tile: MatrixTile, side: 'A' | 'B'): string[] {
  const { bm, bn, bk, parts } = tile;
  const size = ((side === 'A' ? bm : bn) * bk) / wordElements(tile);
  const index = side === 'A' ? 'tile.row / BM' : 'tile.col / BN';
  return Array.from(
    { length: parts },
    (_, part) =>
      `let block${side}${part} = (params.offset${side} + ${part ? `params.part${side} + ` : ''}tile.batch * params.stride${side}) / WORD + ${index} * ${stepsOfK(tile) * size} + thread;`,
  );
}

/** What all of a thread's places have in common, in slices of so many lines of A and of B. */
export function declarePlaces(tile: MatrixTile, linesA = tile.sm, linesB = tile.sn): string {
  const { a, b, bk } = tile;
  const lined = linedSides(tile);
  const alongK = [...(['A'] as const), ...(b.kind === 'rows' ? [] : (['B'] as const))];
  return [
    ...(alongK.every(side => lined.includes(side))
      ? []
      : [declareLine(bk / layout(tile).word, threadsOfWay(tile))]),
    ...(lined.length > 0 ? declareRound(tile, lined) : []),
    ...declareAlongK(tile, 'A', a, linesA),
    ...(b.kind === 'rows' ? declareRows(tile, b) : declareAlongK(tile, 'B', b, linesB)),
  ].join('\n');
}

/** Where the first of a thread's words of an operand along K comes from and, where that is alike in every slice, where it goes. */
function declareAlongK(tile: MatrixTile, side: 'A' | 'B', source: Blocked | Lines, lines: number): string[] {
  const { delta, line, ofLine, at } = alongLine(tile, side);
  const first = side === 'A' ? 'tile.row' : 'tile.col';
  return [
    ...(sameLine(lines, delta)
      ? [`let to${side} = ${line} % ${lines} * ${layout(tile).strideA} + ${at};`]
      : []),
    source.kind === 'blocked'
      ? declareBlocks(tile, side)
      : `let from${side} = (params.offset${side} + tile.batch * params.stride${side}) / WORD + ${ofLine}${source.ragged ? '' : ` + (${first} + ${line}) * ${source.ld}`};`,
  ].flat();
}

function declareRows(tile: MatrixTile, { ld, ragged, split }: Rows): string[] {
  const { bn, sn } = tile;
  const { word, strideB } = layout(tile);
  const wordsB = bn / word;
  return [
    `// Of B, it fetches column atB of words, in row rowB and every ${threadsOfWay(tile) / wordsB}th row below.`,
    `let rowB = thread / ${wordsB};`,
    `let atB = thread % ${wordsB};`,
    `let columnB = atB / ${sn / word};`,
    `let toB = rowB * ${strideB} + atB % ${sn / word};`,
    `let colB = ${ragged ? '// Columns past the edge repeat the last ones: what they add up to is never stored.\n  min(tile.col / WORD + atB, params.n / WORD - 1)' : 'tile.col / WORD + atB'};`,
    split
      ? `let fromB = (params.offsetB + tile.batch * params.strideB) / 4 + rowB * ${ld} + colB * 2;`
      : `let fromB = (params.offsetB + tile.batch * params.strideB) / WORD + rowB * ${ld} + colB;`,
  ];
}
