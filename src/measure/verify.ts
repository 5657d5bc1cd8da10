/**
 * Holds a computed product against float64. Small products are compared whole; of large ones whole rows are, and a
 * Freivalds check (Freivalds 1977: C·x against A·(B·x) for a random x) covers every other cell, so that one wrong
 * cell anywhere is found.
 */
import { random } from './random.ts';
import { type Matrix, type ReferenceRow, referenceRow, timesVectors } from './reference.ts';
import { type Arithmetic, gamma, magnitude, resultRounding, type Signs } from './tolerance.ts';

/** A product that was computed, and how. */
export interface Product {
  readonly a: Matrix;
  readonly b: Matrix;
  /** What was computed, m×n in row order. */
  readonly c: ArrayLike<number>;
  readonly arithmetic: Arithmetic;
  readonly result: 'f32' | 'f16' | 'i32';
  /** `random` promises products of random sign and allows the tighter bound (tolerance.ts). */
  readonly signs: Signs;
}

/** What a comparison with float64 found. */
export interface Verdict {
  readonly ok: boolean;
  /** ‖C − ref‖ / ‖ref‖ over the rows that were compared; null where a cell is not a number that could be. */
  readonly relErr: number | null;
  /** The largest |C − ref| over its allowed bound; 1 and less passes. Null likewise. */
  readonly worst: number | null;
  /** What is wrong, as one line; null where nothing is. */
  readonly failure: string | null;
}

/** Multiply-adds of float64 reference that a check may cost: about half a second. */
const BUDGET = 2 ** 28;

/** Compares `product.c` with A·B. @param budget multiply-adds to spend on whole rows */
export function verify(product: Product, budget = BUDGET): Verdict {
  const { a, b } = product;
  const [m, n, k] = [a.rows, b.cols, a.cols];
  const rows = sampleRows(m, Math.floor(budget / Math.max(1, n * k)));
  const compared = compareRows(product, rows);
  if ('failure' in compared) return wrong(compared.failure);
  const { error, norm } = compared;
  let { worst, where } = compared;
  const relErr = norm > 0 ? Math.sqrt(error / norm) : error > 0 ? Number.POSITIVE_INFINITY : 0;
  if (worst <= 1 && rows.length < m) {
    const everywhere = freivalds(product);
    const unclear = compareRows(product, everywhere.unclear);
    if ('failure' in unclear) return wrong(unclear.failure);
    for (const found of [everywhere, unclear]) if (found.worst > worst) ({ worst, where } = found);
  }
  if (worst <= 1) return { ok: true, relErr, worst, failure: null };
  return {
    ok: false,
    relErr: finite(relErr),
    worst: finite(worst),
    failure: `${where}: ${worst.toPrecision(3)} times the allowed error`,
  };
}

interface Found {
  /** The largest error over its bound, and what is wrong there. */
  readonly worst: number;
  readonly where: string;
}

/** Compares rows of C cell by cell. Fails at the first cell that is NaN or infinite and should not be, or the reverse. */
function compareRows(
  { a, b, c, arithmetic, result, signs }: Product,
  rows: readonly number[],
): (Found & { readonly error: number; readonly norm: number }) | { readonly failure: string } {
  const n = b.cols;
  const factor = gamma(arithmetic, signs, a.cols);
  let [error, norm, worst, where] = [0, 0, 0, ''];
  for (const i of rows) {
    const row = referenceRow(a, b, i);
    for (let j = 0; j < n; j++) {
      const got = c[i * n + j];
      const want = row.values[j];
      if (Number.isNaN(want) ? Number.isNaN(got) : got === want) {
        if (Number.isFinite(want)) norm += want * want;
        continue;
      }
      if (!Number.isFinite(want) || !Number.isFinite(got)) {
        return { failure: `C[${i}, ${j}] is ${got} where ${want.toPrecision(6)} is due${unwritten(got)}` };
      }
      const scale = magnitude(signs, row.absolute[j], row.squares[j], want);
      const ratio = ratioTo(Math.abs(got - want), factor * scale + resultRounding(result, want));
      if (ratio > worst) [worst, where] = [ratio, `C[${i}, ${j}] is ${got} where ${want} is due`];
      error += (got - want) ** 2;
      norm += want * want;
    }
  }
  return { error, norm, worst, where };
}

const wrong = (failure: string): Verdict => ({ ok: false, relErr: null, worst: null, failure });
const finite = (value: number) => (Number.isFinite(value) ? value : null);
const unwritten = (got: number) => (Number.isNaN(got) ? ' (never written, or not a number)' : '');
const ratioTo = (error: number, bound: number) => (error === 0 ? 0 : error / bound);

/** `count` rows: the first and the last, where tiles end, and random ones between; all of them if they are few. */
export function sampleRows(m: number, count: number): number[] {
  if (count >= m) return Array.from({ length: m }, (_, i) => i);
  const next = random(m);
  const rows = new Set([0, m - 1]);
  while (rows.size < Math.min(m, Math.max(2, count))) rows.add(Math.floor(next() * m));
  return [...rows].sort((x, y) => x - y);
}

/**
 * C·x against A·(B·x), a bound for each row. x is random and real, away from zero: several wrong cells of a row do
 * not cancel each other. A row with NaN or infinity in it, due or not, is left unclear.
 */
function freivalds({ a, b, c, arithmetic, result, signs }: Product): Found & {
  readonly unclear: readonly number[];
} {
  const [m, n, k] = [a.rows, b.cols, a.cols];
  const { x, due } = expectationOf(a, b);
  const found = timesVectors({ rows: m, cols: n, data: c }, x);
  const factor = gamma(arithmetic, signs, k);
  const unclear: number[] = [];
  let [worst, where] = [0, ''];
  for (let i = 0; i < m; i++) {
    const [got, want, size] = [found.values[i], due.values[i], Math.sqrt(found.squares[i])];
    const bound =
      factor * magnitude(signs, due.absolute[i], due.squares[i], size) + resultRounding(result, size);
    const ratio = ratioTo(Math.abs(got - want), bound);
    if (!Number.isFinite(got) || !Number.isFinite(want)) unclear.push(i);
    else if (ratio > worst) [worst, where] = [ratio, `row ${i} of C is off`];
  }
  return { worst, where, unclear };
}

/** What does not depend on C: several results are held against the same product. */
interface Expectation {
  readonly b: Matrix;
  /** The vector that C is multiplied by; ones where its size is asked for. */
  readonly x: ReferenceRow;
  /** A·(B·x), and the bound of a row: its cells' bounds added up as random errors are, or as the worst would be. */
  readonly due: ReferenceRow;
}

const expectations = new WeakMap<Matrix, Expectation>();

function expectationOf(a: Matrix, b: Matrix): Expectation {
  const known = expectations.get(a);
  if (known?.b === b) return known;
  const next = random(b.cols + 1);
  const ones = new Float64Array(b.cols).fill(1);
  const values = ones.map(() => (0.5 + next() / 2) * (next() < 0.5 ? -1 : 1));
  const x = { values, absolute: ones, squares: ones };
  const expectation = { b, x, due: timesVectors(a, timesVectors(b, x)) };
  expectations.set(a, expectation);
  return expectation;
}
