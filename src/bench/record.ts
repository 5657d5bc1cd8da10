/** The document that a bench leaves behind: what `--json` prints, the page exports and bench/records keeps. */
import type { Params } from '../kernels/kernel.ts';
import { type RecordAdapter, type RecordRuntime, recordAdapter } from '../ladder/record.ts';
import type { Timer } from '../measure/timer.ts';
import type { Accuracy, InputType } from '../problem.ts';
import type { Profile } from '../profile.ts';

/** One figure and what stands behind it. What is not known is null, never 0. */
export interface BenchResult {
  /** Whose figure it is: the library's, another library's, the vendor's, the hardware's own limit, or a rung's. */
  readonly group: 'ours' | 'peer' | 'cublas' | 'ceiling' | 'ladder';
  readonly name: string;
  /** Type of A and B. */
  readonly dtype: InputType | 'tf32' | 'bf16' | null;
  readonly accuracy: Accuracy | null;
  /** m, n and k; null for a ceiling, which multiplies no matrices. */
  readonly shape: readonly [m: number, n: number, k: number] | null;
  readonly batch: number;
  readonly transA: boolean;
  readonly transB: boolean;
  /** Median time of one product, in milliseconds. */
  readonly ms: number | null;
  /** Interquartile range over the median. */
  readonly spread: number | null;
  /** 10¹² operations a second: 2·m·n·k·batch over the time. */
  readonly tflops: number | null;
  /** 10⁹ bytes a second: A, B and C, each once, over the time. */
  readonly gbps: number | null;
  /** ‖C − ref‖ / ‖ref‖ against float64. */
  readonly relErr: number | null;
  /** The largest |C − ref| over its allowed bound; 1 and less passes. */
  readonly worst: number | null;
  readonly kernel: string | null;
  readonly params: Params | null;
  /** Whether the shaders ran with robust buffer access, as they do in a browser. */
  readonly robustness: boolean | null;
  readonly timer: Timer['kind'] | null;
  /** Milliseconds of the first plan for this problem, and of the same plan made again. */
  readonly coldPlanMs: number | null;
  readonly warmPlanMs: number | null;
  /** Why there is no figure, or what is wrong with it: the time of a wrong result is no figure to show. */
  readonly failure: string | null;
}

export interface BenchRecord {
  readonly schema: 'webgemm-bench/1';
  /** When it was measured, as ISO 8601 in UTC. */
  readonly date: string;
  /** A word for the machine; never its name in a network. */
  readonly machine: string;
  readonly adapter: RecordAdapter;
  readonly runtime: RecordRuntime;
  /** What was measured, by name. */
  readonly versions: Readonly<Record<string, string>>;
  readonly results: readonly BenchResult[];
}

export interface BenchSource {
  readonly machine: string;
  readonly profile: Profile;
  readonly runtime: RecordRuntime;
  readonly versions: Readonly<Record<string, string>>;
  readonly results: readonly BenchResult[];
  readonly date?: Date;
}

export function benchRecord({
  machine,
  profile,
  runtime,
  versions,
  results,
  date,
}: BenchSource): BenchRecord {
  return {
    schema: 'webgemm-bench/1',
    date: (date ?? new Date()).toISOString(),
    machine,
    adapter: recordAdapter(profile),
    runtime,
    versions,
    results,
  };
}

/** A result of which nothing is known yet but whose it is. */
export const blankResult = (group: BenchResult['group'], name: string): BenchResult => ({
  group,
  name,
  dtype: null,
  accuracy: null,
  shape: null,
  batch: 1,
  transA: false,
  transB: false,
  ms: null,
  spread: null,
  tflops: null,
  gbps: null,
  relErr: null,
  worst: null,
  kernel: null,
  params: null,
  robustness: null,
  timer: null,
  coldPlanMs: null,
  warmPlanMs: null,
  failure: null,
});
