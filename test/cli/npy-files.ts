/** .npy files, written byte by byte as NumPy's format description says, so that the reader is not tested on itself. */
import { toHalves } from '../../src/float16.ts';
import { randomMatrix } from '../../src/measure/random.ts';
import type { Matrix } from '../../src/measure/reference.ts';

export interface Layout {
  readonly descr?: string;
  readonly fortran?: boolean;
  readonly shape?: readonly number[];
  readonly version?: 1 | 2;
}

/** The bytes of a file that holds `matrix`. */
export function npyFile(matrix: Matrix, layout: Layout = {}): Buffer {
  const { descr = '<f4', fortran = false, shape = [matrix.rows, matrix.cols], version = 1 } = layout;
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const dict = `{'descr': '${descr}', 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': ${tuple}, }`;
  const before = version === 1 ? 10 : 12;
  const padded = `${dict.padEnd(Math.ceil((before + dict.length + 1) / 64) * 64 - before - 1)}\n`;
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  length.writeUIntLE(padded.length, 0, length.length);
  const values = Float32Array.from(fortran ? transposed(matrix) : matrix.data);
  const numbers = descr === '<f2' ? toHalves(values) : values;
  return Buffer.concat([
    Buffer.from('\x93NUMPY', 'latin1'),
    Buffer.of(version, 0),
    length,
    Buffer.from(padded, 'latin1'),
    Buffer.from(numbers.buffer),
  ]);
}

export const someMatrix = (rows: number, cols: number, seed: number): Matrix => ({
  rows,
  cols,
  data: randomMatrix(rows * cols, seed),
});

function transposed({ rows, cols, data }: Matrix): number[] {
  return Array.from({ length: rows * cols }, (_, i) => data[(i % rows) * cols + Math.floor(i / rows)]);
}
