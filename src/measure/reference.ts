/** Float64 products that results are held against. */

/** A matrix in row order, held as float64-exact numbers. */
export interface Matrix {
  readonly rows: number;
  readonly cols: number;
  readonly data: ArrayLike<number>;
}

/** One row of A·B in float64. */
export interface ReferenceRow {
  readonly values: Float64Array;
  /** Σ|a·b| over k for each cell. */
  readonly absolute: Float64Array;
  /** Σ(a·b)² over k for each cell. */
  readonly squares: Float64Array;
}

/** Row `i` of A·B, with the magnitudes that a tolerance is made of. */
export function referenceRow(a: Matrix, b: Matrix, i: number): ReferenceRow {
  const n = b.cols;
  const values = new Float64Array(n);
  const absolute = new Float64Array(n);
  const squares = new Float64Array(n);
  for (let k = 0; k < a.cols; k++) {
    const left = a.data[i * a.cols + k];
    const row = k * n;
    for (let j = 0; j < n; j++) {
      const product = left * b.data[row + j];
      values[j] += product;
      absolute[j] += Math.abs(product);
      squares[j] += product * product;
    }
  }
  return { values, absolute, squares };
}

/** M·x in float64, every entry passed through `map` first. */
export function timesVector(
  matrix: Matrix,
  x: Float64Array,
  map: (value: number) => number = value => value,
): Float64Array {
  const result = new Float64Array(matrix.rows);
  for (let i = 0; i < matrix.rows; i++) {
    let sum = 0;
    const row = i * matrix.cols;
    for (let j = 0; j < matrix.cols; j++) sum += map(matrix.data[row + j]) * x[j];
    result[i] = sum;
  }
  return result;
}
