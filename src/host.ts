/** Products of typed arrays: what may be handed in, the checks, and the array that comes back. */
import type { HostArray } from './device/buffers.ts';
import { GemmError } from './errors.ts';
import { fromHalves, toHalves } from './float16.ts';
import type { PlanOptions, RunOptions } from './plan.ts';
import {
  BYTES,
  type InputType,
  normalize,
  type OutputType,
  type Problem,
  type ProblemOptions,
} from './problem.ts';
import { broadcast } from './shapes.ts';
import { type HostOperands, multiplyTiled, type Target } from './stream.ts';

/** Half floats where the runtime has an array for them. */
interface Float16ArrayLike {
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly length: number;
  readonly [Symbol.toStringTag]: 'Float16Array';
}

/** f32, f16 (as bits in a Uint16Array, or a Float16Array), i8 and u8. */
export type HostInput = Float32Array | Uint16Array | Float16ArrayLike | Int8Array | Uint8Array;

/** A matrix, a vector, or a stack of matrices, in row order. */
export interface Shaped<T extends HostInput = HostInput> {
  readonly data: T;
  /** Elements in each dimension; the last two are rows and columns, one alone is a vector. */
  readonly shape: readonly number[];
}

/** An operand of matmul: a typed array in row order, whose sizes the options give, or one with a shape. */
export type Matrix = HostInput | Shaped;

type ResultOf<T, C> = C extends 'f32'
  ? Float32Array<ArrayBuffer>
  : C extends 'f16'
    ? T extends Float32Array
      ? Uint16Array<ArrayBuffer>
      : T
    : T extends Int8Array | Uint8Array
      ? Int32Array<ArrayBuffer>
      : T extends Float32Array
        ? Float32Array<ArrayBuffer>
        : T;

/**
 * What a product gives: a Float32Array of Float32Arrays, halves of halves, an Int32Array of bytes, unless `cType` says
 * something else; with a shape where the operands have one.
 */
export type Product<A extends Matrix, C extends OutputType | undefined = undefined> =
  A extends Shaped<infer T>
    ? { readonly data: ResultOf<T, C>; readonly shape: readonly number[] }
    : ResultOf<A, C>;

/** Options whose `cType` decides over the type of the result. */
export type OptionsFor<C extends OutputType | undefined> = HostOptions & { readonly cType?: C };

type ProblemPart = Omit<
  ProblemOptions,
  'm' | 'n' | 'k' | 'type' | 'aType' | 'bType' | 'bias' | 'residual' | 'ldc' | 'offsetC' | 'strideC'
>;

/** C is always dense: m×n for each product. Sizes and strides are for plain arrays; `{ data, shape }` has them. */
export interface HostOptions extends ProblemPart, RunOptions, Pick<PlanOptions, 'kernel' | 'params'> {
  /** Rows of op(A) and of C. */
  readonly m?: number;
  /** Columns of op(B) and of C. */
  readonly n?: number;
  /** Columns of op(A) and rows of op(B). */
  readonly k?: number;
  /** What C held before, where beta is not 0; it is not changed. Of the result's type, or f32 numbers. */
  readonly c?: HostInput | Int32Array;
  /** n values for every row, or m for every column with `biasAlong: 'column'`. */
  readonly bias?: HostInput | Int32Array;
  /** `row`, if left out. */
  readonly biasAlong?: 'row' | 'column';
  /** m×n for each product, added after the activation. */
  readonly residual?: HostInput | Int32Array;
  /** Bytes of device memory to stay under; where it is left out, what the device has room for. */
  readonly memory?: number;
}

