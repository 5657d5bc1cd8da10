/**
 * Holds a computed product against float64, cell by cell: small products whole, and of large ones a sample of rows and
 * the rows that look suspicious. Those are found by Freivalds' check (1977: C·x against A·(B·x) for a random x), which
 * sees every cell. It only points at rows, and never judges: rounding adds up along a row, and of thousands of right
 * rows some are far off by chance. So a right product passes for certain, and a wrong cell that moves its row by more
 * than the row's own rounding is found, and named.
 */
import { random } from './random.ts';
import { type Matrix, type ReferenceRow, referenceRow, timesInteger, timesVectors } from './reference.ts';
import { type Arithmetic, resultRounding, type Signs, sumBound } from './tolerance.ts';

/** A product that was computed, and how. */
export interface Product {
  readonly a: Matrix;
  readonly b: Matrix;
  /** What was computed, m×n in row order; for i32 whole numbers of 32 bits. */
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

/** Suspicious rows that are looked at whatever they cost. One in 300 right rows of f16 is suspicious. */
const SUSPECTS = 8;

/**
 * Compares `product.c` with A·B.
 *
 * @param budget multiply-adds to spend on a sample of whole rows, and once more on rows that look suspicious
 */
export function verify(product: Product, budget = BUDGET): Verdict {
  const { a, b } = product;
  const [m, n, k] = [a.rows, b.cols, a.cols];
  const count = Math.floor(budget / Math.max(1, n * k));
  const rows = sampleRows(m, count);
  const compared = compareRows(product, rows);
  if ('failure' in compared) return wrong(compared.failure);
  const { error, norm } = compared;
  let { worst, where } = compared;
  const relErr = norm > 0 ? Math.sqrt(error / norm) : error > 0 ? Number.POSITIVE_INFINITY : 0;
  if (worst <= 1 && rows.length < m) {
    const found = compareRows(product, suspiciousRows(product, Math.max(SUSPECTS, count)));
    if ('failure' in found) return wrong(found.failure);
    if (found.worst > worst) ({ worst, where } = found);
  }
  if (worst <= 1) return { ok: true, relErr, worst, failure: null };
  return {
    ok: false,
    relErr: finite(relErr),
    worst: finite(worst),
    failure: Number.isFinite(worst) ? `${where}: ${worst.toPrecision(3)} times the allowed error` : where,
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
  const boundOf = sumBound(arithmetic, signs, a.cols);
  let [error, norm, worst, where] = [0, 0, 0, ''];
  for (const i of rows) {
    const row = rowOf(a, b, i);
    for (let j = 0; j < n; j++) {
      const got = c[i * n + j];
      const want = result === 'i32' ? row.values[j] | 0 : row.values[j];
      if (Number.isNaN(want) ? Number.isNaN(got) : got === want) {
        if (Number.isFinite(want)) norm += want * want;
        continue;
      }
      if (!Number.isFinite(want) || !Number.isFinite(got)) {
        return { failure: `C[${i}, ${j}] is ${got} where ${want.toPrecision(6)} is due${unwritten(got)}` };
      }
      const bound = boundOf(row.absolute[j], row.squares[j], want) + resultRounding(result, want);
      const ratio = ratioTo(Math.abs(got - want), bound);
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

/** Rows that may hold a wrong cell, the most suspicious first: `most` of them, and all that hold NaN or infinity. */
function suspiciousRows(product: Product, most: number): readonly number[] {
  if (product.arithmetic === 'exact') return wrongIntegers(product).slice(0, most);
  const ratios = ratiosOfRows(product);
  const rows = [...ratios.keys()].filter(i => !(ratios[i] <= 1));
  const unclear = rows.filter(i => Number.isNaN(ratios[i]));
  const off = rows.filter(i => ratios[i] > 1).sort((i, j) => ratios[j] - ratios[i]);
  return [...unclear, ...off.slice(0, most)];
}

/**
 * How far (C·x)ᵢ is from (A·(B·x))ᵢ, for each row, as a multiple of √Σ(bounds of the row's cells)² for data of random
 * sign, and of the sum of the bounds for any. NaN where a row holds NaN or infinity, due or not.
 *
 * x is random in sign and between a half and one in size: several wrong cells of a row do not cancel each other. If all
 * cells are within their bounds, a row exceeds t times the root with a probability of at most 2·exp(−t²/2) whatever the
 * errors are (Hoeffding 1963, over the signs of x); what correct rounding to f16 leaves has a third of it as its
 * standard deviation.
 */
function ratiosOfRows({ a, b, c, arithmetic, result, signs }: Product): Float64Array {
  const [m, n, k] = [a.rows, b.cols, a.cols];
  const { x, due } = freivaldsOf(a, b);
  const found = timesVectors({ rows: m, cols: n, data: c }, x);
  const boundOf = sumBound(arithmetic, signs, k);
  const root = Math.sqrt(n);
  return due.values.map((want, i) => {
    const [error, size] = [Math.abs(found.values[i] - want), Math.sqrt(found.squares[i])];
    const rounding = root * resultRounding(result, size / root);
    const bound = boundOf(due.absolute[i], due.squares[i], size) + rounding;
    return Number.isFinite(error) ? ratioTo(error, bound) : Number.NaN;
  });
}

/**
 * The rows of a product of integers that are wrong. All is computed modulo 2³², where i32 sums that wrap are still
 * exact, with a random odd x: one wrong cell is always found, and several of a row do not cancel each other but by
 * chance.
 */
function wrongIntegers({ a, b, c }: Product): readonly number[] {
  const [m, n] = [a.rows, b.cols];
  const next = random(n + 1);
  const x = Int32Array.from({ length: n }, () => (next() * 2 ** 32) | 1);
  const due = timesInteger(a, timesInteger(b, x));
  const found = timesInteger({ rows: m, cols: n, data: c }, x);
  return Array.from(due.keys()).filter(i => found[i] !== due[i]);
}

/** What does not depend on C: several results are held against the same product. */
interface Expectation {
  readonly b: Matrix;
  /** Rows of A·B that results were compared with. */
  readonly rows: Map<number, ReferenceRow>;
  freivalds?: Freivalds;
}

interface Freivalds {
  /** The vector that C is multiplied by; ones where its size is asked for. */
  readonly x: ReferenceRow;
  /** A·(B·x), and what the bound of a row is made of. */
  readonly due: ReferenceRow;
}

/** Cells of reference rows to keep of a product. */
const KEPT = 2 ** 20;

const expectations = new WeakMap<Matrix, Expectation>();

function expectationOf(a: Matrix, b: Matrix): Expectation {
  const known = expectations.get(a);
  if (known?.b === b) return known;
  const expectation = { b, rows: new Map() };
  expectations.set(a, expectation);
  return expectation;
}

function rowOf(a: Matrix, b: Matrix, i: number): ReferenceRow {
  const { rows } = expectationOf(a, b);
  const row = rows.get(i) ?? referenceRow(a, b, i);
  if (rows.size * b.cols < KEPT) rows.set(i, row);
  return row;
}

function freivaldsOf(a: Matrix, b: Matrix): Freivalds {
  const expectation = expectationOf(a, b);
  if (expectation.freivalds) return expectation.freivalds;
  const next = random(b.cols + 1);
  const ones = new Float64Array(b.cols).fill(1);
  const values = ones.map(() => (0.5 + next() / 2) * (next() < 0.5 ? -1 : 1));
  const x = { values, absolute: ones, squares: ones };
  const freivalds = { x, due: timesVectors(a, timesVectors(b, x)) };
  expectation.freivalds = freivalds;
  return freivalds;
}
