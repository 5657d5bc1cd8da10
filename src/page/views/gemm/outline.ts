/** What the library would do with a problem on a device: choice, reasons, passes, WGSL, bytes. Pure: no GPU is asked. */
import { split } from '../../../bands.ts';
import type { Candidate, PassedOver } from '../../../choose.ts';
import type { Explanation } from '../../../explain.ts';
import { KERNELS } from '../../../kernels/index.ts';
import type { Kernel } from '../../../kernels/kernel.ts';
import { requiredBytes } from '../../../operands.ts';
import { explanationOf, outlineParts, type Part, type Shader, shadersOf } from '../../../parts.ts';
import { normalize, operations, type Problem, type ProblemOptions } from '../../../problem.ts';
import type { Profile } from '../../../profile.ts';
import type { Pass } from '../../../program.ts';
import { lookup } from '../../../tuning/lookup.ts';
import type { TuningRecord } from '../../../tuning/record.ts';

/** A choice and what it runs. */
export interface Outline {
  readonly options: ProblemOptions;
  readonly problem: Problem;
  readonly explanation: Explanation;
  /** The kernels that can serve, best first. */
  readonly ranked: readonly Candidate[];
  readonly passes: readonly Pass[];
  readonly shaders: readonly Shader[];
  /** Pieces that the problem is cut into, where only the first of them is outlined. */
  readonly cut: number | null;
}

/** A problem that no kernel can serve on a device, and why each of them can't. */
export interface Unserved {
  readonly problem: Problem;
  readonly reasons: readonly PassedOver[];
}

/** More pieces than this are not outlined one by one: that would take seconds. */
const MOST_PIECES = 32;

/**
 * @param kernel the only one to consider; any, where it is empty
 *
 * @throws GemmError as `Gemm.explain`
 */
export function outline(
  options: ProblemOptions,
  profile: Profile,
  tuning: TuningRecord | null,
  kernel = '',
): Outline {
  const problem = normalize(options);
  const records = tuning ? [tuning] : [];
  const { outlined, cut } = outlinable(problem, profile);
  const parts: readonly Part[] = outlineParts(outlined, profile, {
    kernels: KERNELS,
    suggest: piece => lookup(piece, profile, records),
    ...(kernel === '' ? {} : { force: kernel }),
  });
  return {
    ...{ options, problem, cut },
    explanation: explanationOf(outlined, profile, parts),
    ranked: parts[0]?.choice?.ranked ?? [],
    passes: parts.flatMap(({ program }) => program.passes),
    shaders: shadersOf(parts),
  };
}

/** Serves what no kernel can, so that `choose` hands over their reasons as data: it would throw them as one text. */
const NO_KERNEL: Kernel = {
  ...{ name: 'none', idea: 'computes nothing' },
  ...{ rejects: () => null, candidates: () => [{}], arithmetic: () => 'exact' },
  estimate: () => Number.POSITIVE_INFINITY,
  build: () => ({ passes: [], uniforms: {}, scratch: {} }),
};

/**
 * Null where every piece has a kernel that can serve.
 *
 * @throws GemmError for a problem that makes no sense
 */
export function unservedOf(options: ProblemOptions, profile: Profile): Unserved | null {
  const problem = normalize(options);
  const parts = outlineParts(outlinable(problem, profile).outlined, profile, {
    kernels: [...KERNELS, NO_KERNEL],
    suggest: () => [],
  });
  const choice = parts.map(part => part.choice).find(it => it?.ranked[0].kernel === NO_KERNEL);
  return choice ? { problem, reasons: choice.passedOver } : null;
}

/** The problem, or the first of its pieces where there are too many. */
function outlinable(problem: Problem, profile: Profile): { outlined: Problem; cut: number | null } {
  const pieces = split(problem, profile.limits);
  return pieces.length > MOST_PIECES
    ? { outlined: pieces[0].problem, cut: pieces.length }
    : { outlined: problem, cut: null };
}

/** Bytes that each operand moves at the least: read or written once, C both where it is scaled and added. */
export function traffic(problem: Problem): readonly (readonly [operand: string, bytes: number])[] {
  return requiredBytes(problem).map(([name, bytes]) => [
    name.length === 1 ? name.toUpperCase() : name,
    name === 'c' && problem.beta !== 0 ? 2 * bytes : bytes,
  ]);
}

export const trafficBytes = (problem: Problem): number =>
  traffic(problem).reduce((sum, [, bytes]) => sum + bytes, 0);

/** Operations for each byte that must be moved: where a problem stands on a roofline. */
export const intensity = (problem: Problem): number =>
  operations(problem) / Math.max(1, trafficBytes(problem));
