/** Rungs 8s and 8: what the lanes of a subgroup hold together. */
import type { Shape } from '../../../ladder/rung.ts';
import { globals, tile } from './arrays.ts';
import type { Mapping } from './trace.ts';

const groupOf: Mapping['groupOf'] = (row, col) => [col, row];

/** Rung 8s: A in the lanes' registers, handed from one lane to all others. */
export function shuffle(
  shape: Shape,
  LANES: number,
  { ROWS, COLS, SUBGROUPS }: Readonly<Record<'ROWS' | 'COLS' | 'SUBGROUPS', number>>,
): Mapping {
  return {
    ...{ threads: SUBGROUPS * LANES, side: SUBGROUPS * LANES, lanes: LANES, groupOf },
    arrays: {
      ...globals(shape),
      registers: { memory: 'lanes', operand: 'A', bytes: 4, vector: 1, line: LANES, rows: ROWS },
    },
    tile: { m: SUBGROUPS * ROWS, n: COLS * LANES, k: LANES },
    *main(t) {
      const row = (t.group[1] * SUBGROUPS + t.subgroup) * ROWS;
      const col = t.group[0] * COLS * LANES + t.lane;
      const cell = (i: number, j: number) => (row + i) * shape.n + col + j * LANES;
      const register = (i: number, lane: number) => (t.subgroup * ROWS + i) * LANES + lane;
      for (let start = 0; start < shape.k; start += LANES) {
        for (let i = 0; i < ROWS; i++) {
          t.step('fetch', start, start + LANES);
          t.write('registers', register(i, t.lane), t.read('a', (row + i) * shape.k + start + t.lane));
        }
        yield;
        for (let k = 0; k < LANES; k++) {
          t.step('multiply', start + k, start + k + 1);
          const right: number[] = [];
          for (let j = 0; j < COLS; j++) right.push(t.read('b', (start + k) * shape.n + col + j * LANES)[0]);
          for (let i = 0; i < ROWS; i++) {
            const [left] = t.read('registers', register(i, k));
            right.forEach((b, j) => {
              t.multiply(cell(i, j), left, b);
            });
          }
        }
        yield;
      }
      for (let i = 0; i < ROWS; i++) {
        t.step('store');
        for (let j = 0; j < COLS; j++) {
          t.write('c', cell(i, j), [cell(i, j)]);
        }
      }
    },
  };
}

export interface Matrices {
  /** Rows, columns and depth of the matrix unit's product. */
  readonly M: number;
  readonly N: number;
  readonly K: number;
  /** Of K, through workgroup memory at a time. */
  readonly STEP: number;
  /** Subgroups along a side, and result matrices along a side of each. */
  readonly GRID: number;
  readonly bytes: { readonly inputs: number; readonly result: number };
}

/** Rung 8: whole matrices, loaded from workgroup memory and multiplied by a subgroup at once. */
export function matrices(shape: Shape, lanes: number, { M, N, K, STEP, GRID, bytes }: Matrices): Mapping {
  const THREADS = GRID * GRID * lanes;
  const [ROWS, COLS] = [GRID * GRID * M, GRID * GRID * N];
  const inputs = { bytes: bytes.inputs };
  return {
    ...{ threads: THREADS, side: THREADS, lanes, together: true, groupOf },
    arrays: {
      ...globals(shape, bytes),
      tileA: tile('A', ROWS, STEP, inputs),
      tileB: tile('B', STEP, COLS, inputs),
      tileC: tile('C', ROWS, COLS, { bytes: bytes.result }),
    },
    tile: { m: ROWS, n: COLS, k: STEP },
    *main(t) {
      const [firstRow, firstCol] = [t.group[1] * ROWS, t.group[0] * COLS];
      const row = Math.floor(t.subgroup / GRID) * GRID * M;
      const col = (t.subgroup % GRID) * GRID * N;
      const grid = Array.from({ length: GRID * GRID }, (_, i) => [Math.floor(i / GRID) * M, (i % GRID) * N]);
      const results = grid.map(([y, x]) =>
        Int32Array.from(
          { length: M * N },
          (_, e) => (firstRow + row + y + Math.floor(e / N)) * shape.n + firstCol + col + x + (e % N),
        ),
      );
      for (let start = 0; start < shape.k; start += STEP) {
        for (let i = t.index; i < ROWS * STEP; i += THREADS) {
          t.step('fetch', start, start + STEP);
          const from = (firstRow + Math.floor(i / STEP)) * shape.k + start + (i % STEP);
          t.write('tileA', i, t.read('a', from));
        }
        for (let i = t.index; i < STEP * COLS; i += THREADS) {
          t.step('fetch', start, start + STEP);
          const from = (start + Math.floor(i / COLS)) * shape.n + firstCol + (i % COLS);
          t.write('tileB', i, t.read('b', from));
        }
        yield;
        for (let k = 0; k < STEP; k += K) {
          t.step('multiply', start + k, start + k + K);
          const left = Array.from({ length: GRID }, (_, i) =>
            t.readMatrix('tileA', (row + i * M) * STEP + k, M, K, STEP),
          );
          const right = Array.from({ length: GRID }, (_, j) =>
            t.readMatrix('tileB', k * COLS + col + j * N, K, N, COLS),
          );
          results.forEach((result, i) => {
            t.multiplyMatrices(() => result, left[Math.floor(i / GRID)], right[i % GRID], K);
          });
        }
        yield;
      }
      t.step('store');
      grid.forEach(([y, x], i) => {
        t.writeMatrix('tileC', (row + y) * COLS + col + x, results[i], N, COLS);
      });
      yield;
      for (let i = t.index; i < ROWS * COLS; i += THREADS) {
        t.step('store');
        const to = (firstRow + Math.floor(i / COLS)) * shape.n + firstCol + (i % COLS);
        t.write('c', to, t.read('tileC', i));
      }
    },
  };
}
