/**
 * How far a computed product may be from the exact one. The one place that says so.
 *
 * Every cell's bound is γ·s: γ grows with K and comes from the arithmetic, s is a magnitude of the cell's K products.
 *
 * - For any data: s = Σ|a·b|, and γ = K·u, the worst that K roundings can do (Higham, Accuracy and Stability of
 *   Numerical Algorithms, 2002, §3.1).
 * - For products of random sign, as the ladder, the bench and the tuner multiply: the partial sums are a random walk
 *   to c whose steps have the size q = √Σ(a·b)², so s = √(q² + 2c²) is, up to a constant, the size that they really
 *   have, and γ = 3·√K·u is about ten standard deviations of what a plain f32 sum does (probabilistic rounding
 *   analysis: Higham and Mary, SIAM J. Sci. Comput. 41, 2019). This is tight enough to tell f32 from f16 inputs
 *   (u = 2⁻¹¹) up to K of a million, where the worst-case bound could not from K = 8000 on.
 */

/** How a kernel computes, as far as its error depends on it. */
export type Arithmetic =
  /** f32 products and sums, in any order. */
  | 'f32'
  /** Matrix units with f32 results. Those of NVIDIA truncate while they add, so the error grows with K itself. */
  | 'matrix-f32'
  /** The same on f32 inputs that were rounded to f16, as a caller may allow. */
  | 'narrowed'
  /** Sums held in f16. */
  | 'f16'
  /** Integers: no error at all. */
  | 'exact';

/** What is promised about products: of random sign, which allows the tighter bound, or nothing. */
export type Signs = 'random' | 'any';

const UNIT_F32 = 2 ** -24;
const UNIT_F16 = 2 ** -11;

/** γ: what a cell's magnitude is multiplied by. */
export function gamma(arithmetic: Arithmetic, signs: Signs, k: number): number {
  const steps = signs === 'random' ? 3 * Math.sqrt(k) : k + 1;
  switch (arithmetic) {
    case 'f32':
      return steps * UNIT_F32;
    case 'matrix-f32':
      return (2 * steps + k / 8) * UNIT_F32;
    case 'narrowed':
      // Each product is off by up to two roundings to f16; at random they add up as the products themselves do.
      return (signs === 'random' ? 4 : 2.01) * UNIT_F16 + (2 * steps + k / 8) * UNIT_F32;
    case 'f16':
      return steps * UNIT_F16;
    case 'exact':
      return 0;
  }
}

/** s: the magnitude of a cell, from Σ|a·b|, Σ(a·b)² and its exact value. */
export function magnitude(signs: Signs, absolute: number, squares: number, value: number): number {
  return signs === 'random' ? Math.sqrt(squares + 2 * value * value) : absolute;
}

/** γ·s: how far a cell's sum of `k` products may be off, from Σ|a·b|, Σ(a·b)² and its exact value. */
export function sumBound(
  arithmetic: Arithmetic,
  signs: Signs,
  k: number,
): (absolute: number, squares: number, value: number) => number {
  const factor = gamma(arithmetic, signs, k);
  return (absolute, squares, value) => factor * magnitude(signs, absolute, squares, value);
}

/** What rounding the finished value to the type of C may add. */
export function resultRounding(type: 'f32' | 'f16' | 'i32', value: number): number {
  // Half of a unit in the last place, and half of the smallest subnormal for f16; f32's is far below any γ, but k = 0
  // has none. f32 subnormals may be flushed to zero.
  if (type === 'f16') return UNIT_F16 * Math.abs(value) + 2 ** -25;
  if (type === 'f32') return UNIT_F32 * Math.abs(value) + 2 ** -126;
  return 0;
}
