/** Where the threads of wgsl/matrix-tile.ts fetch a step's words from, and where in workgroup memory they go, as WGSL. */
import { layout, type MatrixTile, threads } from './matrix-layout.ts';

/** Where one of a thread's words is fetched from, and where in workgroup memory it goes, as WGSL. */
export interface Place {
  readonly at: (part: number) => string;
  readonly slice: string | number;
  readonly inner: string;
}

/** WGSL: a sum whose constant part may be 0. */
export const plus = (constant: number, rest: string | number) =>
  typeof rest === 'number' ? `${constant + rest}` : constant ? `${rest} + ${constant}` : rest;

/**
 * Of A, a thread fetches every ΔM-th row's word. Eight neighbouring threads take eight rows, so that their stores fall into
 * different banks.
 */
export function placesA(tile: MatrixTile): Place[] {
  const { bm, bk, sm, a } = tile;
  const { word, strideA } = layout(tile);
  const words = bk / word;
  const T = threads(tile);
  const delta = T / words;
  return Array.from({ length: (bm * words) / T }, (_, i) => {
    const row = plus(i * delta, 'rowA');
    return {
      at: part =>
        a.kind === 'blocked'
          ? `a[${plus(i * T, `blockA${part} + now * ${bm * words}`)}]`
          : rowsWord(
              'a',
              a,
              a.ragged
                ? `min(tile.row + ${row}, params.m - 1) * ${a.ld} + fromA`
                : plus(i * delta * a.ld, 'fromA'),
              `now * ${words}`,
              `now * ${words} + atA < params.k / ${word}`,
            ),
      slice: sm % delta === 0 ? Math.floor((i * delta) / sm) : `(${row}) / ${sm}`,
      inner:
        sm % delta === 0 ? plus(((i * delta) % sm) * strideA, 'toA') : `(${row}) % ${sm} * ${strideA} + atA`,
    };
  });
}

/** Of B, a thread fetches one column of words, every ΔK-th row of it. */
export function placesB(tile: MatrixTile): Place[] {
  const { bn, bk, b } = tile;
  const { word, strideB } = layout(tile);
  const words = bn / word;
  const T = threads(tile);
  const delta = T / words;
  return Array.from({ length: (bk * words) / T }, (_, i) => ({
    at: part =>
      b.kind === 'blocked'
        ? `b[${plus(i * T, `blockB${part} + now * ${bk * words}`)}]`
        : rowsWord(
            'b',
            b,
            plus(i * delta * b.ld, 'fromB'),
            `now * ${bk * b.ld}`,
            `${plus(i * delta, 'now * BK + rowB')} < params.k`,
          ),
    slice: 'sliceB',
    inner: plus(i * delta * strideB, 'toB'),
  }));
}

const rowsWord = (
  array: string,
  { guardK }: { guardK: boolean },
  from: string,
  step: string,
  inside: string,
) => (guardK ? `select(Word(), ${array}[${from} + ${step}], ${inside})` : `${array}[${from} + ${step}]`);

/** What all of a thread's places have in common. */
export function declarePlaces(tile: MatrixTile): string {
  const { bm, bn, bk, sn, a, b, parts, steps, slices } = tile;
  const { word, strideA, strideB } = layout(tile);
  const [wordsA, wordsB] = [bk / word, bn / word];
  const T = threads(tile);
  const partNames = parts === 1 ? [0] : [0, 1];
  const block = (side: 'A' | 'B', part: number, tileIndex: string, size: number) =>
    `let block${side}${part} = (params.offset${side} + ${part ? `params.part${side} + ` : ''}tile.batch * params.stride${side}) / WORD + ${tileIndex} * ${steps * slices * size} + thread;`;
  return [
    `// Of A, this thread fetches word atA of row rowA and of every ${T / wordsA}th row below.`,
    `let rowA = thread / ${8 * wordsA} * 8 + thread % 8;`,
    `let atA = thread / 8 % ${wordsA};`,
    `let toA = rowA % ${tile.sm} * ${strideA} + atA;`,
    ...(a.kind === 'blocked'
      ? partNames.map(part => block('A', part, `tile.row / BM`, bm * wordsA))
      : [
          `let fromA = (params.offsetA + tile.batch * params.strideA) / WORD + atA${a.ragged ? '' : ` + (tile.row + rowA) * ${a.ld}`};`,
        ]),
    `// Of B, it fetches column atB of words, in row rowB and every ${T / wordsB}th row below.`,
    `let rowB = thread / ${wordsB};`,
    `let atB = thread % ${wordsB};`,
    `let sliceB = atB / ${sn / word};`,
    `let toB = rowB * ${strideB} + atB % ${sn / word};`,
    ...(b.kind === 'blocked'
      ? partNames.map(part => block('B', part, `tile.col / BN`, bk * wordsB))
      : [
          `let colB = ${b.ragged ? '// Columns past the edge repeat the last ones: what they add up to is never stored.\n  min(tile.col / WORD + atB, params.n / WORD - 1)' : 'tile.col / WORD + atB'};`,
          `let fromB = (params.offsetB + tile.batch * params.strideB) / WORD + rowB * ${b.ld} + colB;`,
        ]),
  ].join('\n');
}
