/**
 * What is to be computed: C = activation(alpha·op(A)·op(B) + beta·C + bias) + residual, then the caller's own
 * expression. `normalize` checks what the caller says, fills in what was left out, and refuses what makes no sense,
 * before anything touches a device. Pure.
 */
import { GemmError } from './errors.ts';

/** Element types of A and B: IEEE floats, and integers of 8 bits. */
export type InputType = 'f32' | 'f16' | 'i8' | 'u8';
/** Element types of C. Integers give i32, floats f32 or f16. */
export type OutputType = 'f32' | 'f16' | 'i32';

/**
 * Applied to each element after alpha, beta and bias. `clip` is min and max, both included. Integers know relu and clip.
 */
export type Activation =
  | 'none'
  | 'relu'
  /** x·Φ(x), with the error function. */
  | 'gelu'
  /** The tanh form of gelu that many models were trained with. */
  | 'gelu-tanh'
  | 'silu'
  | 'sigmoid'
  | 'tanh'
  | { readonly clip: readonly [min: number, max: number] };

/**
 * - `f32`: never less accurate than a plain f32 kernel, however it is computed.
 * - `strict`: f32 arithmetic only.
 * - `f16`: f32 inputs may be narrowed to f16.
 */
export type Accuracy = 'f32' | 'strict' | 'f16';

/**
 * What a caller says of a problem: C = activation(alpha·op(A)·op(B) + beta·C + bias) + residual, then `epilogue`.
 * Matrices are stored row by row. Everything but m, n and k may be left out. Sizes, offsets and strides count elements
 * and are whole numbers from 0 up.
 */
export interface ProblemOptions {
  /** Rows of op(A) and of C. */
  readonly m: number;
  /** Columns of op(B) and of C. */
  readonly n: number;
  /** Columns of op(A) and rows of op(B). */
  readonly k: number;
  /** Type of A and B; f32 if left out. */
  readonly type?: InputType;
  /** Type of A, where it is not B's. Floats go with floats, integers with integers. */
  readonly aType?: InputType;
  /** Type of B, where it is not A's. */
  readonly bType?: InputType;
  /** Type of C; i32 for integers, else that of A if left out. */
  readonly cType?: OutputType;
  /** A is stored k×m and read as its transpose. */
  readonly transA?: boolean;
  /** B is stored n×k and read as its transpose. */
  readonly transB?: boolean;
  /** Elements from one stored row of A to the next: at least k, or m where A is transposed; that, if left out. */
  readonly lda?: number;
  /** The same of B: at least n, or k where B is transposed. */
  readonly ldb?: number;
  /** The same of C: at least n. */
  readonly ldc?: number;
  /** Elements before A's first one; 0 if left out. */
  readonly offsetA?: number;
  /** Elements before B's first one. */
  readonly offsetB?: number;
  /** Elements before C's first one. */
  readonly offsetC?: number;
  /** How many products are computed at once; 1 if left out. */
  readonly batch?: number;
  /** Elements from one product's A to the next one's; 0 gives all of them the same A. Dense, if left out. */
  readonly strideA?: number;
  /** The same of B; 0 gives all products the same B. */
  readonly strideB?: number;
  /** The same of C; products must not overlap. */
  readonly strideC?: number;
  /** Factor of op(A)·op(B); finite, 1 if left out, a whole number for integers. */
  readonly alpha?: number;
  /** 0, if left out: C is not read, and may hold anything. */
  readonly beta?: number;
  /** `row`: one vector of n, added to every row. `column`: one vector of m, added to every column. */
  readonly bias?: 'none' | 'row' | 'column';
  /** None, if left out. */
  readonly activation?: Activation;
  /** A matrix laid out like C, of C's type, is added after the activation. */
  readonly residual?: boolean;
  /** A WGSL expression of `value`, `row`, `col` and `batch` that gives the f32 to be stored. */
  readonly epilogue?: string;
  /** What may be done to f32 inputs for speed; `f32` if left out. */
  readonly accuracy?: Accuracy;
}

