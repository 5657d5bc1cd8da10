/**
 * Rungs 10 and 11: wgsl/matrix-tile.ts, up to the end of its loop over K; the way of the sums through workgroup memory
 * to C is left out, and what is stored in C is not.
 */
import type { Shape } from '../../../ladder/rung.ts';
import { layout, type MatrixTile, subgroups, threads as threadsOf } from '../../../wgsl/matrix-layout.ts';
import { globals, tile as memory } from './arrays.ts';
import { inBands } from './bands.ts';
import type { Mapping, Thread } from './trace.ts';

const BYTES: Readonly<Record<string, number>> = { f32: 4, f16: 2 };

/** @param blocked whether A and B are packed first: then what a step fetches lies in one piece */
export function matrixTile(shape: Shape, tile: MatrixTile, blocked: boolean): Mapping {
  const { bm, bn, bk, sm, sn, lanes, config, parts, prefetch } = tile;
  const { M, N, K } = config;
  const { word, strideA, strideB, sliceA, sliceB, slicesA, slicesB, staging } = layout(tile);
  const threads = threadsOf(tile);
  const steps = shape.k / bk;
  const [wordsA, wordsB] = [bk / word, bn / word];
  const [deltaA, deltaB] = [threads / wordsA, threads / wordsB];
  const [rowsOf, colsOf] = [sm / M, sn / N];
  const [rowsOfSubgroups, colsOfSubgroups] = [bm / sm, bn / sn];
  const inputs = { bytes: BYTES[config.componentType], vector: word };
  const { a, b, c } = globals(shape, { inputs: inputs.bytes, result: 4 });
  const cells = { A: blockedA(shape, bm, bk, word), B: blockedB(shape, bk, bn) };
  const counted = (count: number) => Array.from({ length: count }, (_, i) => i);
  const partNames = counted(parts);
  return {
    ...{ threads, side: threads, lanes, together: true, groupOf: inBands(shape, bm, bn) },
    products: parts === 2 ? 3 : 1,
    arrays: {
      a: { ...a, vector: word, line: shape.k / word, ...(blocked ? { cell: cells.A } : {}) },
      b: { ...b, vector: word, line: shape.n / word, ...(blocked ? { cell: cells.B } : {}) },
      c,
      memoryA: { ...memory('A', slicesA, sliceA, inputs), drawn: strideA * word },
      memoryB: { ...memory('B', slicesB, sliceB, inputs), drawn: strideB * word },
    },
    tile: { m: bm, n: bn, k: bk },
    *main(t) {
      const subgroupRow = Math.floor(t.subgroup / colsOfSubgroups);
      const subgroupCol = t.subgroup % colsOfSubgroups;
      const rowA = Math.floor(t.index / (8 * wordsA)) * 8 + (t.index % 8);
      const atA = Math.floor(t.index / 8) % wordsA;
      const rowB = Math.floor(t.index / wordsB);
      const atB = t.index % wordsB;
      const rowsA = counted((bm * wordsA) / threads).map(i => rowA + i * deltaA);
      const rowsB = counted((bk * wordsB) / threads).map(i => rowB + i * deltaB);
      const partA = (shape.m * shape.k) / word;
      const partB = (shape.k * shape.n) / word;
      const fromA = (part: number, i: number, now: number) =>
        blocked
          ? part * partA + (t.tileRow * steps + now) * bm * wordsA + t.index + i * threads
          : ((t.tileRow * bm + rowsA[i]) * shape.k) / word + atA + now * wordsA;
      const fromB = (part: number, i: number, now: number) =>
        blocked
          ? part * partB + (t.tileCol * steps + now) * bk * wordsB + t.index + i * threads
          : ((now * bk + rowsB[i]) * shape.n) / word + (t.tileCol * bn) / word + atB;
      const fetch = (now: number, from = now * bk) => {
        const read = (array: string, at: number) => {
          t.step('fetch', from, from + bk);
          return t.read(array, at);
        };
        return partNames.map(part => ({
          a: rowsA.map((_, i) => read('a', fromA(part, i, now))),
          b: rowsB.map((_, i) => read('b', fromB(part, i, now))),
        }));
      };
      let fetched = prefetch ? fetch(0) : [];
      for (let step = 0; step < steps; step++) {
        if (!prefetch) fetched = fetch(step);
        yield;
        t.step('stage', step * bk, (step + 1) * bk);
        for (const part of partNames) {
          for (const [i, row] of rowsA.entries()) {
            const slice = part * rowsOfSubgroups + Math.floor(row / sm);
            t.write('memoryA', slice * sliceA + (row % sm) * strideA + atA, fetched[part].a[i]);
          }
          for (const [i, row] of rowsB.entries()) {
            const slice = part * colsOfSubgroups + Math.floor(atB / (sn / word));
            t.write('memoryB', slice * sliceB + row * strideB + (atB % (sn / word)), fetched[part].b[i]);
          }
        }
        yield;
        // Past the end the last step is fetched again, and not used.
        if (prefetch) fetched = fetch(Math.min(step + 1, steps - 1), (step + 1) * bk);
        for (let k = 0; k < bk; k += K) {
          t.step('multiply', step * bk + k, step * bk + k + K);
          const loaded = partNames.map(part => ({
            left: counted(rowsOf).map(i => {
              const slice = part * rowsOfSubgroups + subgroupRow;
              return t.readMatrix('memoryA', slice * sliceA + i * M * strideA + k / word, M, K, strideA);
            }),
            right: counted(colsOf).map(j => {
              const slice = part * colsOfSubgroups + subgroupCol;
              return t.readMatrix('memoryB', slice * sliceB + k * strideB + (j * N) / word, K, N, strideB);
            }),
          }));
          for (const [p, q] of parts === 1
            ? [[0, 0]]
            : [
                [0, 1],
                [1, 0],
                [0, 0],
              ]) {
            for (const i of counted(rowsOf)) {
              for (const j of counted(colsOf)) {
                t.multiplyMatrices(result(i, j), loaded[p].left[i], loaded[q].right[j], K);
              }
            }
          }
        }
      }
      store(t);

      function result(i: number, j: number): Int32Array {
        const first = (t.tileRow * bm + subgroupRow * sm + i * M) * shape.n;
        const col = t.tileCol * bn + subgroupCol * sn + j * N;
        return Int32Array.from(
          { length: M * N },
          (_, e) => first + Math.floor(e / N) * shape.n + col + (e % N),
        );
      }
    },
  };

  /** As many rows of matrices at a time as a subgroup's staging place has room for; with too few places, in rounds. */
  function store(t: Thread): void {
    const rounds = Math.ceil(subgroups(tile) / slicesA);
    const atOnce = Math.min(rowsOf, Math.floor(sliceA / staging));
    const row = t.tileRow * bm + Math.floor(t.subgroup / colsOfSubgroups) * sm;
    const col = t.tileCol * bn + (t.subgroup % colsOfSubgroups) * sn;
    for (let turn = 0; turn < rounds * Math.ceil(rowsOf / atOnce); turn++) {
      const first = Math.floor(turn / rounds) * atOnce;
      const values = (Math.min(atOnce, rowsOf - first) * M * sn) / lanes;
      const mine = Math.floor(t.subgroup / slicesA) === turn % rounds;
      t.step('store');
      for (let v = 0; v < values; v++) {
        const e = t.lane + v * lanes;
        const cell = (row + first * M + Math.floor(e / sn)) * shape.n + col + (e % sn);
        t.write('c', mine ? cell : -1, mine ? [cell] : []);
      }
    }
  }
}

/** kernels/pack.ts: a block of A has its rows in eights, and of these one word of K after the other. */
function blockedA({ m, k }: Shape, rows: number, cols: number, word: number) {
  return (number: number): number => {
    const inPart = number % (m * k);
    const [block, inBlock] = [Math.floor(inPart / (rows * cols)), inPart % (rows * cols)];
    const [eight, inEight] = [Math.floor(inBlock / (8 * cols)), inBlock % (8 * cols)];
    const row = Math.floor(block / (k / cols)) * rows + eight * 8 + (Math.floor(inEight / word) % 8);
    const col = (block % (k / cols)) * cols + Math.floor(inEight / (8 * word)) * word + (inEight % word);
    return row * k + col;
  };
}

/** A block of B is its rows, one after the other. */
function blockedB({ k, n }: Shape, rows: number, cols: number) {
  return (number: number): number => {
    const inPart = number % (k * n);
    const [block, inBlock] = [Math.floor(inPart / (rows * cols)), inPart % (rows * cols)];
    const row = (block % (k / rows)) * rows + Math.floor(inBlock / cols);
    const col = Math.floor(block / (k / rows)) * cols + (inBlock % cols);
    return row * n + col;
  };
}
