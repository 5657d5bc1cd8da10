/**
 * The search for one problem, in three steps. All that may win is compiled and checked at the problem's full size; then
 * each is measured shortly; then the fastest few are measured again, in turn, so that they see the same clock, and the
 * best median wins. Nothing is checked between measurements: while the host computes in float64 the GPU idles, and its
 * clock falls (docs/performance.md).
 */
import { choose, type Suggestion } from '../choose.ts';
import { whileAlive } from '../device/alive.ts';
import type { Kernel, Params } from '../kernels/kernel.ts';
import type { Timer } from '../measure/timer.ts';
import type { Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import { TrialOperands } from '../trial/operands.ts';
import { Contest, failureOf } from './contest.ts';

/** What became of a kernel with parameters. */
export interface Tried {
  readonly kernel: string;
  readonly params: Params;
  /**
   * `fastest`: of all. `measured`: slower. `wrong`: against float64. `failed`: did not compile, or the device had no room.
   * `over-limits`: of the device. `slow`: its first run took so long that it was not measured. `pruned`: by its estimate.
   * `untried`: the time was up.
   */
  readonly status:
    | 'fastest'
    | 'measured'
    | 'wrong'
    | 'failed'
    | 'over-limits'
    | 'slow'
    | 'pruned'
    | 'untried';
  /** Why it was passed over, in a line; null where it was measured. */
  readonly reason: string | null;
  /** Median milliseconds; null where it was not measured. */
  readonly ms: number | null;
}

/** How far a search is. */
export interface SearchProgress {
  readonly phase: 'checking' | 'measuring' | 'deciding';
  /** Candidates that are done in this phase, and how many there are. */
  readonly done: number;
  readonly total: number;
  /** The fastest so far; null before anything was measured. */
  readonly best: { readonly kernel: string; readonly params: Params; readonly ms: number } | null;
}

/** A candidate's measurement. */
export interface Measured {
  readonly kernel: string;
  readonly params: Params;
  readonly ms: number;
  readonly spread: number;
  readonly relErr: number | null;
}

/** What a search found for a problem. */
export interface SearchResult {
  /** Null where nothing was measured: `reason` says why. */
  readonly best: Measured | null;
  /** What would have been chosen without tuning; null where it was not measured. */
  readonly before: Measured | null;
  readonly tried: readonly Tried[];
  /** Why the search ended early or found nothing, in a line; null where it is whole. */
  readonly reason: string | null;
}

export interface SearchOptions {
  readonly device: GPUDevice;
  readonly profile: Profile;
  readonly kernels: readonly Kernel[];
  readonly timer: Timer;
  /** What is known already; the first choice is made with it. */
  readonly suggested: readonly Suggestion[];
  /** Milliseconds that the search may take. What is under way is finished. */
  readonly budget: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
}

/**
 * Finds the fastest kernel for a problem. A candidate that fails is passed over with its reason, and so is a problem that
 * the device has no room for.
 *
 * @throws GemmError `unsupported` where no kernel can serve, `device-lost`
 */
export function search(problem: Problem, options: SearchOptions): Promise<SearchResult> {
  const { device, profile, kernels, suggested } = options;
  const [first] = choose(problem, profile, { kernels, suggested }).ranked;
  return whileAlive(device, async () => {
    let operands: TrialOperands;
    try {
      operands = await TrialOperands.create(device, problem);
    } catch (error) {
      return { best: null, before: null, tried: [], reason: failureOf(error) };
    }
    const contest = new Contest(options, operands, first);
    try {
      await contest.hold();
      return contest.result();
    } finally {
      contest.destroy();
    }
  });
}
