/** Float64 results of whole GEMM problems, with everything that a problem can ask for, and what they may be off by. */
import type { HostArray } from '../device/buffers.ts';
import { fromHalf } from '../float16.ts';
import { type Activation, isEmpty, type Operand, type Problem } from '../problem.ts';
import { type Arithmetic, resultRounding, type Signs, sumBound } from './tolerance.ts';
import type { Verdict } from './verify.ts';

/** What was uploaded: elements as they lie in the buffers, half floats as bits. */
export interface HostOperands {
  readonly a: HostArray;
  readonly b: HostArray;
  /** What C held before; needed where beta is not 0. */
  readonly c?: HostArray;
  readonly bias?: HostArray;
  readonly residual?: HostArray;
}

export interface ExpectedOptions {
  readonly arithmetic: Arithmetic;
  /** `random` allows the tighter bound; see tolerance.ts. */
  readonly signs: Signs;
  /** The caller's WGSL expression as a function, where the problem has one. */
  readonly epilogue?: (value: number, row: number, col: number, batch: number) => number;
  /** The rows to look at; all of them if left out. */
  readonly rows?: readonly number[];
}

/** Value of an element of a host array of that type. */
export function elementOf(array: HostArray, index: number): number {
  return array instanceof Uint16Array ? fromHalf(array[index]) : array[index];
}

/** Where C's cell lies among C's elements. */
export const cellIndex = ({ c }: Problem, batch: number, row: number, col: number): number =>
  c.offset + batch * c.stride + row * c.ld + col;

/** Whether an element of C's buffer is a cell of C. */
export function isCellOf({ m, n, batch, c }: Problem): (element: number) => boolean {
  return element => {
    const rest = element - c.offset;
    if (rest < 0) return false;
    const product = batch > 1 ? Math.min(batch - 1, Math.floor(rest / c.stride)) : 0;
    const inside = rest - product * c.stride;
    return Math.floor(inside / c.ld) < m && inside % c.ld < n;
  };
}

/** Holds every cell of a computed C, or of some of its rows, against float64. */
export function verifyProblem(
  problem: Problem,
  host: HostOperands,
  result: HostArray,
  options: ExpectedOptions,
): Verdict {
  let error = 0;
  let norm = 0;
  let worst = 0;
  let failure: string | null = null;
  if (isEmpty(problem)) return { ok: true, relErr: 0, worst: 0, failure };
  const rows = options.rows ?? Array.from({ length: problem.m }, (_, row) => row);
  for (let batch = 0; batch < problem.batch; batch++) {
    for (const row of rows) {
      const expected = expectedRow(problem, host, batch, row, options);
      for (let col = 0; col < problem.n; col++) {
        const got = elementOf(result, cellIndex(problem, batch, row, col));
        const want = roundedTo(problem.c.type, expected.values[col]);
        const difference = Math.abs(got - want);
        const same = Number.isNaN(want) ? Number.isNaN(got) : got === want;
        const ratio = same ? 0 : difference / expected.bounds[col];
        if (!(ratio <= Math.max(worst, 1))) {
          const where = `C[${batch > 1 ? `${batch}, ` : ''}${row}, ${col}]`;
          failure = `${where} is ${got} where ${want} is due`;
          if (!Number.isFinite(ratio)) return { ok: false, relErr: null, worst: null, failure };
        }
        worst = Math.max(worst, ratio);
        if (!same) error += difference ** 2;
        if (Number.isFinite(want)) norm += want ** 2;
      }
    }
  }
  const relErr = norm > 0 ? Math.sqrt(error / norm) : error > 0 ? null : 0;
  return { ok: failure === null, relErr, worst, failure };
}

