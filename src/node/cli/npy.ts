/** Matrices in NumPy's .npy files. npyjs reads and writes the format; what is checked here it does not check. */
import { readFileSync } from 'node:fs';
import { dump, parse } from 'npyjs';
import { GemmError } from '../../errors.ts';
import { fromHalves, toHalves } from '../../float16.ts';
import { fileError } from './output.ts';

export interface NpyMatrix {
  readonly rows: number;
  readonly cols: number;
  readonly type: 'float32' | 'float16';
  /** In row order, whatever the order in the file; half floats widened, which is exact. */
  readonly data: Float32Array<ArrayBuffer>;
}

/** How the header calls the types that are taken; others, and big-endian numbers, are refused. */
const TYPES: Record<string, { readonly type: NpyMatrix['type']; readonly bytes: number }> = {
  '<f4': { type: 'float32', bytes: 4 },
  '<f2': { type: 'float16', bytes: 2 },
};

/** @throws GemmError `invalid-file` where it can't be read or is no float matrix */
export function readMatrix(path: string): NpyMatrix {
  const file = readFile(path);
  const { descr, dataOffset } = headerOf(path, file);
  const known = TYPES[descr];
  if (!known) {
    const what = `${path} holds ${descr}, not float32 or float16 in little-endian order`;
    throw invalid(what, 'Save it with np.save(path, x.astype(np.float32)).');
  }
  // A cut-off last element is left out, so that the count of elements tells that something is missing.
  const end = file.length - ((file.length - dataOffset) % known.bytes);
  const { data, shape, fortranOrder } = parseNpy(path, file.subarray(0, end));
  if (shape.length !== 2 || !shape.every(Number.isSafeInteger)) {
    const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
    throw invalid(
      `${path} has the shape ${tuple}, which is no matrix`,
      'Give it two dimensions with np.reshape.',
    );
  }
  const [rows, cols] = shape;
  if (data.length < rows * cols) throw truncated(path);
  const found = data.subarray(0, rows * cols);
  const values = found instanceof Uint16Array ? fromHalves(found) : found;
  return { rows, cols, type: known.type, data: fortranOrder ? transposed(values, cols, rows) : values };
}

/** The bytes of a C-order .npy file. float32 numbers that become float16 are rounded to the nearest. */
export function npyBytes({
  rows,
  cols,
  type,
  data,
}: Omit<NpyMatrix, 'data'> & { data: Float32Array }): Uint8Array {
  const half = type === 'float16';
  return new Uint8Array(dump(half ? toHalves(data) : data, [rows, cols], { dtype: half ? 'f2' : 'f4' }));
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw invalid(`${path} can't be read: ${fileError(cause)}`, 'Give the path of a NumPy .npy file.', cause);
  }
}

/** What has to be known before npyjs may read the rest: it takes the file's length for its content. */
function headerOf(path: string, file: Buffer): { readonly descr: string; readonly dataOffset: number } {
  if (file.toString('latin1', 0, 6) !== '\x93NUMPY') {
    throw invalid(`${path} is not an .npy file`, 'Write one with np.save(path, x).');
  }
  if (file.length < 12) throw truncated(path);
  const dataOffset = file[6] > 1 ? 12 + file.readUInt32LE(8) : 10 + file.readUInt16LE(8);
  if (file.length < dataOffset) throw truncated(path);
  const text = file.toString('latin1', 10, dataOffset);
  return { descr: /'descr'\s*:\s*'([^']*)'/.exec(text)?.[1] ?? 'records', dataOffset };
}

/** Half floats come as their bits. */
function parseNpy(path: string, file: Buffer) {
  try {
    // A copy of its own: small files lie in a pool that begins elsewhere.
    const parsed = parse(new Uint8Array(file).buffer, { convertFloat16: false });
    return { ...parsed, data: parsed.data as Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> };
  } catch (cause) {
    throw invalid(`${path} can't be read: ${(cause as Error).message}`, 'Save it again with np.save.', cause);
  }
}

const invalid = (what: string, hint: string, cause?: unknown) =>
  new GemmError('invalid-file', what, hint, { cause });

const truncated = (path: string) =>
  invalid(`${path} is cut off: it holds less than its header says`, 'Save or copy it again.');

/** The transposed of a rows×cols matrix in row order. */
function transposed(values: Float32Array, rows: number, cols: number): Float32Array<ArrayBuffer> {
  const result = new Float32Array(values.length);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) result[j * rows + i] = values[i * cols + j];
  }
  return result;
}
