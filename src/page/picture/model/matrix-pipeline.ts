/**
 * Rungs 10 and 11, of two stages: wgsl/matrix-pipeline.ts, its prologue and its loop over K; the way of the sums through workgroup
 * memory, at a flush and to C, is left out, as are the scales of rung 11; what is stored in C is not.
 */
import type { Shape } from '../../../ladder/rung.ts';
import { roundUp } from '../../../program.ts';
import {
  fetchedAt,
  layout,
  type MatrixTile,
  pipelineLayout,
  scaleBytes,
  threads as threadsOf,
  wordsInLine,
} from '../../../wgsl/matrix-layout.ts';
import { tile as memory } from './arrays.ts';
import { inBands } from './bands.ts';
import { type Fetched, fetchRound, fetchWords, placesInOne } from './matrix-fetch.ts';
import { counted, inputsOf, type Loaded, multiply, operandsOf, subgroupOf } from './matrix-parts.ts';
import type { Mapping, MemoryArray, Thread } from './trace.ts';

/**
 * For a K of whole rounds of steps, to which flushes add none.
 *
 * @throws RangeError where K is cut into ways, tiles begin at different places in it, or plain sums make the last ones: none of it is drawn
 */
export function matrixPipeline(shape: Shape, tile: MatrixTile): Mapping {
  const { bm, bn, bk, sm, sn, lanes, config, parts, prefetch, together, ways, stagger, width } = tile;
  if (ways > 1 || stagger > 0) throw new RangeError('pipelines of ways, or with a stagger, are not drawn');
  if (tile.few.rows + tile.few.cols > 0) throw new RangeError('tiles of few rows or columns are not drawn');
  const { M, N, K } = config;
  const { lines, slice, slicesA, wide, spread, atOnce } = pipelineLayout(tile);
  const { word, strideA, strideB } = layout(tile);
  const threads = threadsOf(tile);
  const steps = shape.k / bk;
  const [rowsOf, colsOf] = [sm / M, sn / N];
  /** The last two steps of K are taken first. */
  const stepAt = (turn: number) => (turn < 2 ? steps - 2 + turn : turn - 2);
  /** What is done for a turn after the last is not used: the picture takes it to be past the end of K. */
  const shownAt = (turn: number) => (turn < steps ? stepAt(turn) : turn);
  return {
    ...{ threads, side: threads, lanes, together: true, groupOf: inBands(shape, bm, bn) },
    products: parts === 2 ? 3 : 1,
    undrawn: scaleBytes(tile),
    arrays: {
      ...operandsOf(shape, tile),
      memory0: { ...bufferOf(tile), label: 'first buffer, A and B' },
      memory1: { ...bufferOf(tile), label: 'second buffer, A and B' },
    },
    tile: { m: bm, n: bn, k: together * bk },
    // Two steps and a round are fetched before the loop: some more, within it.
    depth: roundUp(2 + together + 1, together) * bk,
    *main(t) {
      const { ofStep, ofRound } = placesInOne(shape, tile, t);
      const begin = (kind: 'load' | 'stage' | 'multiply', turn: number) =>
        t.step(kind, shownAt(turn) * bk, (shownAt(turn) + 1) * bk);
      const fetch = (turn: number) =>
        fetchWords(t, tile, ofStep, Math.min(stepAt(turn), steps - 1), shownAt(turn));
      const fetchNextRound = (turn: number) =>
        fetchRound(t, tile, ofRound.places, Math.min(stepAt(turn), steps - together), shownAt(turn));
      const put = (turn: number, fetched: Fetched, round: readonly Int32Array[]) => {
        begin('stage', turn);
        const buffer = `memory${turn % 2}`;
        const mine = ofRound.step === stepAt(turn) % together;
        for (const [i, { to }] of ofRound.places.entries())
          t.write(buffer, mine ? to(0) : -1, mine ? round[i] : []);
        for (const part of counted(parts)) {
          for (const operand of ['a', 'b'] as const) {
            for (const [i, { to }] of ofStep[operand].entries())
              t.write(buffer, to(part), fetched[part][operand][i]);
          }
        }
      };
      const load = (turn: number) => {
        begin('load', turn);
        return loadMatrices(t, `memory${turn % 2}`);
      };

      let round = fetchRound(t, tile, ofRound.places, steps - together);
      if (prefetch > 1) {
        const [first, second] = [fetch(0), fetch(1)];
        put(0, first, round);
        put(1, second, round);
      } else {
        put(0, fetch(0), round);
        put(1, fetch(1), round);
      }
      round = fetchNextRound(2);
      const underway = counted(Math.min(prefetch, 2)).map(early => fetch(2 + early));
      yield;
      let loaded = load(0);
      yield;
      for (let turn = 0; turn < steps; turn++) {
        begin('multiply', turn);
        multiply(t, tile, loaded);
        loaded = load(turn + 1);
        put(turn + 2, underway.shift()!, round);
        for (const later of fetchedAt(turn, prefetch)) underway.push(fetch(2 + later));
        if ((turn + 1) % together === 0) round = fetchNextRound(turn + 3);
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
      const ofA = part * wordsInLine(tile, 'A');
      const ofB = part * wordsInLine(tile, 'B') + slicesA * slice;
      return {
        left: counted(rowsOf).map(i =>
          t.readMatrix(buffer, ofA + inLines(subgroupRow * sm + i * M), M, K, strideA),
        ),
        right: counted(colsOf).map(j =>
          tile.b.kind !== 'rows'
            ? t.readMatrix(buffer, ofB + inLines(subgroupCol * sn + j * N), K, N, strideB, 'columns')
            : t.readMatrix(buffer, ofB + subgroupCol * slice + (j * N) / word, K, N, strideB),
        ),
      };
    });
  }

  /** As many blocks of matrices at a time as a subgroup has slices, a cell or four of them by each lane. */
  function store(t: Thread): void {
    const { row, col } = subgroupOf(t, tile);
    const blocksOfRow = colsOf / wide;
    const blocks = rowsOf * blocksOfRow;
    const unitsOfRow = (wide * N) / width;
    const units = M * unitsOfRow;
    for (let first = 0; first < blocks; first += atOnce) {
      t.step('store');
      for (let v = 0; v < (Math.min(atOnce, blocks - first) * units) / lanes; v++) {
        const i = t.lane + v * lanes;
        const block = first + Math.floor(i / units);
        const line = Math.floor((i % units) / unitsOfRow);
        const cell =
          (row + Math.floor(block / blocksOfRow) * M + (spread ? spreadOut(line) : line)) * shape.n +
          (col + (block % blocksOfRow) * wide * N + (i % unitsOfRow) * width);
        t.write(
          'c',
          cell / width,
          counted(width).map(j => cell + j),
        );
      }
    }
  }
}

/** The kernel's `spread`. */
const spreadOut = (row: number) => Math.floor(row / 4) * 4 + (row % 2) * 2 + (Math.floor(row / 2) % 2);

/** Slices of A, and behind them of B; in each line, the high part before the low one. */
function bufferOf(tile: MatrixTile): MemoryArray {
  const { slice, slicesA, slicesB, slicesAll } = pipelineLayout(tile);
  const { word, strideA, strideB } = layout(tile);
  const labelOf = (operand: 'A' | 'B') => (tile.parts === 1 ? operand : `${operand} high, low`);
  return {
    ...memory('A', slicesAll, slice, inputsOf(tile)),
    sections: [
      { operand: 'A', label: labelOf('A'), first: 0, rows: slicesA, drawn: strideA * word },
      { operand: 'B', label: labelOf('B'), first: slicesA, rows: slicesB, drawn: strideB * word },
    ],
  };
}