/** A row of C in float64, and how far each cell may be from it. */
export function expectedRow(
  problem: Problem,
  host: HostOperands,
  batch: number,
  row: number,
  { arithmetic, signs, epilogue }: ExpectedOptions,
): { readonly values: Float64Array; readonly bounds: Float64Array } {
  const { n, k, a, b, c, alpha, beta } = problem;
  const values = new Float64Array(n);
  const bounds = new Float64Array(n);
  const boundOf = sumBound(arithmetic, signs, k);
  const sumUnit = arithmetic === 'exact' ? 0 : 2 ** -23;
  for (let col = 0; col < n; col++) {
    let sum = 0;
    let absolute = 0;
    let squares = 0;
    for (let i = 0; i < k; i++) {
      const product = operandAt(host.a, a, batch, row, i) * operandAt(host.b, b, batch, i, col);
      sum += product;
      absolute += Math.abs(product);
      squares += product * product;
    }
    let value = alpha * sum;
    let bound = Math.abs(alpha) * boundOf(absolute, squares, sum);
    let terms = Math.abs(value);
    const add = (term: number) => {
      value += term;
      terms += Math.abs(term);
    };
    const index = cellIndex(problem, batch, row, col);
    if (beta !== 0) add(beta * elementOf(host.c!, index));
    if (problem.bias !== 'none') add(elementOf(host.bias!, problem.bias === 'row' ? col : row));
    bound += 3 * sumUnit * terms;
    if (problem.activation !== 'none') {
      const before = value;
      value = activateNumber(problem.activation, value);
      // No activation is steeper than 1.13 (gelu); exp, tanh and erf are good to a few units of the last place.
      bound =
        1.2 * bound + (sumUnit > 0 ? 2 ** -19 * Math.max(Math.abs(value), Math.min(1, Math.abs(before))) : 0);
    }
    if (problem.residual) {
      const term = elementOf(host.residual!, index);
      value += term;
      bound += sumUnit * (Math.abs(value) + Math.abs(term));
    }
    if (epilogue) {
      // A bound for any smooth expression: how much it moves over the error that comes in.
      const moved = Math.max(
        Math.abs(epilogue(value + bound, row, col, batch) - epilogue(value, row, col, batch)),
        Math.abs(epilogue(value - bound, row, col, batch) - epilogue(value, row, col, batch)),
      );
      value = epilogue(value, row, col, batch);
      bound = 2 * moved + sumUnit * 8 * Math.abs(value);
    }
    values[col] = value;
    bounds[col] = bound + resultRounding(c.type, value);
  }
  return { values, bounds };
}

/** Element (row, col) of op(A) or op(B). */
export function operandAt(
  data: HostArray,
  operand: Operand,
  batch: number,
  row: number,
  col: number,
): number {
  const [y, x] = operand.trans ? [col, row] : [row, col];
  return elementOf(data, operand.offset + batch * operand.stride + y * operand.ld + x);
}

/** ±Inf where the type of C can hold no more; everything else stays exact. */
function roundedTo(type: Problem['c']['type'], value: number): number {
  if (type === 'f32' && Math.abs(value) >= 3.4028235677973366e38) return value > 0 ? Infinity : -Infinity;
  if (type === 'f16' && Math.abs(value) >= 65520) return value > 0 ? Infinity : -Infinity;
  if (type === 'i32') return value | 0;
  return value;
}

export function activateNumber(activation: Activation, x: number): number {
  if (typeof activation !== 'string') {
    const [min, max] = activation.clip;
    return x < min ? min : Math.min(x, max);
  }
  switch (activation) {
    case 'none':
      return x;
    case 'relu':
      return Math.max(x, 0);
    case 'sigmoid':
      return 1 / (1 + Math.exp(-x));
    case 'silu':
      return x === -Infinity ? Number.NaN : x / (1 + Math.exp(-x));
    case 'tanh':
      return Math.tanh(x);
    case 'gelu-tanh':
      return 0.5 * x * (1 + Math.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3)));
    case 'gelu':
      return 0.5 * x * (1 + erf(x / Math.SQRT2));
  }
}

/** The error function in float64: its series near 0, a continued fraction for erfc further out. */
function erf(x: number): number {
  const z = Math.abs(x);
  if (!(z < 6)) return Math.sign(x);
  if (z < 2.5) {
    let term = z;
    let sum = z;
    for (let i = 1; Math.abs(term) > 1e-17 * sum; i++) {
      term *= (-z * z) / i;
      sum += term / (2 * i + 1);
    }
    return Math.sign(x) * (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let i = 60; i > 0; i--) fraction = i / 2 / (z + fraction);
  return Math.sign(x) * (1 - Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + fraction));
}
