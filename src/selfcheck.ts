/** A kernel's first use on a device: run a small product of the same kind, hold it against float64. */
import { type Box, type Layout, resized } from './bands.ts';
import type { Candidate } from './choose.ts';
import { Executable } from './device/executable.ts';
import type { Kernel, Params } from './kernels/kernel.ts';
import type { HostOperands } from './measure/expected.ts';
import type { Arithmetic } from './measure/tolerance.ts';
import type { Problem } from './problem.ts';
import type { Profile } from './profile.ts';
import { brokenLimit, type Program } from './program.ts';
import { TrialOperands } from './trial/operands.ts';
import { executableSubject, prepareTrial } from './trial/trial.ts';

/** Multiply-adds of float64 reference that a check may cost: well under a second. */
const BUDGET = 2 ** 25;

/** Verdicts by source: kernels fail as code. */
const verdicts = new WeakMap<GPUDevice, Map<string, Promise<string | null>>>();

/**
 * Runs a candidate on a small product of the problem's kind and checks it, once for each source on a device; why it
 * failed, or null.
 *
 * The small problem differs from the real one in its sizes only, and keeps what decides over the code: the sizes'
 * remainders by 16 (K's by 64) and so the alignment of rows. Its pipelines are the real one's.
 */
export function selfCheck(
  device: GPUDevice,
  profile: Profile,
  problem: Problem,
  { kernel, params }: Candidate,
): Promise<string | null> {
  let known = verdicts.get(device);
  if (!known) {
    known = new Map();
    verdicts.set(device, known);
  }
  const small = checkedProblem(problem, profile, kernel, params);
  if (!small) return Promise.resolve(null);
  const program = kernel.build(small, profile, params);
  const source = sourceOf(program);
  let verdict = known.get(source);
  if (!verdict) {
    verdict = check(device, program, small, kernel);
    known.set(source, verdict);
    // What is not the kernel's fault, such as a full memory, may go better next time.
    verdict.catch(() => known.delete(source));
  }
  return verdict;
}

async function check(device: GPUDevice, program: Program, problem: Problem, kernel: Kernel) {
  const executable = await Executable.create(device, program);
  try {
    return await runChecked(device, executable, problem, kernel.arithmetic(problem));
  } finally {
    executable.destroy();
  }
}

/**
 * The small problem that a candidate is checked with: the first that gives the candidate's own code, or else the first
 * that the kernel serves at all; null where there is none.
 */
export function checkedProblem(
  problem: Problem,
  profile: Profile,
  kernel: Kernel,
  params: Params,
): Problem | null {
  // A caller's expression has no float64 twin; whether it compiles is seen with the real program.
  const plain = { ...problem, epilogue: null };
  const source = sourceOf(kernel.build(plain, profile, params));
  let first: Problem | null = null;
  for (const size of SIZES) {
    const small = shrink(plain, size);
    const { m, n, k, batch } = small;
    if (m * n * Math.max(1, k) * batch > BUDGET || kernel.rejects(small, profile) !== null) continue;
    const program = kernel.build(small, profile, params);
    if (brokenLimit(program, profile) !== null) continue;
    if (sourceOf(program) === source) return small;
    first ??= small;
  }
  return first;
}

const sourceOf = ({ passes }: Program) => passes.map(({ wgsl }) => wgsl).join();

/** The smallest sizes that large ones become, each up to 15 more; the first is enough for most kernels. */
const SIZES: readonly Box[] = [
  { m: 64, n: 64, k: 128, batch: 2 },
  { m: 64, n: 64, k: 2048, batch: 2 },
  { m: 512, n: 64, k: 128, batch: 2 },
  { m: 64, n: 512, k: 128, batch: 2 },
  { m: 64, n: 64, k: 64, batch: 64 },
  { m: 256, n: 256, k: 256, batch: 1 },
];

/** The same problem with small sizes of the same remainders by 16. */
function shrink(problem: Problem, to: Box): Problem {
  const smaller = (size: number, small: number, alike: number) =>
    size > small ? roundLike(small, size, alike) : size;
  const size = {
    m: smaller(problem.m, to.m, ALIKE),
    n: smaller(problem.n, to.n, ALIKE),
    // Kernels may leave out the guards at the end of K where it is whole steps.
    k: smaller(problem.k, to.k, 64),
    batch: Math.min(problem.batch, to.batch),
  };
  const { a, b, c } = problem;
  return resized(
    problem,
    size,
    layoutLike(a, a.trans ? [size.k, size.m] : [size.m, size.k]),
    layoutLike(b, b.trans ? [size.n, size.k] : [size.k, size.n]),
    layoutLike(c, [size.m, size.n]),
  );
}

/** A layout for fewer rows and columns that is aligned as the given one is. */
function layoutLike(like: Layout, [rows, cols]: [number, number]): Layout {
  const ld = Math.min(like.ld, roundLike(cols, like.ld));
  const stride = like.stride === 0 ? 0 : Math.min(like.stride, roundLike(rows * ld, like.stride));
  return { ld, stride, offset: like.offset % ALIKE };
}

const ALIKE = 16;

/** The smallest size from `least` on with the remainder of `like`. */
const roundLike = (least: number, like: number, alike = ALIKE) =>
  least + ((((like - least) % alike) + alike) % alike);

/**
 * Runs a program on random operands with a poisoned, fenced C; what is wrong with the result, or null.
 *
 * @param edit may change operands before they are used
 */
export async function runChecked(
  device: GPUDevice,
  executable: Executable,
  problem: Problem,
  arithmetic: Arithmetic,
  edit: (host: HostOperands) => void = () => {},
): Promise<string | null> {
  const seed = problem.m * 31 + problem.n * 7 + problem.k;
  const operands = await TrialOperands.create(device, problem, { seed, edit });
  try {
    const { verdict } = await prepareTrial(operands, async () =>
      executableSubject(operands, executable, arithmetic),
    );
    return verdict.failure;
  } finally {
    operands.destroy();
  }
}
