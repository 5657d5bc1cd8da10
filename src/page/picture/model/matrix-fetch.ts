/** Where the threads of rungs 10 and 11 fetch a step's words from, and where they go: wgsl/matrix-fetch.ts. */
import type { Shape } from '../../../ladder/rung.ts';
import {
  type Blocked,
  type Lines,
  layout,
  type MatrixTile,
  pipelineLayout,
  threads as threadsOf,
  wordsInLine,
} from '../../../wgsl/matrix-layout.ts';
import type { Thread } from './trace.ts';

/** One word of a thread's. */
interface Place {
  /** The operand's index. */
  readonly from: (part: number, step: number) => number;
  /** The index in workgroup memory. */
  readonly to: (part: number) => number;
}

/** A thread's words of each operand. */
export interface Places {
  readonly a: readonly Place[];
  readonly b: readonly Place[];
}

/** How an operand's words lie in workgroup memory. */
interface Slices {
  /** Lines of a slice, where the operand lies along K. */
  readonly lines: number;
  /** Words of a slice. */
  readonly slice: number;
  /** Slices of the same array that lie before the operand's. */
  readonly first: number;
  /** Words from a number's high part to its low part. */
  readonly low: number;
}

/** Of wgsl/matrix-tile.ts, where each operand has an array of its own, its slices of low parts behind those of high ones. */
export function placesInTwo(shape: Shape, tile: MatrixTile, t: Thread): Places {
  const { bm, bn, sm, sn } = tile;
  const { sliceA, sliceB } = layout(tile);
  const inA = { lines: sm, slice: sliceA, first: 0, low: (bm / sm) * sliceA };
  const inB = { lines: sn, slice: sliceB, first: 0, low: (bn / sn) * sliceB };
  return { a: placesA(shape, tile, t, inA), b: placesB(shape, tile, t, inB) };
}

/** A thread's words of a pipeline. */
export interface PipelinePlaces {
  /** Words that come step by step. */
  readonly ofStep: Places;
  /** Words of A that come for a round of steps at once: all of a thread's are of the same step of it. */
  readonly ofRound: { readonly places: readonly Place[]; readonly step: number };
}

/** Of wgsl/matrix-pipeline.ts, where slices of B follow those of A, and a line's low part its high one. */
export function placesInOne(shape: Shape, tile: MatrixTile, t: Thread): PipelinePlaces {
  const { lines, slice, slicesA } = pipelineLayout(tile);
  const inA = { lines, slice, first: 0, low: wordsInLine(tile, 'A') };
  const b = placesB(shape, tile, t, { lines, slice, first: slicesA, low: wordsInLine(tile, 'B') });
  return tile.a.kind === 'lines'
    ? { ofStep: { a: [], b }, ofRound: placesOfRound(tile, tile.a, t, inA) }
    : { ofStep: { a: placesA(shape, tile, t, inA), b }, ofRound: { places: [], step: 0 } };
}

/** The cells of a step's words, as a thread has fetched them, for each part of the operands. */
export type Fetched = readonly Readonly<Record<keyof Places, readonly Int32Array[]>>[];

/**
 * Fetches a step's words, each in a step of the picture.
 *
 * @param of the step that they are taken to be, where past the end of K the last one is fetched again, and not used
 */
export function fetchWords(t: Thread, tile: MatrixTile, places: Places, now: number, of = now): Fetched {
  const { bk, parts } = tile;
  const read = (array: keyof Places, part: number) =>
    places[array].map(({ from }) => {
      t.step('fetch', of * bk, (of + 1) * bk);
      return t.read(array, from(part, now));
    });
  return Array.from({ length: parts }, (_, part) => ({ a: read('a', part), b: read('b', part) }));
}

/**
 * Fetches a round's words of A, each in a step of the picture.
 *
 * @param first step of the round
 * @param of the step that it is taken to be, where it lies past the end of K
 */
