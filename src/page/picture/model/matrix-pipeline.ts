/**
 * Rungs 10 and 11, of two stages: wgsl/matrix-pipeline.ts, its prologue and its loop over K; the way of the sums through workgroup
 * memory, at a flush and to C, is left out, and what is stored in C is not.
 */
import type { Shape } from '../../../ladder/rung.ts';
import {
  layout,
  type MatrixTile,
  pipelineLayout,
  threads as threadsOf,
} from '../../../wgsl/matrix-layout.ts';
import { tile as memory } from './arrays.ts';
import { inBands } from './bands.ts';
import { type Fetched, fetchWords, placesInOne } from './matrix-fetch.ts';
import { counted, inputsOf, type Loaded, multiply, operandsOf, subgroupOf } from './matrix-parts.ts';
import type { Mapping, MemoryArray, Thread } from './trace.ts';

/** For a K of whole pairs of steps, to which flushes add none. */
export function matrixPipeline(shape: Shape, tile: MatrixTile): Mapping {
  const { bm, bn, bk, sm, sn, lanes, config, parts, prefetch, width } = tile;
  const { M, N, K } = config;
  const { lines, slice, slicesA, atOnce, quads } = pipelineLayout(tile);
  const { word, strideA, strideB } = layout(tile);
  const threads = threadsOf(tile);
  const steps = shape.k / bk;
  const [rowsOf, colsOf] = [sm / M, sn / N];
  return {
    ...{ threads, side: threads, lanes, together: true, groupOf: inBands(shape, bm, bn) },
    products: parts === 2 ? 3 : 1,
    arrays: {
      ...operandsOf(shape, tile),
      memory0: { ...bufferOf(tile), label: 'first buffer, A and B' },
      memory1: { ...bufferOf(tile), label: 'second buffer, A and B' },
    },
    tile: { m: bm, n: bn, k: 2 * bk },
    // Two steps and two early ones are fetched before the loop: the last pair, within it.
    depth: 6 * bk,
    *main(t) {
      const places = placesInOne(shape, tile, t);
      const begin = (kind: 'load' | 'stage' | 'multiply', step: number) =>
        t.step(kind, step * bk, (step + 1) * bk);
      const fetch = (step: number) => fetchWords(t, tile, places, Math.min(step, steps - 1), step);
      const put = (step: number, fetched: Fetched) => {
        begin('stage', step);
        for (const part of counted(parts)) {
          for (const operand of ['a', 'b'] as const) {
            for (const [i, { to }] of places[operand].entries())
              t.write(`memory${step % 2}`, to(part), fetched[part][operand][i]);
          }
        }
      };
      const load = (step: number) => {
        begin('load', step);
        return loadMatrices(t, `memory${step % 2}`);
      };

      put(0, fetch(0));
      put(1, fetch(1));
      const underway = counted(prefetch).map(early => fetch(2 + early));
      yield;
      let loaded = load(0);
      yield;
      for (let step = 0; step < steps; step++) {
        begin('multiply', step);
        multiply(t, tile, loaded);
        loaded = load(step + 1);
        put(step + 2, underway.shift()!);
        underway.push(fetch(step + 2 + prefetch));
        yield;
      }
      store(t);
    },
  };

  /** A whole step's matrices: it is no deeper than one. */
  function loadMatrices(t: Thread, buffer: string): Loaded[] {
    const { subgroupRow, subgroupCol } = subgroupOf(t, tile);
    const inLines = (line: number) => Math.floor(line / lines) * slice + (line % lines) * strideA;
    return counted(parts).map(part => {
      const ofA = part * bm + subgroupRow * sm;
      const ofB = part * bn + subgroupCol * sn;
      return {
        left: counted(rowsOf).map(i => t.readMatrix(buffer, inLines(ofA + i * M), M, K, strideA)),
        right: counted(colsOf).map(j =>
          tile.b.kind === 'blocked'
            ? t.readMatrix(buffer, slicesA * slice + inLines(ofB + j * N), K, N, strideB, 'columns')
            : t.readMatrix(buffer, (slicesA + ofB / sn) * slice + (j * N) / word, K, N, strideB),
        ),
      };
    });
  }

  /** As many matrices at a time as a subgroup has room to stage, in fours of cells. */
  function store(t: Thread): void {
    const { row, col } = subgroupOf(t, tile);
    const matrices = rowsOf * colsOf;
    for (let first = 0; first < matrices; first += atOnce) {
      t.step('store');
      for (let v = 0; v < (Math.min(atOnce, matrices - first) * quads) / lanes; v++) {
        const i = t.lane + v * lanes;
        const matrix = first + Math.floor(i / quads);
        const cells = (i % quads) * 4;
        const cell =
          (row + Math.floor(matrix / colsOf) * M + Math.floor(cells / N)) * shape.n +
          (col + (matrix % colsOf) * N + (cells % N));
        for (let e = 0; e < 4; e += width)
          t.write(
            'c',
            (cell + e) / width,
            counted(width).map(j => cell + e + j),
          );
      }
    }
  }
}

/** Slices of A, and behind them of B, of each the high parts before the low ones. */
function bufferOf(tile: MatrixTile): MemoryArray {
  const { parts } = tile;
  const { slice, slicesA, slicesAll } = pipelineLayout(tile);
  const { word, strideA, strideB } = layout(tile);
  const sections = (operand: 'A' | 'B', first: number, slices: number, stride: number) =>
    (parts === 1 ? [operand] : [`${operand} high`, `${operand} low`]).map((label, part) => ({
      ...{ operand, label, first: first + (part * slices) / parts },
      ...{ rows: slices / parts, drawn: stride * word },
    }));
  return {
    ...memory('A', slicesAll, slice, inputsOf(tile)),
    sections: [
      ...sections('A', 0, slicesA, strideA),
      ...sections('B', slicesA, slicesAll - slicesA, strideB),
    ],
  };
}
