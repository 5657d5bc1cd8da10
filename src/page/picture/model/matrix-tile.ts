/**
 * Rungs 10 and 11, of one stage: wgsl/matrix-tile.ts, up to the end of its loop over K; the way of the sums through workgroup
 * memory to C is left out, as are the scales of rung 11; what is stored in C is not.
 */
import type { Shape } from '../../../ladder/rung.ts';
import {
  layout,
  type MatrixTile,
  scaleBytes,
  subgroups,
  threads as threadsOf,
} from '../../../wgsl/matrix-layout.ts';
import { tile as memory } from './arrays.ts';
import { inBands } from './bands.ts';
import { fetchWords, placesInTwo } from './matrix-fetch.ts';
import { counted, inputsOf, multiply, operandsOf, subgroupOf } from './matrix-parts.ts';
import type { Mapping, Thread } from './trace.ts';

/** For a K so short that the sums are not flushed on the way. */
export function matrixTile(shape: Shape, tile: MatrixTile): Mapping {
  const { bm, bn, bk, sm, sn, lanes, config, parts, prefetch, width } = tile;
  const { M, N, K } = config;
  const { word, strideA, strideB, sliceA, sliceB, slicesA, slicesB, staging } = layout(tile);
  const threads = threadsOf(tile);
  const steps = shape.k / bk;
  const [rowsOf, colsOf] = [sm / M, sn / N];
  const [rowsOfSubgroups, colsOfSubgroups] = [bm / sm, bn / sn];
  const inputs = inputsOf(tile);
  return {
    ...{ threads, side: threads, lanes, together: true, groupOf: inBands(shape, bm, bn) },
    products: parts === 2 ? 3 : 1,
    undrawn: scaleBytes(tile),
    arrays: {
      ...operandsOf(shape, tile),
      memoryA: { ...memory('A', slicesA, sliceA, inputs), drawn: strideA * word },
      memoryB: {
        ...memory('B', slicesB, sliceB, { ...inputs, transposed: tile.b.kind !== 'rows' }),
        drawn: strideB * word,
      },
    },
    tile: { m: bm, n: bn, k: bk },
    *main(t) {
      const { subgroupRow, subgroupCol } = subgroupOf(t, tile);
      const places = placesInTwo(shape, tile, t);
      let fetched = prefetch ? fetchWords(t, tile, places, 0) : [];
      for (let step = 0; step < steps; step++) {
        if (!prefetch) fetched = fetchWords(t, tile, places, step);
        yield;
        t.step('stage', step * bk, (step + 1) * bk);
        for (const part of counted(parts)) {
          for (const [i, { to }] of places.a.entries()) t.write('memoryA', to(part), fetched[part].a[i]);
          for (const [i, { to }] of places.b.entries()) t.write('memoryB', to(part), fetched[part].b[i]);
        }
        yield;
        if (prefetch) fetched = fetchWords(t, tile, places, Math.min(step + 1, steps - 1), step + 1);
        for (let k = 0; k < bk; k += K) {
          t.step('multiply', step * bk + k, step * bk + k + K);
          const loaded = counted(parts).map(part => ({
            left: counted(rowsOf).map(i => {
              const slice = part * rowsOfSubgroups + subgroupRow;
              return t.readMatrix('memoryA', slice * sliceA + i * M * strideA + k / word, M, K, strideA);
            }),
            right: counted(colsOf).map(j => {
              const slice = part * colsOfSubgroups + subgroupCol;
              return tile.b.kind !== 'rows'
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
          multiply(t, tile, loaded);
        }
      }
      store(t);
    },
  };

  /** As many rows of matrices at a time as a subgroup's staging place has room for; with too few places, in rounds. */
  function store(t: Thread): void {
    const rounds = Math.ceil(subgroups(tile) / slicesA);
    const atOnce = Math.min(rowsOf, Math.floor(sliceA / staging));
    const { row, col } = subgroupOf(t, tile);
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
