/** What `plan.explain()` gives: why this kernel, as data and for people. Pure. */
import type { Candidate, PassedOver } from './choose.ts';
import type { Params } from './kernels/kernel.ts';
import { describeProblem, operations, type Problem } from './problem.ts';
import { describeProfile, type Profile } from './profile.ts';

/** Why a problem gets the kernel it gets on a device: data, and `String(explanation)` prints it as lines. */
export interface Explanation {
  /** What is computed, in a line. */
  readonly problem: string;
  /** The device's name. */
  readonly device: string;
  /** The kernel's name; null where there is nothing to compute. */
  readonly kernel: string | null;
  /** The kernel's parameters, such as its tile sizes. */
  readonly params: Params;
  /**
   * Where the parameters come from. `measured`: tuned for this problem on this device. `near`: for a similar one.
   * `shipped`: tuned on a GPU of the same family. `suggested`: others found them good on such GPUs. `default`: the first
   * that fit. `given`: by the caller.
   */
  readonly source: Candidate['source'] | null;
  /** What was tuned, in a line, such as "tuned for 512×512×512 on this device"; null where nothing was. */
  readonly tuning: string | null;
  /** Milliseconds: measured by the tuner, else estimated; good for comparing kernels. */
  readonly expectedMs: number | null;
  /** Floating-point (or integer) operations. */
  readonly operations: number;
  /** Bytes of scratch memory that the plan uses, together. */
  readonly scratchBytes: number;
  /** The same by the names that `PlanOptions.scratch` knows. */
  readonly scratch: Readonly<Record<string, number>>;
  /** Dispatches, in order. */
  readonly passes: readonly string[];
  /** Pieces that the problem is cut into so that the operands fit into bindings; 0 where there is nothing to do. */
  readonly pieces: number;
  /** Other kernels that could serve, and what they are expected to take. */
  readonly alternatives: readonly {
    readonly kernel: string;
    readonly params: Params;
    readonly source: Candidate['source'];
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
  readonly expectedMs: number;
  readonly scratch: Readonly<Record<string, number>>;
  /** Passes that run, in order. */
  readonly passes: readonly string[];
  readonly pieces: number;
}

export function explain({
  problem,
  profile,
  ranked,
  passedOver,
  expectedMs,
  scratch,
  passes,
  pieces,
}: ExplainInput): Explanation {
  const [chosen, ...others] = ranked;
  const explanation = {
    problem: describeProblem(problem),
    device: describeProfile(profile),
    kernel: chosen?.kernel.name ?? null,
    params: chosen?.params ?? {},
    source: chosen?.source ?? null,
    tuning: chosen?.note ?? null,
    expectedMs: chosen ? expectedMs : null,
    operations: operations(problem),
    scratchBytes: Object.values(scratch).reduce((sum, bytes) => sum + bytes, 0),
    scratch,
    passes,
    pieces,
    alternatives: others.map(({ kernel, params, source, estimateMs }) => ({
      ...{ kernel: kernel.name, params, source },
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

/** How the expected time is known. */
const EXPECTED: Readonly<Record<Candidate['source'], string>> = {
  measured: 'measured',
  near: 'near a measured one',
  shipped: 'measured on a GPU of this kind',
  suggested: 'estimated',
  default: 'estimated',
  given: 'estimated',
};

function render(explanation: Omit<Explanation, 'toString'>, chosen: Candidate | undefined): string {
  const { problem, device, alternatives, passedOver, expectedMs, scratch, passes, pieces } = explanation;
  if (!chosen) return `${problem} on ${device}: nothing to compute`;
  const time = (ms: number) => `${ms.toPrecision(3)} ms`;
  const how = EXPECTED[chosen.source];
  return [
    `${problem} on ${device}`,
    `  kernel       ${chosen.kernel.name}: ${chosen.kernel.idea}`,
    `  parameters   ${describeParams(chosen.params)} (${chosen.note ?? chosen.source})`,
    `  expected     ${time(expectedMs ?? 0)} (${how})`,
    ...(pieces > 1 ? [`  pieces       ${pieces}, so that every operand fits into a binding`] : []),
    `  passes       ${summary(passes)}`,
    `  scratch      ${scratchText(scratch)}`,
    // An estimate says nothing beside a measurement: not even which of them is faster.
    ...alternatives.map(({ kernel, source, expectedMs }) =>
      EXPECTED[source] === how
        ? `  slower       ${kernel}: ${time(expectedMs)}`
        : `  or           ${kernel}: ${time(expectedMs)} (${EXPECTED[source]})`,
    ),
    ...passedOver.map(({ kernel, reason }) => `  passed over  ${kernel}: ${reason}`),
  ].join('\n');
}

/** `pack A, multiply × 3, finish`: the same pass in a row is named once. */
function summary(passes: readonly string[]): string {
  const runs: { label: string; count: number }[] = [];
  for (const label of passes) {
    const last = runs.at(-1);
    if (last?.label === label) last.count++;
    else runs.push({ label, count: 1 });
  }
  const shown = runs.slice(0, 12).map(({ label, count }) => (count > 1 ? `${label} × ${count}` : label));
  return shown.join(', ') + (runs.length > shown.length ? `, and ${runs.length - shown.length} more` : '');
}

function scratchText(scratch: Readonly<Record<string, number>>): string {
  const sizes = Object.entries(scratch).map(([name, bytes]) => `${name} ${bytes} bytes`);
  return sizes.length > 0 ? sizes.join(', ') : 'none';
}
