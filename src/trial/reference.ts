/**
 * What a trial's C is held against, whatever its size: small problems cell by cell, large plain products row by row and
 * with a Freivalds check of the rest (measure/verify.ts), large problems with a bias, an activation and the like in
 * sampled rows. Takes a few seconds at 8192³; every product of a batch is looked at.
 */
import type { HostArray } from '../device/buffers.ts';
import { fromHalves } from '../float16.ts';
import { cellIndex, type HostOperands, verifyProblem } from '../measure/expected.ts';
import type { Matrix } from '../measure/reference.ts';
import type { Arithmetic } from '../measure/tolerance.ts';
import { sampleRows, type Verdict, verify } from '../measure/verify.ts';
import { isEmpty, type Operand, type Problem } from '../problem.ts';

/** Multiply-adds of float64 reference for a check of every cell, and of a large problem's sampled rows. */
const WHOLE = 2 ** 25;

/** The same for whole rows of large plain products, where a multiply-add takes less time. */
const ROWS = 2 ** 27;

export class Reference {
  readonly #problem: Problem;
  readonly #host: HostOperands;
  /** op(A) and op(B) of each product in row order, made when they are first needed. */
  readonly #matrices = new Map<string, Matrix>();

  constructor(problem: Problem, host: HostOperands) {
    this.#problem = problem;
    this.#host = host;
  }

  /** Holds a C, laid out as the problem says, against float64. */
  verdict(result: HostArray, arithmetic: Arithmetic): Verdict {
    const { m, n, k, batch } = this.#problem;
    const work = m * n * Math.max(1, k) * batch;
    if (work > WHOLE && isPlain(this.#problem)) return this.#plain(result, arithmetic);
    const budget = Math.floor(WHOLE / Math.max(1, n * k * batch));
    return verifyProblem(this.#problem, this.#host, result, {
      arithmetic,
      signs: 'random',
      ...(work > WHOLE ? { rows: sampleRows(m, budget) } : {}),
    });
  }

  #plain(result: HostArray, arithmetic: Arithmetic): Verdict {
    const { m, n, k, batch, a, b, c } = this.#problem;
    const out: Operand = { ...c, type: c.type === 'f16' ? 'f16' : 'f32', trans: false };
    let [relErr, worst] = [0, 0];
    for (let product = 0; product < batch; product++) {
      const verdict = verify(
        {
          a: this.#matrix('a', a, product, [m, k]),
          b: this.#matrix('b', b, product, [k, n]),
          c: inRowOrder(result, out, cellIndex(this.#problem, product, 0, 0), [m, n]),
          arithmetic,
          result: c.type,
          signs: 'random',
        },
        Math.floor(ROWS / batch),
      );
      if (!verdict.ok) {
        return batch > 1 ? { ...verdict, failure: `product ${product}: ${verdict.failure}` } : verdict;
      }
      relErr = Math.max(relErr, verdict.relErr ?? 0);
      worst = Math.max(worst, verdict.worst ?? 0);
    }
    return { ok: true, relErr, worst, failure: null };
  }

  #matrix(
    name: 'a' | 'b',
    operand: Operand,
    product: number,
    [rows, cols]: readonly [number, number],
  ): Matrix {
    const start = operand.offset + product * operand.stride;
    const key = `${name} ${start}`;
    let matrix = this.#matrices.get(key);
    if (!matrix) {
      matrix = { rows, cols, data: inRowOrder(this.#host[name], operand, start, [rows, cols]) };
      this.#matrices.set(key, matrix);
    }
    return matrix;
  }
}

/** A product and nothing else, for which a Freivalds check is known. */
const isPlain = (problem: Problem): boolean =>
  !isEmpty(problem) &&
  problem.alpha === 1 &&
  problem.beta === 0 &&
  problem.bias === 'none' &&
  problem.activation === 'none' &&
  !problem.residual &&
  problem.epilogue === null;

/** The matrix that starts at an element of an operand, as numbers in row order; no copy where it is stored as that. */
function inRowOrder(
  data: HostArray,
  { trans, ld }: Operand,
  start: number,
  [rows, cols]: readonly [number, number],
): ArrayLike<number> {
  const length = ((trans ? cols : rows) - 1) * ld + (trans ? rows : cols);
  const part = data.subarray(start, start + length);
  const numbers = part instanceof Uint16Array ? fromHalves(part) : part;
  if (!trans && ld === cols) return numbers;
  const dense = new Float32Array(rows * cols);
  const [down, across] = trans ? [1, ld] : [ld, 1];
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) dense[row * cols + col] = numbers[row * down + col * across];
  }
  return dense;
}