/** Gemm.matmul(). */
export async function multiply(target: Target, a: Matrix, b: Matrix, options: HostOptions): Promise<unknown> {
  options.signal?.throwIfAborted();
  if (isShaped(a) !== isShaped(b)) {
    throw new GemmError('invalid-argument', 'one operand has a shape and one has none', 'Give both a shape.');
  }
  if (isShaped(a) && isShaped(b)) return multiplyShaped(target, a, b, options);
  const [dataA, dataB] = [a as HostInput, b as HostInput];
  const { m, n, k } = options;
  if (m === undefined || n === undefined || k === undefined) {
    throw new GemmError(
      'invalid-argument',
      'm, n or k is missing',
      'Give matmul(a, b, { m, n, k }), or shapes.',
    );
  }
  const problem = problemOf(dataA, dataB, { ...options, m, n, k });
  const operands = operandsOf(problem, dataA, dataB, options);
  for (const [name, operand] of [
    ['a', problem.a],
    ['b', problem.b],
  ] as const) {
    checkLength(name, operands[name], operand.extent, dense(options));
  }
  const result = emptyResult(problem.c.type, problem.c.extent);
  await product(target, problem, operands, result, options);
  return likeInput(result, dataA);
}

async function multiplyShaped(
  target: Target,
  a: Shaped,
  b: Shaped,
  options: HostOptions,
): Promise<{ data: unknown; shape: readonly number[] }> {
  const given = [
    'm',
    'n',
    'k',
    'batch',
    'transA',
    'transB',
    'lda',
    'ldb',
    'offsetA',
    'offsetB',
    'strideA',
    'strideB',
  ];
  const extra = given.filter(name => options[name as keyof HostOptions] !== undefined);
  if (extra.length > 0) {
    throw new GemmError(
      'invalid-argument',
      `${extra.join(', ')} beside shapes`,
      'The shapes say it already.',
    );
  }
  const { m, n, k, batch, strideA, strideB, runs, shape } = broadcast(a.shape, b.shape);
  const problem = problemOf(a.data, b.data, { ...options, m, n, k, batch, strideA, strideB });
  const whole = operandsOf(problem, a.data, b.data, options);
  checkLength('a', whole.a, elements(a.shape), true);
  checkLength('b', whole.b, elements(b.shape), true);
  const result = emptyResult(problem.c.type, elements(shape));
  for (const name of ['c', 'residual'] as const) {
    if (whole[name]) checkLength(name, whole[name], result.length, true);
  }
  for (const [index, run] of runs.entries()) {
    const part: HostOperands = {
      ...whole,
      a: whole.a.subarray(run.a),
      b: whole.b.subarray(run.b),
      ...(whole.c ? { c: whole.c.subarray(run.c) } : {}),
      ...(whole.residual ? { residual: whole.residual.subarray(run.c) } : {}),
    };
    const onProgress = (share: number) => options.onProgress?.((index + share) / runs.length);
    await product(target, problem, part, result.subarray(run.c), { ...options, onProgress });
  }
  return { data: likeInput(result, a.data), shape };
}

/** Multiplies into `result`, whole where the device has room, else in tiles, smaller ones as long as there is none. */
async function product(
  target: Target,
  problem: Problem,
  operands: HostOperands,
  result: HostArray,
  options: HostOptions,
): Promise<void> {
  let memory = options.memory ?? Number.POSITIVE_INFINITY;
  for (;;) {
    try {
      await multiplyTiled(target, problem, operands, result, { ...options, memory });
      return;
    } catch (error) {
      if (!(error instanceof GemmError && error.code === 'out-of-memory')) throw error;
      memory = Math.min(memory, bytesOf(problem)) / 2;
      if (memory < LEAST_MEMORY) throw error;
    }
  }
}

/** Where a device has no room for this, smaller tiles are no remedy. */
const LEAST_MEMORY = 2 ** 20;

/** Device memory for all of a product: the operands, C, and C once more on its way back. */
function bytesOf({ m, n, batch, a, b, c, bias, residual }: Problem): number {
  const bytesC = BYTES[c.type];
  const vector = bias === 'none' ? 0 : bias === 'row' ? n : m;
  const copies = residual ? 3 : 2;
  return a.extent * BYTES[a.type] + b.extent * BYTES[b.type] + (copies * batch * m * n + vector) * bytesC;
}

function problemOf(
  a: HostInput,
  b: HostInput,
  options: HostOptions & { readonly m: number; readonly n: number; readonly k: number },
): Problem {
  const [aType, bType] = [typeOf('a', a), typeOf('b', b)];
  const { bias, biasAlong = 'row', residual, c, ...rest } = options;
  if (options.beta && !c) {
    throw new GemmError('invalid-argument', 'beta without c', 'Give c, what C held before.');
  }
  return normalize({
    ...rest,
    aType,
    bType,
    bias: bias ? biasAlong : 'none',
    residual: residual !== undefined,
  });
}

