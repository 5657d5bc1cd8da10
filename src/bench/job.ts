/** What is to be measured: a product, and what the library may do to it. Pure. */
import type { Params } from '../kernels/kernel.ts';
import { requiredBytes } from '../operands.ts';
import { type Accuracy, normalize, operations, type Problem, type ProblemOptions } from '../problem.ts';
import { describeShape, type TrialShape } from '../trial/shapes.ts';
import type { PeerProblem } from './peer.ts';
import { type BenchResult, blankResult } from './record.ts';

export type BenchType = 'f32' | 'f16' | 'i8';

export interface Job {
  readonly shape: TrialShape;
  /** Type of A and B. C has it too, or i32. */
  readonly dtype: BenchType;
  readonly accuracy: Accuracy;
  /** Only this kernel, in place of the one that the library chooses. */
  readonly kernel?: string;
  /** Only these parameters, with `kernel`. */
  readonly params?: Params;
}

export const optionsOf = ({ shape, dtype, accuracy }: Job): ProblemOptions => ({
  ...shape,
  type: dtype,
  accuracy,
});

export const problemOf = (job: Job): Problem => normalize(optionsOf(job));

/** The operands that a job needs: jobs of the same ones share them. */
export const operandsKey = ({ shape, dtype }: Job): string => `${describeShape(shape)} ${dtype}`;

export const bytesOf = (problem: Problem): number =>
  requiredBytes(problem).reduce((sum, [, bytes]) => sum + bytes, 0);

/** The problem as peers know it; null for integers, which none of them multiplies on a GPU. */
export function peerProblemOf({ dtype, shape }: Job): PeerProblem | null {
  if (dtype === 'i8') return null;
  const { m, n, k, batch = 1, transA = false, transB = false } = shape;
  return { m, n, k, batch, type: dtype, transA, transB };
}

/** The row of a job's result, before anything is known of it. */
export function blankOf(job: Job, group: 'ours' | 'peer' | 'cublas', name: string): BenchResult {
  const { m, n, k, batch = 1, transA = false, transB = false } = job.shape;
  return {
    ...blankResult(group, name),
    dtype: job.dtype,
    accuracy: group === 'ours' ? job.accuracy : null,
    shape: [m, n, k],
    batch,
    transA,
    transB,
  };
}

/** What a time says of a problem's speed. */
export function speedOf(problem: Problem, ms: number): Pick<BenchResult, 'tflops' | 'gbps'> {
  return { tflops: operations(problem) / ms / 1e9, gbps: bytesOf(problem) / ms / 1e6 };
}

/** Whether reading A and B takes longer than multiplying them on any GPU: few rows or few columns. */
export const isBoundByMemory = ({ m, n }: { readonly m: number; readonly n: number }): boolean =>
  Math.min(m, n) <= 8;
