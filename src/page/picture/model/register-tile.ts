/** Rung 9: kernels/register-tile.ts, for A and B in whole rows or packed. */
import type { Params } from '../../../kernels/kernel.ts';
import type { Shape } from '../../../ladder/rung.ts';
import { paddingOf } from '../../../wgsl/register-panels.ts';
import { globals, tile } from './arrays.ts';
import { inBands } from './bands.ts';
import { cellInBlocks } from './blocks.ts';
import type { Mapping, MemoryArray, Thread } from './trace.ts';

/** What a thread fetches of an operand at a time: its words, and where in the panel each vec4 of them goes. */
interface Unit {
  readonly words: readonly ((base: number) => number)[];
  /** The panel's vec4s that they make: an index, and the numbers. -1 where the thread has no unit in this round. */
  readonly vectors: (
    words: readonly Int32Array[],
  ) => readonly (readonly [at: number, cells: ArrayLike<number>])[];
}

/** Words on their way, for each unit. */
type Words = readonly (readonly Int32Array[])[];

export function registerTile(shape: Shape, lanes: number, params: Params): Mapping {
  const { bm, bn, bk, tm, tn, pack } = params;
  const [threadsM, threadsN] = [bm / tm, bn / tn];
  const threads = threadsM * threadsN;
  const [wordsK, wordsN] = [shape.k / 4, shape.n / 4];
  const [lineA, lineB] = [bm / 4, bn / 4];
  // A is turned on its way where it is not packed.
  const fourLinesA = 4 * lineA + paddingOf(bk);
  const { a, b, c } = globals(shape);
  const blocks = (operand: 'A' | 'B', lines: number) =>
    pack ? { cell: cellInBlocks(operand, shape, { order: 'steps', lines, k: bk, word: 4, parts: 1 }) } : {};
  const panelA: MemoryArray = pack
    ? tile('A', bk, lineA, { vector: 4, transposed: true })
    : { ...tile('A', bk / 4, fourLinesA, { vector: 4, transposed: true }), drawn: bm };
  const atA = (k: number) => (pack ? k * lineA : Math.floor(k / 4) * fourLinesA + (k % 4) * lineA);
  return {
    ...{ threads, side: threads, lanes, groupOf: inBands(shape, bm, bn) },
    arrays: {
      a: { ...a, vector: 4, line: wordsK, ...blocks('A', bm) },
      b: { ...b, vector: 4, line: wordsN, ...blocks('B', bn) },
      c: { ...c, vector: 4, line: wordsN },
      panelA,
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
        const read = (array: string, units: readonly Unit[]): Words =>
          units.map(({ words }) =>
            words.map(at => {
              t.step('fetch', base, base + bk);
              return t.read(array, at(base));
            }),
          );
        return { a: read('a', unitsA), b: read('b', unitsB) };
      };
      const stage = (base: number, words: { readonly a: Words; readonly b: Words }) => {
        t.step('stage', base, base + bk);
        const write = (panel: string, units: readonly Unit[], fetched: Words) => {
          for (const [i, { vectors }] of units.entries()) {
            for (const [at, cells] of vectors(fetched[i])) t.write(panel, at, cells);
          }
        };
        write('panelA', unitsA, words.a);
        write('panelB', unitsB, words.b);
      };
      const load = (k: number) => ({
        left: Array.from({ length: tm / 4 }, (_, g) => t.read('panelA', atA(k % bk) + g * threadsM + y)),
        right: Array.from({ length: tn / 4 }, (_, h) =>
          t.read('panelB', (k % bk) * lineB + h * threadsN + x),
        ),
      });
      const multiply = ({ left, right }: ReturnType<typeof load>) => {
        for (let i = 0; i < tm; i++) {
          for (let j = 0; j < tn; j++) t.multiply(cell(i, j), left[i >> 2][i % 4], right[j >> 2][j % 4]);
        }
      };

      stage(0, fetch(0));
      yield;
      let fetched = fetch(bk);
      t.step('multiply', 0, 1);
      let loaded = load(0);
      for (let base = 0; base < shape.k; base += bk) {
        for (let k = base; k < base + bk; k++) {
          if (k === base + bk - 1) {
            yield;
            stage(base + bk, fetched);
            yield;
            fetched = fetch(base + 2 * bk);
          }
          if (k > 0) t.step('multiply', k, k + 1);
          const following = load(k + 1);
          multiply(loaded);
          loaded = following;
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

  /** A, which lies along K: blocks of 4×4, turned on their way. Threads without a unit fetch what others do. */
  function turned(t: Thread): Unit[] {
    const units = (bk / 4) * lineA;
    return rounds(units).map(first => {
      const own = t.index + first < units;
      const unit = (t.index + first) % units;
      const [four, vector] = [unit % (bk / 4), Math.floor(unit / (bk / 4))];
      const row = t.tileRow * bm + vector * 4;
      return {
        words: [0, 1, 2, 3].map(i => base => (row + i) * wordsK + base / 4 + four),
        vectors: words =>
          [0, 1, 2, 3].map(e => [own ? atA(4 * four + e) + vector : -1, words.map(word => word[e])]),
      };
    });
  }

  /** B, which lies across K: vec4s as they are. */
  function across(t: Thread): Unit[] {
    const units = bk * lineB;
    return rounds(units).map(first => {
      const own = t.index + first < units;
      const unit = (t.index + first) % units;
      const [k, vector] = [Math.floor(unit / lineB), unit % lineB];
      return {
        words: [base => (base + k) * wordsN + (t.tileCol * bn) / 4 + vector],
        vectors: ([word]) => [[own ? unit : -1, word]],
      };
    });
  }

  /** Either, from blocks that hold the panel's vec4s in order. */
  function packed(t: Thread, tileIndex: number, line: number): Unit[] {
    const units = bk * line;
    return rounds(units).map(first => {
      const own = t.index + first < units;
      const unit = (t.index + first) % units;
      return {
        words: [base => (tileIndex * shape.k + base) * line + unit],
        vectors: ([word]) => [[own ? unit : -1, word]],
      };
    });
  }
}