/** How A or B is stored. */
export interface Operand {
  readonly type: InputType;
  readonly trans: boolean;
  readonly ld: number;
  readonly offset: number;
  readonly stride: number;
  /** Elements up to and with the last one that is read; 0 where none is. */
  readonly extent: number;
}

/** How C is stored. */
export interface Output {
  readonly type: OutputType;
  readonly ld: number;
  readonly offset: number;
  readonly stride: number;
  readonly extent: number;
}

/** A checked problem with nothing left out. */
export interface Problem {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: number;
  readonly a: Operand;
  readonly b: Operand;
  readonly c: Output;
  readonly alpha: number;
  readonly beta: number;
  readonly bias: 'none' | 'row' | 'column';
  readonly activation: Activation;
  readonly residual: boolean;
  readonly epilogue: string | null;
  readonly accuracy: Accuracy;
}

export const BYTES = { f32: 4, f16: 2, i8: 1, u8: 1, i32: 4 } as const;

/**
 * Checks and completes a problem.
 *
 * @throws GemmError `invalid-size`, `invalid-argument`, `shape-mismatch` or `too-large`
 */
export function normalize(options: ProblemOptions): Problem {
  const { m, n, k, batch = 1 } = options;
  for (const [name, size] of Object.entries({ m, n, k, batch })) checkSize(name, size);
  const aType = options.aType ?? options.type ?? 'f32';
  const bType = options.bType ?? options.type ?? 'f32';
  const { cType = isInteger(aType) ? 'i32' : (aType as 'f32' | 'f16') } = options;
  checkTypes(aType, bType, cType);

  const transA = options.transA ?? false;
  const transB = options.transB ?? false;
  const [aRows, aCols] = transA ? [k, m] : [m, k];
  const [bRows, bCols] = transB ? [n, k] : [k, n];
  const empty = m === 0 || n === 0 || batch === 0;
  const a = layout('A', aRows, aCols, batch, options.lda, options.offsetA, options.strideA, empty || k === 0);
  const b = layout('B', bRows, bCols, batch, options.ldb, options.offsetB, options.strideB, empty || k === 0);
  const c = layout('C', m, n, batch, options.ldc, options.offsetC, options.strideC, empty);
  if (batch > 1 && !empty && c.stride < (m - 1) * c.ld + n) {
    throw new GemmError(
      'shape-mismatch',
      `strideC is ${c.stride}, and one C takes ${(m - 1) * c.ld + n} elements`,
      'The products of a batch must not overlap in C.',
    );
  }

  const {
    alpha = 1,
    beta = 0,
    bias = 'none',
    activation = 'none',
    residual = false,
    accuracy = 'f32',
  } = options;
  for (const [name, value] of Object.entries({ alpha, beta })) {
    if (!Number.isFinite(value))
      throw new GemmError('invalid-argument', `${name} is ${value}`, 'Give a finite number.');
  }
  if (isInteger(aType) && (!Number.isInteger(alpha) || !Number.isInteger(beta))) {
    throw new GemmError(
      'invalid-argument',
      `alpha ${alpha} and beta ${beta} for integer matrices`,
      'Give whole numbers.',
    );
  }
  checkOneOf('bias', bias, ['none', 'row', 'column']);
  checkOneOf('accuracy', accuracy, ['f32', 'strict', 'f16']);
  checkActivation(activation, isInteger(aType));
  return {
    m,
    n,
    k,
    batch,
    a: { type: aType, trans: transA, ...a },
    b: { type: bType, trans: transB, ...b },
    c: { type: cType, ...c },
    alpha,
    beta,
    bias,
    activation,
    residual,
    epilogue: options.epilogue?.trim() || null,
    accuracy,
  };
}

