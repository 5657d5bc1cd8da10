/**
 * (problem, profile, tuning) → kernel and parameters, with the reasons. Pure: needs no device, so every decision can
 * be tested against made-up profiles and explained afterwards.
 */
import { GemmError } from './errors.ts';
import { KERNELS } from './kernels/index.ts';
import type { Kernel, Params } from './kernels/kernel.ts';
import type { Problem } from './problem.ts';
import type { Profile } from './profile.ts';
import { brokenLimit, type Program } from './program.ts';

/** A kernel that can serve, with the parameters it would run with. */
export interface Candidate {
  readonly kernel: Kernel;
  readonly params: Params;
  readonly program: Program;
  /** Milliseconds, estimated; good for comparing, not for quoting. */
  readonly estimateMs: number;
  /** Where the parameters come from. */
  readonly source: 'measured' | 'default' | 'given';
}

/** A kernel that was not considered further, and why, in a line. */
export interface PassedOver {
  readonly kernel: string;
  readonly reason: string;
}

export interface Choice {
  /** What to run, best first; the rest is there for when one fails on the device. Never empty. */
  readonly ranked: readonly Candidate[];
  /** Kernels that can't serve, and why. */
  readonly passedOver: readonly PassedOver[];
}

/** What tuning knows of a problem on a device: measured milliseconds of kernels with their parameters. */
export type Measured = readonly { readonly kernel: string; readonly params: Params; readonly ms: number }[];

export interface ChooseOptions {
  /** The only kernel to consider: if it can't serve, that is an error, never another kernel. */
  readonly force?: string;
  /** The only parameters to consider, with `force`. */
  readonly params?: Params;
  /** Measurements of this problem on this device; they go before every estimate. */
  readonly measured?: Measured;
  readonly kernels?: readonly Kernel[];
}

/**
 * Ranks the kernels that can serve a problem on a device.
 *
 * @throws GemmError `invalid-argument` for a forced kernel that there is none of, `unsupported` where none can serve
 */
export function choose(problem: Problem, profile: Profile, options: ChooseOptions = {}): Choice {
  const { force, kernels = KERNELS, measured = [] } = options;
  const considered = force === undefined ? kernels : kernels.filter(({ name }) => name === force);
  if (considered.length === 0) {
    const names = kernels.map(({ name }) => name).join(', ');
    throw new GemmError('invalid-argument', `there is no kernel "${force}"`, `The kernels are ${names}.`);
  }
  const passedOver: PassedOver[] = [];
  const ranked: Candidate[] = [];
  for (const kernel of considered) {
    const reason = kernel.rejects(problem, profile);
    if (reason !== null) {
      passedOver.push({ kernel: kernel.name, reason });
      continue;
    }
    const found = candidateOf(kernel, problem, profile, options.params, measured);
    if (typeof found === 'string') passedOver.push({ kernel: kernel.name, reason: found });
    else ranked.push(found);
  }
  if (ranked.length === 0) {
    const reasons = passedOver.map(({ kernel, reason }) => `${kernel}: ${reason}`).join('; ');
    throw new GemmError('unsupported', force ? `kernel ${reasons}` : `no kernel can serve here. ${reasons}`);
  }
  const known = (candidate: Candidate) => candidate.source === 'measured';
  ranked.sort((x, y) => Number(known(y)) - Number(known(x)) || x.estimateMs - y.estimateMs);
  return { ranked, passedOver };
}

/** The kernel's best parameters that fit the device, or why none do. */
function candidateOf(
  kernel: Kernel,
  problem: Problem,
  profile: Profile,
  given: Params | undefined,
  measured: Measured,
): Candidate | string {
  const record = measured.filter(({ kernel: name }) => name === kernel.name).sort((x, y) => x.ms - y.ms)[0];
  if (record && !given) {
    const program = kernel.build(problem, profile, record.params);
    if (brokenLimit(program, profile) === null) {
      return { kernel, params: record.params, program, estimateMs: record.ms, source: 'measured' };
    }
  }
  let reason = 'no parameters fit the problem';
  const source = given ? 'given' : 'default';
  for (const params of given ? [given] : kernel.candidates(problem, profile)) {
    const program = kernel.build(problem, profile, params);
    const limit = brokenLimit(program, profile);
    if (limit === null) {
      return { kernel, params, program, estimateMs: kernel.estimate(problem, profile, params), source };
    }
    reason = limit;
  }
  return reason;
}
