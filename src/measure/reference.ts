/** Float64 products that results are held against. */

/** A matrix in row order, held as float64-exact numbers. */
export interface Matrix {
  readonly rows: number;
  readonly cols: number;
  readonly data: ArrayLike<number>;
}

/** One row of A·B, or a product with a vector, in float64. */
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

/** M·x, |M|·y and M²·z (cell by cell) in float64, in one go through M. */
export function timesVectors(
  { rows, cols, data }: Matrix,
  { values: x, absolute: y, squares: z }: ReferenceRow,
): ReferenceRow {
  const values = new Float64Array(rows);
  const absolute = new Float64Array(rows);
  const squares = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    let [value, size, square] = [0, 0, 0];
    const row = i * cols;
    for (let j = 0; j < cols; j++) {
      const cell = data[row + j];
      value += cell * x[j];
      size += Math.abs(cell) * y[j];
      square += cell * cell * z[j];
    }
    values[i] = value;
    absolute[i] = size;
    squares[i] = square;
  }
  return { values, absolute, squares };
}

/** M·x modulo 2³², for a matrix of integers. */
export function timesInteger({ rows, cols, data }: Matrix, x: Int32Array): Int32Array {
  const values = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    let value = 0;
    const row = i * cols;
    for (let j = 0; j < cols; j++) value = (value + Math.imul(data[row + j], x[j])) | 0;
    values[i] = value;
  }
  return values;
}