function operandsOf(problem: Problem, a: HostInput, b: HostInput, options: HostOptions): HostOperands {
  const { m, n, c } = problem;
  const others: { c?: HostArray; bias?: HostArray; residual?: HostArray } = {};
  const length = { c: c.extent, bias: problem.bias === 'row' ? n : m, residual: c.extent };
  for (const name of ['c', 'bias', 'residual'] as const) {
    const given = options[name];
    if (!given || (name === 'c' && problem.beta === 0)) continue;
    others[name] = converted(name, given, c.type);
    if (name === 'bias') checkLength(name, others[name], length[name], true);
    else if (others[name].length < length[name]) checkLength(name, others[name], length[name], false);
  }
  return { a: words(a), b: words(b), ...others };
}

const isShaped = (matrix: Matrix): matrix is Shaped => 'shape' in matrix && 'data' in matrix;

const elements = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);

/** Whether a plain array must be exactly as long as its matrix. */
const dense = ({ lda, ldb, offsetA, offsetB, strideA, strideB }: HostOptions) =>
  [lda, ldb, offsetA, offsetB, strideA, strideB].every(value => value === undefined);

function checkLength(name: string, array: HostArray, due: number, exact: boolean): void {
  if (array.length === due || (!exact && array.length > due)) return;
  throw new GemmError(
    'shape-mismatch',
    `${name} has ${array.length} elements, and ${exact ? '' : 'at least '}${due} are due`,
    'Check the sizes, the strides and the type of the array.',
  );
}

const tagOf = (array: object) => Object.prototype.toString.call(array).slice(8, -1);

const TYPES: Readonly<Record<string, InputType>> = {
  Float32Array: 'f32',
  Float16Array: 'f16',
  Uint16Array: 'f16',
  Int8Array: 'i8',
  Uint8Array: 'u8',
};

function typeOf(name: string, array: HostInput): InputType {
  const type = TYPES[tagOf(array)];
  if (type) return type;
  throw new GemmError(
    'invalid-argument',
    `${name} is a ${tagOf(array)}`,
    `Give a ${Object.keys(TYPES).join(', ')}; a Uint16Array holds the bits of half floats.`,
  );
}

/** The array's memory in a form that every runtime can hand to the GPU. */
function words(array: HostInput | Int32Array): HostArray {
  const own = array.buffer instanceof ArrayBuffer ? array : copyOf(array);
  if (tagOf(own) !== 'Float16Array') return own as HostArray;
  return new Uint16Array(own.buffer as ArrayBuffer, own.byteOffset, own.length);
}

/** Shared memory can't be handed to WebGPU. */
function copyOf(array: HostInput | Int32Array): HostInput | Int32Array {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength).slice();
  const Type = array.constructor as new (buffer: ArrayBuffer) => HostInput;
  return new Type(bytes.buffer);
}

/** C, bias and residual in C's type. */
function converted(name: string, array: HostInput | Int32Array, type: OutputType): HostArray {
  const found = words(array);
  if (type === 'f32') {
    if (found instanceof Float32Array) return found;
    if (found instanceof Uint16Array) return fromHalves(found);
  }
  if (type === 'f16') {
    if (found instanceof Uint16Array) return found;
    if (found instanceof Float32Array) return toHalves(found);
  }
  if (type === 'i32' && found instanceof Int32Array) return found;
  throw new GemmError(
    'invalid-argument',
    `${name} is a ${tagOf(array)}, and the result is ${type}`,
    'Give it in the type of the result.',
  );
}

function emptyResult(type: OutputType, length: number): HostArray {
  if (type === 'f32') return new Float32Array(length);
  return type === 'f16' ? new Uint16Array(length) : new Int32Array(length);
}

/** Halves come back in the kind of array that they came in. */
function likeInput(result: HostArray, input: HostInput): HostArray | HostInput {
  if (!(result instanceof Uint16Array) || tagOf(input) !== 'Float16Array') return result;
  const Float16 = input.constructor as new (buffer: ArrayBuffer) => HostInput;
  return new Float16(result.buffer);
}
