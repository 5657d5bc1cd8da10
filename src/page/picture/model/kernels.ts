/** Rungs that are kernels of the library, with the parameters that they take for large products. */
import type { Kernel, Params } from '../../../kernels/kernel.ts';
import { registerTile } from '../../../kernels/register-tile.ts';
import { splitF32 } from '../../../kernels/split-f32.ts';
import { subgroupMatrix } from '../../../kernels/subgroup-matrix.ts';
import type { Shape } from '../../../ladder/rung.ts';
import { normalize, type Problem } from '../../../problem.ts';
import type { Profile } from '../../../profile.ts';
import { brokenLimit, type Program } from '../../../program.ts';

interface KernelRung {
  readonly kernel: Kernel;
  readonly type: 'f32' | 'f16';
}

const KERNEL_RUNGS: Readonly<Record<string, KernelRung>> = {
  '9': { kernel: registerTile, type: 'f32' },
  '10': { kernel: subgroupMatrix, type: 'f16' },
  '11': { kernel: splitF32, type: 'f32' },
};

/** What a small product would get is not what the rung is about. */
const LARGE: Shape = { m: 4096, n: 4096, k: 4096 };

export interface Chosen {
  readonly problem: Problem;
  readonly params: Params;
  /** The kernel's program for the shape, with these parameters. */
  readonly program: () => Program;
}

/**
 * A shape's problem and what a rung's kernel is given for it; null for rungs that are no kernels.
 *
 * @param params left out, those of a large product
 */
export function chosenFor(
  rung: string,
  shape: Shape,
  profile: Profile,
  params = paramsFor(rung, profile),
): Chosen | null {
  const found = KERNEL_RUNGS[rung];
  if (!found || !params) return null;
  const problem = problemOf(found, shape);
  return { problem, params, program: () => found.kernel.build(problem, profile, params) };
}

const problemOf = ({ type }: KernelRung, shape: Shape): Problem =>
  normalize({ ...shape, type, cType: 'f32' });

function paramsFor(rung: string, profile: Profile): Params | null {
  const found = KERNEL_RUNGS[rung];
  if (!found) return null;
  const { kernel } = found;
  const large = problemOf(found, LARGE);
  // A rung cuts K into no slices (ladder/from-kernel.ts), and ways are not drawn: few devices take them for a large product.
  const candidates = kernel
    .candidates(large, profile)
    .filter(({ slices = 1, ways = 1 }) => slices === 1 && ways === 1);
  return (
    candidates.find(params => brokenLimit(kernel.build(large, profile, params), profile) === null) ??
    candidates[candidates.length - 1]
  );
}
