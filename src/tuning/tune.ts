/** Tuning: the fastest kernel for each of some problems on this device, as a record. */

import { split } from '../bands.ts';
import type { Suggestion } from '../choose.ts';
import { GemmError } from '../errors.ts';
import type { Kernel } from '../kernels/kernel.ts';
import { createTimer } from '../measure/timer.ts';
import { isEmpty, operations, type Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import {
  extended,
  SCHEMA,
  type TuningEntry,
  type TuningRecord,
  tunedProblem,
  tuningAdapter,
} from './record.ts';
import { type SearchProgress, type SearchResult, search } from './search.ts';

/** How far tuning is. */
export interface TuneProgress extends SearchProgress {
  /** The problem that is being tuned. */
  readonly problem: Problem;
  /** Its number, from 0 on, and how many there are. */
  readonly index: number;
  readonly count: number;
}

/** What tuning found for one problem. */
export interface TuneResult extends SearchResult {
  readonly problem: Problem;
  /** What goes into the record; null where nothing was measured. */
  readonly entry: TuningEntry | null;
}

/** How tuning is limited and watched; all of it can be left out. */
export interface TuneOptions {
  /** Seconds for all problems together; 60 if left out. What is under way when they are up is finished. */
  readonly budgetSeconds?: number;
  /** Ends tuning after what is under way; what was measured is kept. */
  readonly signal?: AbortSignal;
  /** Called before each candidate. */
  readonly onProgress?: (progress: TuneProgress) => void;
  /** Called when a problem is done, also where nothing was found for it. */
  readonly onResult?: (result: TuneResult) => void;
}

/** What tuning works with. */
export interface TuneInput {
  readonly device: GPUDevice;
  readonly profile: Profile;
  readonly kernels: readonly Kernel[];
  /** What is known of a problem before it is tuned. */
  readonly suggest: (problem: Problem) => readonly Suggestion[];
  /** What measures, in a line; Node or the browser if left out. */
  readonly runtime?: string;
}

/** Takes the record as soon as there is one, and again after each further problem. */
type OnRecord = (record: TuningRecord) => Promise<void>;

/** What measured, in a line. */
function runtimeName(): string {
  const node = globalThis.process?.versions?.node;
  return node ? `Node ${node}` : (globalThis.navigator?.userAgent ?? 'unknown');
}

/**
 * Tunes problems one after the other; what time a problem leaves is the next ones'.
 *
 * @throws GemmError `invalid-argument` for a budget that is none, `device-lost`
 */
export async function tune(
  problems: readonly Problem[],
  { device, profile, kernels, suggest, runtime = runtimeName() }: TuneInput,
  {
    budgetSeconds = 60,
    signal,
    onProgress,
    onResult,
    onRecord,
  }: TuneOptions & { readonly onRecord?: OnRecord } = {},
): Promise<TuningRecord> {
  if (!(budgetSeconds > 0)) {
    throw new GemmError('invalid-argument', `a budget of ${budgetSeconds} seconds`, 'Give more than 0.');
  }
  const end = performance.now() + budgetSeconds * 1000;
  const count = problems.length;
  const timer = await createTimer(device);
  let record: TuningRecord = {
    ...{ schema: SCHEMA, date: new Date().toISOString(), adapter: tuningAdapter(profile), runtime },
    entries: [],
  };
  try {
    for (const [index, problem] of problems.entries()) {
      const result = await tuneOne(problem, {
        ...{ device, profile, kernels, timer, signal, suggested: suggest(problem) },
        budget: Math.max(1, (end - performance.now()) / (count - index)),
        onProgress: onProgress && (progress => onProgress({ ...progress, problem, index, count })),
      });
      if (result.entry) {
        record = extended(record, { ...record, date: new Date().toISOString(), entries: [result.entry] });
        await onRecord?.(record);
      }
      onResult?.(result);
    }
  } finally {
    timer.destroy();
  }
  return record;
}

async function tuneOne(problem: Problem, options: Parameters<typeof search>[1]): Promise<TuneResult> {
  const nothing = (reason: string): TuneResult => ({
    ...{ problem, entry: null, best: null, before: null, tried: [], reason },
  });
  if (options.signal?.aborted) return nothing('it was stopped');
  if (isEmpty(problem) || problem.k === 0) return nothing('there is nothing to multiply');
  if (split(problem, options.profile.limits).length > 1) {
    return nothing('its operands exceed a binding: tune the pieces that it is cut into');
  }
  let found: SearchResult;
  try {
    // Whether a caller's expression is right can't be known here, and its time hardly matters.
    found = await search({ ...problem, epilogue: null }, options);
  } catch (error) {
    if (error instanceof GemmError && error.code === 'unsupported') return nothing(error.message);
    throw error;
  }
  const { best } = found;
  const entry = best && {
    ...tunedProblem(problem),
    ...best,
    tflops: operations(problem) / best.ms / 1e9,
  };
  return { problem, entry, ...found };
}
