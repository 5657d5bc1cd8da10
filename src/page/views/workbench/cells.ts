/** Every cell of a wrong product held against float64, for a map of where it is wrong. Pure. */
import { poisoned } from '../../../measure/fence.ts';
import { random } from '../../../measure/random.ts';
import { referenceRow } from '../../../measure/reference.ts';
import { resultRounding, sumBound } from '../../../measure/tolerance.ts';
import type { Product } from '../../../measure/verify.ts';

/** What a cell is. How far off a wrong one is counts in what its products usually add up to: √Σ(a·b)². */
export const KINDS = [
  { id: 'right', label: 'within the allowed error' },
  { id: 'slight', label: 'off by up to 1 % of a typical value' },
  { id: 'some', label: 'off by up to 10 %' },
  { id: 'much', label: 'off by up to 100 %' },
  { id: 'more', label: 'off by more than a typical value' },
  { id: 'nan', label: 'infinite, or not a number' },
  { id: 'unwritten', label: 'never written' },
] as const;

const NAN = 5;
const UNWRITTEN = 6;
const STEPS = [0.01, 0.1, 1];

export interface Cell {
  readonly row: number;
  readonly col: number;
  readonly got: number;
  readonly want: number;
  /** Index of its kind. */
  readonly kind: number;
}

/** Where a product is wrong. */
export interface CellMap {
  readonly m: number;
  readonly n: number;
  /** The rows that were compared, in order; all m of them where there was time for it. */
  readonly rows: readonly number[];
  /** Of each cell of those rows, the index of its kind. */
  readonly kinds: Uint8Array;
  /** How many of those cells are of each kind. */
  readonly counts: readonly number[];
  /** The cell that is off furthest; null where no cell with a number is wrong. */
  readonly worst: Cell | null;
  /** The first wrong cell. */
  readonly first: Cell | null;
  /** The smallest box of whole rows and columns that holds every wrong cell; null where none is. */
  readonly box: { readonly rows: readonly [number, number]; readonly cols: readonly [number, number] } | null;
}

/** Multiply-adds of float64 that a map may cost: about 3 s. */
const BUDGET = 2 ** 30;
/** Multiply-adds between two looks at whether somebody still wants it. */
const SLICE = 2 ** 26;

interface MapOptions {
  /** Called every 100 ms or so, with how much is done from 0 to 1. Throws where the map is no longer wanted. */
  readonly pause?: (done: number) => Promise<void>;
  readonly budget?: number;
}

/** @param product its C is f32 with poison in the cells that were not written (measure/fence.ts), or f16 */
export async function mapCells(
  product: Product,
  { pause = async () => {}, budget = BUDGET }: MapOptions = {},
): Promise<CellMap> {
  const { a, b, c, result } = product;
  const [m, n, k] = [a.rows, b.cols, a.cols];
  const rows = spreadRows(m, Math.floor(budget / Math.max(1, n * k)));
  const boundOf = sumBound(product.arithmetic, product.signs, k);
  const bits = c instanceof Float32Array ? new Uint32Array(c.buffer, c.byteOffset, c.length) : null;
  const [poison] = poisoned(1, 4);
  const kinds = new Uint8Array(rows.length * n);
  const counts = KINDS.map(() => 0);
  let [worst, first]: (Cell | null)[] = [null, null];
  let furthest = 0;
  let box: CellMap['box'] = null;
  const between = Math.max(1, Math.floor(SLICE / (n * k)));
  for (const [index, row] of rows.entries()) {
    if (index % between === 0) await pause(index / rows.length);
    const { values, absolute, squares } = referenceRow(a, b, row);
    for (let col = 0; col < n; col++) {
      const place = row * n + col;
      const [got, want] = [c[place], values[col]];
      const error = Math.abs(got - want);
      const allowed = boundOf(absolute[col], squares[col], want) + resultRounding(result, want);
      const off = error / Math.sqrt(squares[col]);
      let kind = error <= allowed ? 0 : 1 + STEPS.filter(step => off > step).length;
      if (!Number.isFinite(got)) kind = bits?.[place] === poison ? UNWRITTEN : NAN;
      kinds[index * n + col] = kind;
      counts[kind]++;
      if (kind === 0) continue;
      const cell = { row, col, got, want, kind };
      first ??= cell;
      if (kind < NAN && off > furthest) [worst, furthest] = [cell, off];
      box = box
        ? { rows: [box.rows[0], row], cols: [Math.min(box.cols[0], col), Math.max(box.cols[1], col)] }
        : { rows: [row, row], cols: [col, col] };
    }
  }
  return { m, n, rows, kinds, counts, worst, first, box };
}

/** `count` rows of m, one at random out of each of as many equal parts: what repeats every few rows is not missed. */
function spreadRows(m: number, count: number): number[] {
  if (count >= m) return Array.from({ length: m }, (_, row) => row);
  const next = random(m);
  const parts = Math.max(1, count);
  return Array.from({ length: parts }, (_, part) => {
    const [from, to] = [Math.floor((part * m) / parts), Math.floor(((part + 1) * m) / parts)];
    return from + Math.floor(next() * (to - from));
  });
}
