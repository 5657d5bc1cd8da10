/**
 * (problem, profile, tuning) → kernel and parameters, with the reasons. Pure: needs no device, so every decision can
 * be tested against made-up profiles and explained afterwards.
 */
import { GemmError } from './errors.ts';
import { KERNELS } from './kernels/index.ts';
import { type Kernel, type Params, sameNames } from './kernels/kernel.ts';
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
  readonly source: Suggestion['source'] | 'default' | 'given';
  /** What tuning says of them, in a line; null where it says nothing. */
  readonly note: string | null;
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

/** What tuning knows: a kernel with parameters for a problem on a device. */
export interface Suggestion {
  readonly kernel: string;
  /** All of them; where they are `suggested`, only those that matter. */
  readonly params: Params;
  /**
   * - `measured`: for this problem on this device.
   * - `near`: for a similar problem on this device.
   * - `shipped`: on a GPU of the same family, for this problem or a similar one.
   * - `suggested`: what others found good on such GPUs. Orders a kernel's parameters, and says nothing against others.
   */
  readonly source: 'measured' | 'near' | 'shipped' | 'suggested';
  /** Milliseconds that were measured, or follow from those of a similar problem; null where nothing was. */
  readonly ms: number | null;
  /** Where it comes from, in a line. */
  readonly note: string;
}

export interface ChooseOptions {
  /** The only kernel to consider: if it can't serve, that is an error, never another kernel. */
  readonly force?: string;
  /** The only parameters to consider, with `force`. */
  readonly params?: Params;
  /** What tuning knows of the problem, best first. What was measured goes before every estimate. */
  readonly suggested?: readonly Suggestion[];
  readonly kernels?: readonly Kernel[];
}

/**
 * Ranks the kernels that can serve a problem on a device.
 *
 * @throws GemmError `invalid-argument` for a forced kernel that there is none of, `unsupported` where none can serve
 */
export function choose(problem: Problem, profile: Profile, options: ChooseOptions = {}): Choice {
  const { force, kernels = KERNELS, suggested = [] } = options;
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
    const found = candidateOf(kernel, problem, profile, options.params, suggested);
    if (typeof found === 'string') passedOver.push({ kernel: kernel.name, reason: found });
    else ranked.push(found);
  }
  if (ranked.length === 0) {
    const reasons = passedOver.map(({ kernel, reason }) => `${kernel}: ${reason}`).join('; ');
    throw new GemmError('unsupported', force ? `kernel ${reasons}` : `no kernel can serve here. ${reasons}`);
  }
  const place = ({ kernel, params }: Candidate) => {
    const index = suggested.findIndex(
      it => it.kernel === kernel.name && it.params === params && it.ms !== null,
    );
    return index < 0 ? suggested.length : index;
  };
  ranked.sort((x, y) => place(x) - place(y) || x.estimateMs - y.estimateMs);
  return { ranked, passedOver };
}

/** The kernel's best parameters that fit the device, or why none do. */
function candidateOf(
  kernel: Kernel,
  problem: Problem,
  profile: Profile,
  given: Params | undefined,
  suggested: readonly Suggestion[],
): Candidate | string {
  const usual = given ? [given] : kernel.candidates(problem, profile);
  for (const { kernel: name, params: wanted, source, ms, note } of given ? [] : suggested) {
    if (name !== kernel.name) continue;
    const params = source === 'suggested' ? having(usual, wanted) : wanted;
    if (!params || !sameNames(params, usual[0])) continue;
    const program = fitting(kernel, problem, profile, params);
    if (!program) continue;
    const estimateMs = ms ?? kernel.estimate(problem, profile, params);
    return { kernel, params, program, estimateMs, source, note };
  }
  let reason = 'no parameters fit the problem';
  const source = given ? 'given' : 'default';
  for (const params of usual) {
    const program = kernel.build(problem, profile, params);
    const limit = brokenLimit(program, profile);
    if (limit === null) {
      const estimateMs = kernel.estimate(problem, profile, params);
      return { kernel, params, program, estimateMs, source, note: null };
    }
    reason = limit;
  }
  return reason;
}

/** The first parameters that have these among them. */
const having = (usual: readonly Params[], wanted: Params): Params | undefined =>
  usual.find(params => Object.entries(wanted).every(([name, value]) => params[name] === value));

/** The program for parameters that were good elsewhere; null where this version, problem or device can't take them. */
function fitting(kernel: Kernel, problem: Problem, profile: Profile, params: Params): Program | null {
  try {
    const program = kernel.build(problem, profile, params);
    return brokenLimit(program, profile) === null ? program : null;
  } catch (error) {
    if (error instanceof GemmError) return null;
    throw error;
  }
}
