/** Rung 9: kernels/register-tile.ts for A and B in whole rows. */
import type { Params } from '../../../kernels/kernel.ts';
import type { Shape } from '../../../ladder/rung.ts';
import { globals, tile } from './arrays.ts';
import { inBands } from './bands.ts';
import type { Mapping } from './trace.ts';

export function registerTile(shape: Shape, lanes: number, params: Params): Mapping {
  const { bm, bn, bk, tm, tn } = params;
  const [threadsM, threadsN] = [bm / tm, bn / tn];
  const threads = threadsM * threadsN;
  const [wordsK, wordsN] = [shape.k / 4, shape.n / 4];
  // A lies along K and is turned on its way: a unit of work is a block of 4×4. Of B it is a vec4.
  const [unitsA, unitsB] = [(bk / 4) * (bm / 4), bk * (bn / 4)];
  const rounds = (units: number) => Array.from({ length: Math.ceil(units / threads) }, (_, i) => i * threads);
  const [lineA, lineB] = [bm / 4 + 1, bn / 4];
  const { a, b, c } = globals(shape);
  return {
    ...{ threads, side: threads, lanes, groupOf: inBands(shape, bm, bn) },
    arrays: {
      a: { ...a, vector: 4, line: wordsK },
      b: { ...b, vector: 4, line: wordsN },
      c,
      panelA: tile('A', bk, lineA, { vector: 4, transposed: true }),
      panelB: tile('B', bk, lineB, { vector: 4 }),
    },
    tile: { m: bm, n: bn, k: bk },
    *main(t) {
      const [row, col] = [t.tileRow * bm, t.tileCol * bn];
      const block = Math.floor(t.index / 32);
      const y = Math.floor(block / (threadsN / 8)) * 4 + Math.floor((t.index % 32) / 8);
      const x = (block % (threadsN / 8)) * 8 + (t.index % 8);
      const placeA = (unit: number) => ({ k: (unit % (bk / 4)) * 4, vector: Math.floor(unit / (bk / 4)) });
      const placeB = (unit: number) => ({ k: Math.floor(unit / (bn / 4)), vector: unit % (bn / 4) });
      const fetch = (base: number) => {
        const blocks = rounds(unitsA).map(first => {
          const { k, vector } = placeA(t.index + first);
          return [0, 1, 2, 3].map(i => {
            t.step('fetch', base, base + bk);
            return t.read('a', (row + vector * 4 + i) * wordsK + (base + k) / 4);
          });
        });
        const vectors = rounds(unitsB).map(first => {
          const { k, vector } = placeB(t.index + first);
          t.step('fetch', base, base + bk);
          return t.read('b', (base + k) * wordsN + col / 4 + vector);
        });
        return { blocks, vectors };
      };
      let fetched = fetch(0);
      for (let base = 0; base < shape.k; base += bk) {
        yield;
        t.step('stage', base, base + bk);
        for (const [i, words] of fetched.blocks.entries()) {
          const unit = t.index + i * threads;
          const { k, vector } = placeA(unit);
          for (let e = 0; e < 4; e++) {
            const at = unit < unitsA ? (k + e) * lineA + vector : -1;
            t.write(
              'panelA',
              at,
              words.map(word => word[e]),
            );
          }
        }
        for (const [i, word] of fetched.vectors.entries()) {
          const unit = t.index + i * threads;
          const { k, vector } = placeB(unit);
          t.write('panelB', unit < unitsB ? k * lineB + vector : -1, word);
        }
        yield;
        fetched = fetch(base + bk);
        for (let k = 0; k < bk; k++) {
          t.step('multiply', base + k, base + k + 1);
          const left = Array.from({ length: tm / 4 }, (_, g) =>
            t.read('panelA', k * lineA + g * threadsM + y),
          );
          const right = Array.from({ length: tn / 4 }, (_, h) =>
            t.read('panelB', k * lineB + h * threadsN + x),
          );
          for (let i = 0; i < tm; i++) {
            for (let j = 0; j < tn; j++) t.multiply(cell(i, j), left[i >> 2][i % 4], right[j >> 2][j % 4]);
          }
        }
      }
      for (let i = 0; i < tm; i++) {
        t.step('store');
        for (let j = 0; j < tn; j++) t.write('c', cell(i, j), [cell(i, j)]);
      }

      function cell(i: number, j: number): number {
        const down = row + (i >> 2) * threadsM * 4 + (i % 4) + 4 * y;
        const across = col + (j >> 2) * threadsN * 4 + (j % 4) + 4 * x;
        return down * shape.n + across;
      }
    },
  };
}
