/** The shapes of NumPy's matmul: which products there are, and where in the data each one's operands lie. Pure. */
import { GemmError } from './errors.ts';

/** Products that one problem with batch strides can hold, and those that have to be run one after the other. */
export interface Broadcast {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Products in a run, and elements from one product's operand to the next one's. */
  readonly batch: number;
  readonly strideA: number;
  readonly strideB: number;
  /** First elements of A, B and C of each run. */
  readonly runs: readonly { readonly a: number; readonly b: number; readonly c: number }[];
  /** The shape of the result. */
  readonly shape: readonly number[];
}

/**
 * What `numpy.matmul` makes of two shapes: the last two dimensions are matrices, the ones before them broadcast; a
 * single dimension is a row on the left, a column on the right, and is left out of the result.
 *
 * @throws GemmError `shape-mismatch` where they do not go together, `invalid-size` for a size that is none
 */
export function broadcast(shapeA: readonly number[], shapeB: readonly number[]): Broadcast {
  const name = `[${shapeA}] times [${shapeB}]`;
  if (shapeA.length === 0 || shapeB.length === 0) {
    throw new GemmError(
      'shape-mismatch',
      `${name}: a single number is no matrix`,
      'Give 1 dimension or more.',
    );
  }
  for (const size of [...shapeA, ...shapeB]) {
    if (!Number.isSafeInteger(size) || size < 0) {
      throw new GemmError(
        'invalid-size',
        `${name}: ${size} is no size`,
        'Sizes are whole numbers from 0 up.',
      );
    }
  }
  const [m, k] = shapeA.length === 1 ? [1, shapeA[0]] : shapeA.slice(-2);
  const [inner, n] = shapeB.length === 1 ? [shapeB[0], 1] : shapeB.slice(-2);
  if (k !== inner) {
    throw new GemmError(
      'shape-mismatch',
      `${name}: the inner dimensions ${k} and ${inner} differ`,
      "A's columns must be as many as B's rows.",
    );
  }
  const outerA = shapeA.slice(0, -2);
  const outerB = shapeB.slice(0, -2);
  const rank = Math.max(outerA.length, outerB.length);
  const dimensions = Array.from({ length: rank }, (_, i) => {
    const a = outerA[i - rank + outerA.length] ?? 1;
    const b = outerB[i - rank + outerB.length] ?? 1;
    if (a !== b && a !== 1 && b !== 1) {
      throw new GemmError(
        'shape-mismatch',
        `${name}: the batch dimensions ${a} and ${b} do not broadcast`,
        'They must be the same, or one of them 1.',
      );
    }
    return { a, b, size: a === 1 ? b : a };
  });
  const shape = [
    ...dimensions.map(({ size }) => size),
    ...(shapeA.length === 1 ? [] : [m]),
    ...(shapeB.length === 1 ? [] : [n]),
  ];
  return { m, n, k, shape, ...runsOf(dimensions, m * k, k * n, m * n) };
}

/** As many of the last dimensions as both operands step through evenly become one batch. */
function runsOf(
  dimensions: readonly { readonly a: number; readonly b: number; readonly size: number }[],
  sizeA: number,
  sizeB: number,
  sizeC: number,
): Pick<Broadcast, 'batch' | 'strideA' | 'strideB' | 'runs'> {
  let [stepA, stepB, stepC] = [sizeA, sizeB, sizeC];
  let batch = 1;
  let [strideA, strideB] = [0, 0];
  let runs = [{ a: 0, b: 0, c: 0 }];
  let even = true;
  for (const { a, b, size } of dimensions.toReversed()) {
    const [hereA, hereB] = [a === 1 ? 0 : stepA, b === 1 ? 0 : stepB];
    if (size !== 1) {
      if (even && batch === 1) [strideA, strideB] = [hereA, hereB];
      else even &&= hereA === strideA * batch && hereB === strideB * batch;
      if (even) batch *= size;
      else {
        const stepOut = stepC;
        runs = Array.from({ length: size }, (_, i) => i).flatMap(i =>
          runs.map(run => ({ a: run.a + i * hereA, b: run.b + i * hereB, c: run.c + i * stepOut })),
        );
      }
    }
    stepA *= a;
    stepB *= b;
    stepC *= size;
  }
  return { batch, strideA, strideB, runs };
}
