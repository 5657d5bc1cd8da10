/** Where the threads of wgsl/matrix-tile.ts fetch a step's words from, and where in workgroup memory they go, as WGSL. */
import { inLines, layout, type MatrixTile, stepsOfK, threadsOfWay, wordElements } from './matrix-layout.ts';
import { plus } from './terms.ts';

/** Where one of a thread's words is fetched from, and where in workgroup memory it goes, as WGSL. */
export interface Place {
  readonly at: (part: number) => string;
  readonly slice: string | number;
  readonly inner: string;
}

/** Of A, a thread fetches every ΔM-th row's word; in workgroup memory they lie in slices of so many lines. */
export function placesA(tile: MatrixTile, lines = tile.sm): Place[] {
  const { bm, bk, a } = tile;
  const { word, strideA } = layout(tile);
  const words = bk / word;
  if (a.kind === 'blocked') return placesInBlock(tile, 'A', bm, lines, strideA);
  const [delta, line, ofLine] = inLines(tile)
    ? [threadsOfWay(tile) / (tile.together * words), 'lineA', 'wordA']
    : [threadsOfWay(tile) / words, 'line', 'atK'];
  return Array.from({ length: bm / delta }, (_, i) => ({
    at: () =>
      rowsWord(
        'a',
        a,
        a.ragged
          ? `min(tile.row + ${plus(i * delta, line)}, params.m - 1) * ${a.ld} + fromA`
          : plus(i * delta * a.ld, 'fromA'),
        `now * ${words}`,
        `now * ${words} + ${ofLine} < params.k / ${word}`,
      ),
    ...inSlice('A', i * delta, lines, strideA, delta, line, inLines(tile) ? 'atA' : 'atK'),
  }));
}

/** Of B in rows, a thread fetches one column of words, every ΔK-th row of it; of B in blocks, as of A. */
export function placesB(tile: MatrixTile, lines = tile.sn): Place[] {
  const { bn, bk, b } = tile;
  const { word, strideB } = layout(tile);
  if (b.kind === 'blocked') return placesInBlock(tile, 'B', bn, lines, strideB);
  const delta = threadsOfWay(tile) / (bn / word);
  return Array.from({ length: bk / delta }, (_, i) => ({
    // Split here, the first or the second half of a word that is to be; else the word.
    at: half =>
      rowsWord(
        'b',
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
    ...inSlice(side, i * delta, linesOfSlice, stride, delta),
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
  delta: number,
  line = 'line',
  at = 'atK',
) {
  return sameLine(lines, delta)
    ? { slice: Math.floor(first / lines), inner: plus((first % lines) * stride, `to${side}`) }
    : {
        slice: `(${plus(first, line)}) / ${lines}`,
        inner: `(${plus(first, line)}) % ${lines} * ${stride} + ${at}`,
      };
}

const rowsWord = (
  array: string,
  { guardK }: { guardK: boolean },
  from: string,
  step: string,
  inside: string,
) => (guardK ? `select(Word(), ${array}[${from} + ${step}], ${inside})` : `${array}[${from} + ${step}]`);

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
 * What a thread's places in A's rows have in common where those come a line at a time. Eight rows of threads take the even
 * lines first, so that neighbouring stores fall into different banks.
 */
function declareLineA(tile: MatrixTile): string[] {
  const words = tile.bk / layout(tile).word;
  const together = tile.together * words;
  const delta = threadsOfWay(tile) / together;
  const row = `thread / ${together}`;
  return [
    `// Of A, this thread fetches word wordA of ${tile.together} steps' words of its line and of every ${delta}th line below: all of one step.`,
    `let wordA = thread % ${together};`,
    delta % 8 === 0
      ? `let lineA = thread / ${8 * together} * 8 + ${row} % 4 * 2 + thread / ${4 * together} % 2;`
      : `let lineA = ${row};`,
    `let stepA = wordA${words > 1 ? ` / ${words}` : ''};`,
    `let atA = ${words > 1 ? `wordA % ${words}` : '0u'};`,
  ];
}

/** Where the first of them goes in a slice of so many lines; nothing where that differs from slice to slice. */
const declareFirst = (
  side: 'A' | 'B',
  lines: number,
  stride: number,
  delta: number,
  line = 'line',
  at = 'atK',
): string[] => (sameLine(lines, delta) ? [`let to${side} = ${line} % ${lines} * ${stride} + ${at};`] : []);

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
  const { bn, bk, sn, a, b } = tile;
  const { word, strideA, strideB } = layout(tile);
  const [words, wordsB] = [bk / word, bn / word];
  const T = threadsOfWay(tile);
  const lined = inLines(tile);
  const [line, ofLine, at] = lined ? ['lineA', 'wordA', 'atA'] : ['line', 'atK', 'atK'];
  return [
    ...(lined && b.kind === 'rows' ? [] : [declareLine(words, T)]),
    ...(lined ? declareLineA(tile) : []),
    ...declareFirst('A', linesA, strideA, T / (lined ? tile.together * words : words), line, at),
    ...(a.kind === 'blocked'
      ? declareBlocks(tile, 'A')
      : [
          `let fromA = (params.offsetA + tile.batch * params.strideA) / WORD + ${ofLine}${a.ragged ? '' : ` + (tile.row + ${line}) * ${a.ld}`};`,
        ]),
    ...(b.kind === 'blocked'
      ? [...declareFirst('B', linesB, strideB, T / words), ...declareBlocks(tile, 'B')]
      : [
          `// Of B, it fetches column atB of words, in row rowB and every ${T / wordsB}th row below.`,
          `let rowB = thread / ${wordsB};`,
          `let atB = thread % ${wordsB};`,
          `let columnB = atB / ${sn / word};`,
          `let toB = rowB * ${strideB} + atB % ${sn / word};`,
          `let colB = ${b.ragged ? '// Columns past the edge repeat the last ones: what they add up to is never stored.\n  min(tile.col / WORD + atB, params.n / WORD - 1)' : 'tile.col / WORD + atB'};`,
          b.split
            ? `let fromB = (params.offsetB + tile.batch * params.strideB) / 4 + rowB * ${b.ld} + colB * 2;`
            : `let fromB = (params.offsetB + tile.batch * params.strideB) / WORD + rowB * ${b.ld} + colB;`,
        ]),
  ].join('\n');
}