export function fetchRound(
  t: Thread,
  { bk, together }: MatrixTile,
  places: readonly Place[],
  first: number,
  of = first,
): Int32Array[] {
  return places.map(({ from }) => {
    t.step('fetch', of * bk, (of + together) * bk);
    return t.read('a', from(0, first));
  });
}

function placesA(shape: Shape, tile: MatrixTile, t: Thread, slices: Slices): Place[] {
  if (tile.a.kind === 'rows') throw new RangeError('a transposed A is not drawn');
  const side = { source: tile.a, tile: t.tileRow, all: shape.m, linesOfTile: tile.bm };
  return alongK(shape, tile, t.index, { ...side, ...slices });
}

function placesB(shape: Shape, tile: MatrixTile, t: Thread, slices: Slices): Place[] {
  const { bn, bk, sn, b } = tile;
  const { word, strideB } = layout(tile);
  if (b.kind !== 'rows') {
    const side = { source: b, tile: t.tileCol, all: shape.n, linesOfTile: bn };
    return alongK(shape, tile, t.index, { ...side, ...slices });
  }
  const [words, wordsOfSlice] = [bn / word, sn / word];
  const rows = threadsOf(tile) / words;
  const at = t.index % words;
  const slice = slices.first + Math.floor(at / wordsOfSlice);
  return Array.from({ length: bk / rows }, (_, i) => {
    const row = Math.floor(t.index / words) + i * rows;
    return {
      from: (_, step) => (step * bk + row) * b.ld + t.tileCol * words + at,
      to: part => part * slices.low + slice * slices.slice + row * strideB + (at % wordsOfSlice),
    };
  });
}

/**
 * Of A's lines: neighbouring threads take neighbouring words of a round, of every so many-th line; of eight rows of threads, the
 * first four take the even lines.
 */
function placesOfRound(
  tile: MatrixTile,
  { ld }: Lines,
  t: Thread,
  { lines, slice }: Slices,
): PipelinePlaces['ofRound'] {
  const { bm, bk, together } = tile;
  const { word, strideA } = layout(tile);
  const words = bk / word;
  const delta = threadsOf(tile) / (together * words);
  const row = Math.floor(t.index / (together * words));
  const first = delta % 8 === 0 ? Math.floor(row / 8) * 8 + (row % 4) * 2 + (Math.floor(row / 4) % 2) : row;
  const at = t.index % (together * words);
  return {
    step: Math.floor(at / words),
    places: Array.from({ length: bm / delta }, (_, i) => {
      const line = first + i * delta;
      return {
        from: (_, step) => (t.tileRow * bm + line) * ld + step * words + at,
        to: () => Math.floor(line / lines) * slice + (line % lines) * strideA + (at % words),
      };
    }),
  };
}

interface Side extends Slices {
  readonly source: Blocked | Lines;
  /** Which tile this is, counted in tiles. */
  readonly tile: number;
  /** Lines of the matrix and of a tile. */
  readonly all: number;
  readonly linesOfTile: number;
}

/** Rows of A, and columns of B where B is packed: a word along K of every so many-th line. */
function alongK(shape: Shape, tile: MatrixTile, thread: number, side: Side): Place[] {
  const { source, linesOfTile, lines } = side;
  const { word, strideA: stride } = layout(tile);
  const words = tile.bk / word;
  const threads = threadsOf(tile);
  const partWords = (side.all * shape.k) / word;
  const block = side.tile * (shape.k / tile.bk);
  const atK = Math.floor(thread / 8) % words;
  return Array.from({ length: (linesOfTile * words) / threads }, (_, i) => {
    const line = Math.floor(thread / (8 * words)) * 8 + (thread % 8) + i * (threads / words);
    const slice = side.first + Math.floor(line / lines);
    return {
      from: (part, step) =>
        source.kind === 'blocked'
          ? part * partWords + (block + step) * linesOfTile * words + thread + i * threads
          : (side.tile * linesOfTile + line) * source.ld + step * words + atK,
      to: part => part * side.low + slice * side.slice + (line % lines) * stride + atK,
    };
  });
}
