/** Rungs 4 to 7: tiles of A and B go through workgroup memory. */
import type { Shape } from '../../../ladder/rung.ts';
import { globals, tile } from './arrays.ts';
import type { Mapping, Thread } from './trace.ts';

const groupOf: Mapping['groupOf'] = (row, col) => [col, row];

/** Rung 4: a thread fetches one number of each tile, and makes one cell. */
export function sharedMemory(shape: Shape, lanes: number, TILE: number): Mapping {
  return {
    ...{ threads: TILE * TILE, side: TILE, lanes, groupOf },
    arrays: { ...globals(shape), tileA: tile('A', TILE, TILE), tileB: tile('B', TILE, TILE) },
    tile: { m: TILE, n: TILE, k: TILE },
    *main(t) {
      const row = t.group[1] * TILE + t.y;
      const col = t.group[0] * TILE + t.x;
      const cell = row * shape.n + col;
      for (let start = 0; start < shape.k; start += TILE) {
        t.step('fetch', start, start + TILE);
        t.write('tileA', t.y * TILE + t.x, t.read('a', row * shape.k + start + t.x));
        t.write('tileB', t.y * TILE + t.x, t.read('b', (start + t.y) * shape.n + col));
        yield;
        for (let k = 0; k < TILE; k++) {
          t.step('multiply', start + k, start + k + 1);
          const [a] = t.read('tileA', t.y * TILE + k);
          const [b] = t.read('tileB', k * TILE + t.x);
          t.multiply(cell, a, b);
        }
        yield;
      }
      t.step('store');
      t.write('c', cell, [cell]);
    },
  };
}

/**
 * Rungs 5 and 6: a thread makes BLOCK×BLOCK cells. Written as loops (rung 5), each product reads its factors anew; written
 * out (rung 6), a step's factors are read once and named.
 */
export function threadTiling(
  shape: Shape,
  lanes: number,
  { TILE, SIDE }: { readonly TILE: number; readonly SIDE: number },
  written: 'as loops' | 'out',
): Mapping {
  const BLOCK = TILE / SIDE;
  return {
    ...{ threads: SIDE * SIDE, side: SIDE, lanes, groupOf },
    arrays: { ...globals(shape), tileA: tile('A', TILE, TILE), tileB: tile('B', TILE, TILE) },
    tile: { m: TILE, n: TILE, k: TILE },
    *main(t) {
      const block = blockOf(t, TILE, BLOCK);
      for (let start = 0; start < shape.k; start += TILE) {
        for (let i = 0; i < (TILE * TILE) / t.threads; i++) {
          const y = Math.floor((t.index + i * t.threads) / TILE);
          const x = (t.index + i * t.threads) % TILE;
          t.step('fetch', start, start + TILE);
          t.write('tileA', y * TILE + x, t.read('a', (block.firstRow + y) * shape.k + start + x));
          t.write('tileB', y * TILE + x, t.read('b', (start + y) * shape.n + block.firstCol + x));
        }
        yield;
        for (let k = 0; k < TILE; k++) {
          t.step('multiply', start + k, start + k + 1);
          const a = (i: number) => t.read('tileA', (t.y * BLOCK + i) * TILE + k);
          const b = (j: number) => t.read('tileB', k * TILE + t.x * BLOCK + j);
          if (written === 'out') block.multiply(times(BLOCK, a), times(BLOCK, b));
          else each(BLOCK, (i, j) => block.multiplyOne(i, j, a(i), b(j)));
        }
        yield;
      }
      block.store();
    },
  };
}

/** Rung 7: rung 6 with arrays of vec4, and B transposed, so that both are read along K. */
export function vectorized(
  shape: Shape,
  lanes: number,
  { TILE, SIDE }: { readonly TILE: number; readonly SIDE: number },
): Mapping {
  const BLOCK = TILE / SIDE;
  const VECTORS = TILE / 4;
  const vectors = shape.k / 4;
  const { a, b, c } = globals(shape);
  return {
    ...{ threads: SIDE * SIDE, side: SIDE, lanes, groupOf },
    arrays: {
      a: { ...a, vector: 4, line: vectors },
      bt: { ...b, vector: 4, line: vectors, rows: shape.n, transposed: true },
      c,
      tileA: tile('A', TILE, VECTORS, { vector: 4 }),
      tileBt: tile('B', TILE, VECTORS, { vector: 4, transposed: true }),
    },
    tile: { m: TILE, n: TILE, k: TILE },
    *main(t) {
      const block = blockOf(t, TILE, BLOCK);
      const y = Math.floor(t.index / VECTORS);
      const x = t.index % VECTORS;
      for (let start = 0; start < vectors; start += VECTORS) {
        for (let i = 0; i < (TILE * VECTORS) / t.threads; i++) {
          const to = (y + i * SIDE) * VECTORS + x;
          t.step('fetch', 4 * start, 4 * start + TILE);
          t.write('tileA', to, t.read('a', (block.firstRow + y + i * SIDE) * vectors + start + x));
          t.write('tileBt', to, t.read('bt', (block.firstCol + y + i * SIDE) * vectors + start + x));
        }
        yield;
        for (let k = 0; k < VECTORS; k++) {
          t.step('multiply', 4 * (start + k), 4 * (start + k + 1));
          const left = times(BLOCK, i => t.read('tileA', (t.y * BLOCK + i) * VECTORS + k));
          const right = times(BLOCK, j => t.read('tileBt', (t.x * BLOCK + j) * VECTORS + k));
          block.multiply(left, right);
        }
        yield;
      }
      block.store();
    },
  };
}

const times = <T>(count: number, item: (i: number) => T) => Array.from({ length: count }, (_, i) => item(i));

function each(BLOCK: number, visit: (i: number, j: number) => void): void {
  for (let i = 0; i < BLOCK; i++) for (let j = 0; j < BLOCK; j++) visit(i, j);
}

/** The BLOCK×BLOCK cells of a thread. */
function blockOf(t: Thread, TILE: number, BLOCK: number) {
  const [firstRow, firstCol] = [t.group[1] * TILE, t.group[0] * TILE];
  const cell = (i: number, j: number) =>
    (firstRow + t.y * BLOCK + i) * t.shape.n + firstCol + t.x * BLOCK + j;
  const multiplyOne = (i: number, j: number, a: Int32Array, b: Int32Array) => {
    for (let e = 0; e < a.length; e++) t.multiply(cell(i, j), a[e], b[e]);
  };
  return {
    firstRow,
    firstCol,
    multiplyOne,
    multiply: (a: Int32Array[], b: Int32Array[]) => each(BLOCK, (i, j) => multiplyOne(i, j, a[i], b[j])),
    store: () =>
      each(BLOCK, (i, j) => {
        if (j === 0) t.step('store');
        t.write('c', cell(i, j), [cell(i, j)]);
      }),
  };
}
