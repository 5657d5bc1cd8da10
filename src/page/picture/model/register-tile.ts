/** Rung 9: kernels/register-tile.ts, for A and B in whole rows or packed. */
import type { Params } from '../../../kernels/kernel.ts';
import type { Shape } from '../../../ladder/rung.ts';
import { globals, tile } from './arrays.ts';
import { inBands } from './bands.ts';
import { cellInBlocks } from './blocks.ts';
import type { Mapping, Thread } from './trace.ts';

/** What a thread fetches of an operand at a time: its words, and where in the panel each vec4 of them goes. */
interface Unit {
  readonly words: readonly ((base: number) => number)[];
  /** The panel's vec4s that they make: an index, and the numbers. -1 where the thread has no unit in this round. */
  readonly vectors: (
    words: readonly Int32Array[],
  ) => readonly (readonly [at: number, cells: ArrayLike<number>])[];
}

export function registerTile(shape: Shape, lanes: number, params: Params): Mapping {
  const { bm, bn, bk, tm, tn, pack } = params;
  const [threadsM, threadsN] = [bm / tm, bn / tn];
  const threads = threadsM * threadsN;
  const [wordsK, wordsN] = [shape.k / 4, shape.n / 4];
  // A turned panel is written down its columns: a vec4 more puts those into different banks.
  const [lineA, lineB] = [bm / 4 + (pack ? 0 : 1), bn / 4];
  const { a, b, c } = globals(shape);
  const blocks = (operand: 'A' | 'B', lines: number) =>
    pack ? { cell: cellInBlocks(operand, shape, { order: 'steps', lines, k: bk, word: 4, parts: 1 }) } : {};
  return {
    ...{ threads, side: threads, lanes, groupOf: inBands(shape, bm, bn) },
    arrays: {
      a: { ...a, vector: 4, line: wordsK, ...blocks('A', bm) },
      b: { ...b, vector: 4, line: wordsN, ...blocks('B', bn) },
      c: { ...c, vector: 4, line: wordsN },
      panelA: tile('A', bk, lineA, { vector: 4, transposed: true }),
      panelB: tile('B', bk, lineB, { vector: 4 }),
    },
    tile: { m: bm, n: bn, k: bk },
    *main(t) {
      const [row, col] = [t.tileRow * bm, t.tileCol * bn];
      const block = Math.floor(t.index / 32);
      const y = Math.floor(block / (threadsN / 8)) * 4 + Math.floor((t.index % 32) / 8);
      const x = (block % (threadsN / 8)) * 8 + (t.index % 8);
      const unitsA = pack ? packed(t, t.tileRow, lineA) : turned(t);
      const unitsB = pack ? packed(t, t.tileCol, lineB) : across(t);
      const fetch = (base: number) => {
        const read = (array: string, { words }: Unit) =>
          words.map(at => {
            t.step('fetch', base, base + bk);
            return t.read(array, at(base));
          });
        return { a: unitsA.map(unit => read('a', unit)), b: unitsB.map(unit => read('b', unit)) };
      };
      const stage = (panel: string, units: readonly Unit[], words: readonly (readonly Int32Array[])[]) => {
        for (const [i, unit] of units.entries()) {
          for (const [at, cells] of unit.vectors(words[i])) t.write(panel, at, cells);
        }
      };
      let fetched = fetch(0);
      for (let base = 0; base < shape.k; base += bk) {
        yield;
        t.step('stage', base, base + bk);
        stage('panelA', unitsA, fetched.a);
        stage('panelB', unitsB, fetched.b);
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
        for (let j = 0; j < tn; j += 4) {
          t.write(
            'c',
            cell(i, j) / 4,
            [0, 1, 2, 3].map(e => cell(i, j + e)),
          );
        }
      }

      function cell(i: number, j: number): number {
        const down = row + (i >> 2) * threadsM * 4 + (i % 4) + 4 * y;
        const across = col + (j >> 2) * threadsN * 4 + (j % 4) + 4 * x;
        return down * shape.n + across;
      }
    },
  };
  function rounds(units: number): number[] {
    return Array.from({ length: Math.ceil(units / threads) }, (_, i) => i * threads);
  }

  /** A, which lies along K: blocks of 4×4, turned on their way. */
  function turned(t: Thread): Unit[] {
    const units = (bk / 4) * (bm / 4);
    return rounds(units).map(first => {
      const unit = t.index + first;
      const [k, vector] = [(unit % (bk / 4)) * 4, Math.floor(unit / (bk / 4))];
      const row = t.tileRow * bm + vector * 4;
      return {
        words: [0, 1, 2, 3].map(i => base => (row + i) * wordsK + (base + k) / 4),
        vectors: words =>
          [0, 1, 2, 3].map(e => [unit < units ? (k + e) * lineA + vector : -1, words.map(word => word[e])]),
      };
    });
  }

  /** B, which lies across K: vec4s as they are. */
  function across(t: Thread): Unit[] {
    const units = bk * lineB;
    return rounds(units).map(first => {
      const unit = t.index + first;
      const [k, vector] = [Math.floor(unit / lineB), unit % lineB];
      return {
        words: [base => (base + k) * wordsN + (t.tileCol * bn) / 4 + vector],
        vectors: ([word]) => [[unit < units ? k * lineB + vector : -1, word]],
      };
    });
  }

  /** Either, from blocks that hold the panel's vec4s in order. */
  function packed(t: Thread, tileIndex: number, line: number): Unit[] {
    return rounds(bk * line).map(first => ({
      words: [base => (tileIndex * shape.k + base) * line + first + t.index],
      vectors: ([word]) => [[first + t.index, word]],
    }));
  }
}
