/** Where the threads of rungs 10 and 11 fetch a step's words from, and where they go: wgsl/matrix-fetch.ts. */
import type { Shape } from '../../../ladder/rung.ts';
import { layout, type MatrixTile, type Source, threads as threadsOf } from '../../../wgsl/matrix-layout.ts';
import type { Thread } from './trace.ts';

/** One word of a thread's. */
export interface Place {
  /** The operand's index. */
  readonly from: (part: number, step: number) => number;
  /** The index in workgroup memory. */
  readonly to: (part: number) => number;
}

export function placesA(shape: Shape, tile: MatrixTile, t: Thread): Place[] {
  const { bm, sm, a } = tile;
  const { strideA, sliceA } = layout(tile);
  return alongK(shape, tile, t.index, {
    ...{ source: a, tile: t.tileRow, all: shape.m, lines: bm },
    ...{ linesOfSlice: sm, stride: strideA, slice: sliceA },
  });
}

export function placesB(shape: Shape, tile: MatrixTile, t: Thread): Place[] {
  const { bn, bk, sn, b } = tile;
  const { word, strideB, sliceB } = layout(tile);
  if (b.kind === 'blocked') {
    return alongK(shape, tile, t.index, {
      ...{ source: b, tile: t.tileCol, all: shape.n, lines: bn },
      ...{ linesOfSlice: sn, stride: strideB, slice: sliceB },
    });
  }
  const [words, wordsOfSlice] = [bn / word, sn / word];
  const rows = threadsOf(tile) / words;
  const at = t.index % words;
  return Array.from({ length: bk / rows }, (_, i) => {
    const row = Math.floor(t.index / words) + i * rows;
    return {
      from: (_, step) => (step * bk + row) * b.ld + t.tileCol * words + at,
      to: part =>
        (part * (bn / sn) + Math.floor(at / wordsOfSlice)) * sliceB + row * strideB + (at % wordsOfSlice),
    };
  });
}

interface Side {
  readonly source: Source;
  /** Which tile this is, counted in tiles. */
  readonly tile: number;
  /** Lines of the matrix, of a tile and of a slice. */
  readonly all: number;
  readonly lines: number;
  readonly linesOfSlice: number;
  /** Words from a line to the next in workgroup memory, and words of a slice. */
  readonly stride: number;
  readonly slice: number;
}

/** Rows of A, and columns of B where B is packed: a word along K of every so many-th line. */
function alongK(shape: Shape, tile: MatrixTile, thread: number, side: Side): Place[] {
  const { source, lines, linesOfSlice } = side;
  const { word } = layout(tile);
  const words = tile.bk / word;
  const threads = threadsOf(tile);
  const partWords = (side.all * shape.k) / word;
  const atK = Math.floor(thread / 8) % words;
  return Array.from({ length: (lines * words) / threads }, (_, i) => {
    const line = Math.floor(thread / (8 * words)) * 8 + (thread % 8) + i * (threads / words);
    const slice = Math.floor(line / linesOfSlice);
    return {
      from: (part, step) =>
        source.kind === 'blocked'
          ? part * partWords + (side.tile * (shape.k / tile.bk) + step) * lines * words + thread + i * threads
          : (side.tile * lines + line) * source.ld + step * words + atK,
      to: part =>
        (part * (lines / linesOfSlice) + slice) * side.slice + (line % linesOfSlice) * side.stride + atK,
    };
  });
}
