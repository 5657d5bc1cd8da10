/** What the tuner tries for a problem: the parameters of every kernel that can serve, less what has no prospect. Pure. */
import type { Candidate, Suggestion } from '../choose.ts';
import { type Kernel, type Params, sameNames } from '../kernels/kernel.ts';
import type { Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import { brokenLimit } from '../program.ts';

/** A kernel with parameters, before it is tried. */
export interface Entrant {
  readonly kernel: Kernel;
  readonly params: Params;
  readonly estimateMs: number;
}

/** One that is not tried, and why, in a line. */
export interface Skipped extends Entrant {
  readonly status: 'failed' | 'over-limits' | 'pruned';
  readonly reason: string;
}

export interface SpaceOptions {
  readonly profile: Profile;
  readonly kernels: readonly Kernel[];
  /** What is known already: its parameters are tried as well. */
  readonly suggested: readonly Suggestion[];
}

/** Estimates are rough: what is expected to take up to so many times as long as the best is tried. */
const FACTOR = 4;

/**
 * @param first what would be chosen without tuning; tried first, whatever it is expected to take
 *
 * @returns what to try, the most promising first, and at least one of each kernel that fits the device
 */
export function spaceOf(
  problem: Problem,
  { profile, kernels, suggested }: SpaceOptions,
  first: Candidate,
): { readonly entrants: readonly Entrant[]; readonly skipped: readonly Skipped[] } {
  const serving = kernels.filter(kernel => kernel.rejects(problem, profile) === null);
  const all = serving.flatMap(kernel => pointsOf(kernel, problem, profile, suggested));
  const skipped: Skipped[] = [];
  const fitting: Entrant[] = [];
  for (const point of all) {
    const found = check(point, problem, profile);
    if ('status' in found) skipped.push(found);
    else fitting.push(found);
  }
  const sorted = fitting.sort((x, y) => x.estimateMs - y.estimateMs);
  const chosen = (it: Entrant) => it.kernel === first.kernel && sameParams(it.params, first.params);
  const bound = FACTOR * (sorted[0]?.estimateMs ?? 0);
  const entrants: Entrant[] = [first];
  for (const entrant of sorted) {
    if (chosen(entrant)) continue;
    const alone = !entrants.some(({ kernel }) => kernel === entrant.kernel);
    if (entrant.estimateMs <= bound || alone) entrants.push(entrant);
    else {
      const times = (entrant.estimateMs / sorted[0].estimateMs).toFixed(1);
      skipped.push({ ...entrant, status: 'pruned', reason: `expected to take ${times} times as long` });
    }
  }
  return { entrants, skipped };
}

/** Each point of a kernel's parameters once, those that it takes by itself first. */
function pointsOf(
  kernel: Kernel,
  problem: Problem,
  profile: Profile,
  suggested: readonly Suggestion[],
): readonly Omit<Entrant, 'estimateMs'>[] {
  const usual = kernel.candidates(problem, profile);
  const known = suggested
    .filter(it => it.kernel === kernel.name && sameNames(it.params, usual[0]))
    .map(({ params }) => params);
  const points = [...usual, ...known, ...(kernel.space?.(problem, profile) ?? [])];
  const distinct = points.filter((params, i) => points.findIndex(other => sameParams(other, params)) === i);
  return distinct.map(params => ({ kernel, params }));
}

function check(
  { kernel, params }: Omit<Entrant, 'estimateMs'>,
  problem: Problem,
  profile: Profile,
): Entrant | Skipped {
  let estimateMs = Number.POSITIVE_INFINITY;
  try {
    estimateMs = kernel.estimate(problem, profile, params);
    const reason = brokenLimit(kernel.build(problem, profile, params), profile);
    return reason === null
      ? { kernel, params, estimateMs }
      : { kernel, params, estimateMs, status: 'over-limits', reason };
  } catch (error) {
    return { kernel, params, estimateMs, status: 'failed', reason: (error as Error).message };
  }
}

export function sameParams(x: Params, y: Params): boolean {
  const names = Object.keys(x);
  return names.length === Object.keys(y).length && names.every(name => x[name] === y[name]);
}
