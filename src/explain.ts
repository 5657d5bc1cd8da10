/** What `plan.explain()` gives: why this kernel, as data and for people. Pure. */
import type { Candidate, PassedOver } from './choose.ts';
import type { Params } from './kernels/kernel.ts';
import { describeProblem, operations, type Problem } from './problem.ts';
import { describeProfile, type Profile } from './profile.ts';

export interface Explanation {
  readonly problem: string;
  readonly device: string;
  /** The kernel's name; null where there is nothing to compute. */
  readonly kernel: string | null;
  readonly params: Params;
  /** `measured`: tuned for this problem and device. `default`: the first parameters that fit. `given`: by the caller. */
  readonly source: Candidate['source'] | null;
  /** Milliseconds: measured by the tuner, else estimated; good for comparing kernels. */
  readonly expectedMs: number | null;
  /** Floating-point (or integer) operations. */
  readonly operations: number;
  /** Bytes of scratch memory that the plan uses. */
  readonly scratchBytes: number;
  /** Dispatches, in order. */
  readonly passes: readonly string[];
  /** Other kernels that could serve, and what they are expected to take. */
  readonly alternatives: readonly {
    readonly kernel: string;
    readonly params: Params;
    readonly expectedMs: number;
  }[];
  /** Kernels that can't serve, or were set aside on this device, and why. */
  readonly passedOver: readonly PassedOver[];
  /** The same, as lines for a terminal. */
  toString(): string;
}

export interface ExplainInput {
  readonly problem: Problem;
  readonly profile: Profile;
  readonly ranked: readonly Candidate[];
  readonly passedOver: readonly PassedOver[];
  readonly scratchBytes: number;
  /** Passes that run, in order; those of the chosen program where they are left out. */
  readonly passes?: readonly string[];
}

export function explain({
  problem,
  profile,
  ranked,
  passedOver,
  scratchBytes,
  passes,
}: ExplainInput): Explanation {
  const [chosen, ...others] = ranked;
  const explanation = {
    problem: describeProblem(problem),
    device: describeProfile(profile),
    kernel: chosen?.kernel.name ?? null,
    params: chosen?.params ?? {},
    source: chosen?.source ?? null,
    expectedMs: chosen?.estimateMs ?? null,
    operations: operations(problem),
    scratchBytes,
    passes: passes ?? chosen?.program.passes.map(({ label }) => label) ?? [],
    alternatives: others.map(({ kernel, params, estimateMs }) => ({
      kernel: kernel.name,
      params,
      expectedMs: estimateMs,
    })),
    passedOver,
  };
  return { ...explanation, toString: () => render(explanation, chosen) };
}

export const describeParams = (params: Params): string =>
  Object.entries(params)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

function render(explanation: Omit<Explanation, 'toString'>, chosen: Candidate | undefined): string {
  const { problem, device, alternatives, passedOver, passes, scratchBytes } = explanation;
  if (!chosen) return `${problem} on ${device}: nothing to compute`;
  const time = (ms: number) => `${ms.toPrecision(3)} ms`;
  const how = chosen.source === 'measured' ? 'measured' : 'estimated';
  return [
    `${problem} on ${device}`,
    `  kernel       ${chosen.kernel.name}: ${chosen.kernel.idea}`,
    `  parameters   ${describeParams(chosen.params)} (${chosen.source})`,
    `  expected     ${time(chosen.estimateMs)} (${how})`,
    `  passes       ${passes.join(', ')}`,
    `  scratch      ${scratchBytes} bytes`,
    ...alternatives.map(({ kernel, expectedMs }) => `  slower       ${kernel}: ${time(expectedMs)}`),
    ...passedOver.map(({ kernel, reason }) => `  passed over  ${kernel}: ${reason}`),
  ].join('\n');
}