/** Whether there is nothing to compute and nothing to write. */
export const isEmpty = ({ m, n, batch }: Problem): boolean => m === 0 || n === 0 || batch === 0;

export const isInteger = (type: InputType | OutputType): boolean => type !== 'f32' && type !== 'f16';

/** Matrices of an operand in a batch: one that serves all products, or one for each. */
export const copiesOf = ({ stride }: Pick<Operand, 'stride'>, batch: number): number =>
  stride === 0 ? 1 : batch;

/** 2·m·n·k for each product of the batch. */
export const operations = ({ m, n, k, batch }: Problem): number => 2 * m * n * k * batch;

/** One line that says what is computed. */
export function describeProblem({ m, n, k, batch, a, b, c }: Problem): string {
  const types = a.type === b.type ? a.type : `${a.type}×${b.type}`;
  const layoutOf = `${a.trans ? 'T' : 'N'}${b.trans ? 'T' : 'N'}`;
  return `${batch > 1 ? `${batch} × ` : ''}${m}×${n}×${k} ${types}→${c.type} ${layoutOf}`;
}

const WORD = 2 ** 32;

/** Shaders index elements with u32. */
function layout(
  name: string,
  rows: number,
  cols: number,
  batch: number,
  ld = Math.max(1, cols),
  offset = 0,
  stride = rows * ld,
  unused = false,
): { ld: number; offset: number; stride: number; extent: number } {
  const letter = name.toLowerCase();
  checkSize(`ld${letter}`, ld);
  checkSize(`offset${name}`, offset);
  if (batch > 1) checkSize(`stride${name}`, stride);
  if (ld < cols) {
    throw new GemmError(
      'shape-mismatch',
      `ld${letter} is ${ld}, and a stored row of ${name} has ${cols} elements`,
      `ld${letter} counts the elements from one stored row to the next, at least ${cols}.`,
    );
  }
  const extent = unused ? 0 : offset + (batch - 1) * stride + (rows - 1) * ld + cols;
  if (extent > WORD) {
    throw new GemmError(
      'too-large',
      `${name} reaches up to element ${extent}, and shaders index 2^32 elements`,
      'Split the problem into several.',
    );
  }
  return { ld, offset, stride, extent };
}

function checkSize(name: string, size: number): void {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new GemmError('invalid-size', `${name} is ${size}`, 'Sizes are whole numbers from 0 up.');
  }
  if (size >= WORD) {
    throw new GemmError('too-large', `${name} is ${size}`, 'Shaders count in 32 bits.');
  }
}

function checkTypes(a: InputType, b: InputType, c: OutputType): void {
  checkOneOf('type', a, ['f32', 'f16', 'i8', 'u8']);
  checkOneOf('type', b, ['f32', 'f16', 'i8', 'u8']);
  checkOneOf('cType', c, ['f32', 'f16', 'i32']);
  if (isInteger(a) !== isInteger(b) || isInteger(a) !== isInteger(c)) {
    throw new GemmError(
      'invalid-argument',
      `${a} times ${b} into ${c}`,
      'Integers (i8, u8) multiply integers and give i32; f32 and f16 multiply each other and give f32 or f16.',
    );
  }
}

function checkActivation(activation: Activation, integer: boolean): void {
  if (typeof activation === 'string') {
    if (integer) checkOneOf('activation of an integer product', activation, ['none', 'relu']);
    checkOneOf('activation', activation, ['none', 'relu', 'gelu', 'gelu-tanh', 'silu', 'sigmoid', 'tanh']);
    return;
  }
  const [min, max] = activation.clip;
  if (Number.isNaN(min) || Number.isNaN(max) || min > max) {
    throw new GemmError('invalid-argument', `clip from ${min} to ${max}`, 'Give the smaller number first.');
  }
}

function checkOneOf(name: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) {
    throw new GemmError('invalid-argument', `${name} is "${value}"`, `It is one of ${allowed.join(', ')}.`);
  }
}
