/**
 * Rungs 10 and 11: wgsl/matrix-tile.ts, up to the end of its loop over K; the way of the sums through workgroup memory
 * to C is left out, and what is stored in C is not.
 */
import type { Shape } from '../../../ladder/rung.ts';
import {
  layout,
  type MatrixTile,
  type Source,
  subgroups,
  threads as threadsOf,
} from '../../../wgsl/matrix-layout.ts';
import { globals, tile as memory } from './arrays.ts';
import { inBands } from './bands.ts';
import { cellInBlocks } from './blocks.ts';
import { placesA, placesB } from './matrix-fetch.ts';
import type { Mapping, Thread } from './trace.ts';

const BYTES: Readonly<Record<string, number>> = { f32: 4, f16: 2 };

/** For a K so short that the sums are not flushed on the way. */
export function matrixTile(shape: Shape, tile: MatrixTile): Mapping {
  const { bm, bn, bk, sm, sn, lanes, config, parts, prefetch, width } = tile;
  const { M, N, K } = config;
  const { word, strideA, strideB, sliceA, sliceB, slicesA, slicesB, staging } = layout(tile);
  const threads = threadsOf(tile);
  const steps = shape.k / bk;
  const [rowsOf, colsOf] = [sm / M, sn / N];
  const [rowsOfSubgroups, colsOfSubgroups] = [bm / sm, bn / sn];
  const inputs = { bytes: BYTES[config.componentType], vector: word };
  const { a, b, c } = globals(shape, { inputs: inputs.bytes, result: 4 });
  const blocks = (operand: 'A' | 'B', source: Source, lines: number) =>
    source.kind === 'blocked'
      ? { cell: cellInBlocks(operand, shape, { order: 'lines', lines, k: bk, word, parts }) }
      : {};
  const counted = (count: number) => Array.from({ length: count }, (_, i) => i);
  const partNames = counted(parts);
  return {
    ...{ threads, side: threads, lanes, together: true, groupOf: inBands(shape, bm, bn) },
    products: parts === 2 ? 3 : 1,
    arrays: {
      a: { ...a, vector: word, line: shape.k / word, ...blocks('A', tile.a, bm) },
      b: { ...b, vector: word, line: shape.n / word, ...blocks('B', tile.b, bn) },
      c: { ...c, vector: width, line: shape.n / width },
      memoryA: { ...memory('A', slicesA, sliceA, inputs), drawn: strideA * word },
      memoryB: {
        ...memory('B', slicesB, sliceB, { ...inputs, transposed: tile.b.kind === 'blocked' }),
        drawn: strideB * word,
      },
    },
    tile: { m: bm, n: bn, k: bk },
    *main(t) {
      const subgroupRow = Math.floor(t.subgroup / colsOfSubgroups);
      const subgroupCol = t.subgroup % colsOfSubgroups;
      const wordsOfA = placesA(shape, tile, t);
      const wordsOfB = placesB(shape, tile, t);
      const fetch = (now: number, from = now * bk) => {
        const read = (array: string, at: number) => {
          t.step('fetch', from, from + bk);
          return t.read(array, at);
        };
        return partNames.map(part => ({
          a: wordsOfA.map(({ from }) => read('a', from(part, now))),
          b: wordsOfB.map(({ from }) => read('b', from(part, now))),
        }));
      };
      let fetched = prefetch ? fetch(0) : [];
      for (let step = 0; step < steps; step++) {
        if (!prefetch) fetched = fetch(step);
        yield;
        t.step('stage', step * bk, (step + 1) * bk);
        for (const part of partNames) {
          for (const [i, { to }] of wordsOfA.entries()) t.write('memoryA', to(part), fetched[part].a[i]);
          for (const [i, { to }] of wordsOfB.entries()) t.write('memoryB', to(part), fetched[part].b[i]);
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
              return tile.b.kind === 'blocked'
                ? t.readMatrix(
                    'memoryB',
                    slice * sliceB + j * N * strideB + k / word,
                    K,
                    N,
                    strideB,
                    'columns',
                  )
                : t.readMatrix('memoryB', slice * sliceB + k * strideB + (j * N) / word, K, N, strideB);
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
                t.multiplyMatrices(() => result(i, j), loaded[p].left[i], loaded[q].right[j], K);
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
      const values = (Math.min(atOnce, rowsOf - first) * M * sn) / lanes / width;
      const mine = Math.floor(t.subgroup / slicesA) === turn % rounds;
      t.step('store');
      for (let v = 0; v < values; v++) {
        const e = (t.lane + v * lanes) * width;
        const cell = (row + first * M + Math.floor(e / sn)) * shape.n + col + (e % sn);
        t.write('c', mine ? cell / width : -1, mine ? counted(width).map(j => cell + j) : []);
      }
    }
  }
}
