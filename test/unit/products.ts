/** Products computed on the host the way good and bad kernels compute them. */
import { fromHalves, toHalves } from '../../src/float16.ts';
import type { Matrix } from '../../src/measure/reference.ts';
import type { Product } from '../../src/measure/verify.ts';

const f32 = Math.fround;

/** Ways to add up f32 numbers, each addition rounded to f32. */
export const SUMS = {
  sequential: (terms: Float32Array) => terms.reduce((sum, term) => f32(sum + term), 0),
  reversed: (terms: Float32Array) => terms.reduceRight((sum, term) => f32(sum + term), 0),
  pairwise: (terms: Float32Array): number => {
    if (terms.length === 1) return terms[0];
    const half = terms.length >> 1;
    return f32(SUMS.pairwise(terms.subarray(0, half)) + SUMS.pairwise(terms.subarray(half)));
  },
};

/** A·B with f32 products, added up by `sum`. */
export function multiplyF32(a: Matrix, b: Matrix, sum = SUMS.sequential): Float32Array<ArrayBuffer> {
  const c = new Float32Array(a.rows * b.cols);
  const terms = new Float32Array(a.cols);
  for (let i = 0; i < a.rows; i++) {
    for (let j = 0; j < b.cols; j++) {
      for (let k = 0; k < a.cols; k++) terms[k] = a.data[i * a.cols + k] * b.data[k * b.cols + j];
      c[i * b.cols + j] = sum(terms);
    }
  }
  return c;
}

/** A·B of integers, with i32 sums. */
export function multiplyIntegers(a: Matrix, b: Matrix): Int32Array<ArrayBuffer> {
  const c = new Int32Array(a.rows * b.cols);
  for (let i = 0; i < a.rows; i++) {
    for (let k = 0; k < a.cols; k++) {
      const left = a.data[i * a.cols + k];
      for (let j = 0; j < b.cols; j++) c[i * b.cols + j] += left * b.data[k * b.cols + j];
    }
  }
  return c;
}

/** The matrix with its entries rounded to f16. */
export const narrowed = (matrix: Matrix): Matrix => ({ ...matrix, data: fromHalves(toHalves(matrix.data)) });

/** A product of plain f32 arithmetic on data of random sign, unless `more` says otherwise. */
export const product = (
  a: Matrix,
  b: Matrix,
  c: ArrayLike<number>,
  more: Partial<Product> = {},
): Product => ({
  a,
  b,
  c,
  arithmetic: 'f32',
  result: 'f32',
  signs: 'random',
  ...more,
});
