/**
 * Measures work on a GPU whose clock ramps: warm-up by time until samples agree, many dispatches in a sample, and what
 * is to be compared interleaved, so that it sees the same clock.
 *
 * Agreement alone does not show that the clock has arrived. After a second of idling an H200 runs at 345 to 800 MHz
 * instead of 1980, and stays there, as steady as can be, for up to a second of full load before it steps up
 * (docs/performance.md). So the warm-up also has a least time, and samples are long enough to keep the GPU busy.
 */
import { isSteady, median, spread } from './statistics.ts';
import type { Timer } from './timer.ts';

/** Something to be timed: what it puts into a compute pass. */
export interface Work {
  /** Encodes one run. */
  readonly encode: (pass: GPUComputePassEncoder) => void;
}

/** Median, spread and samples of one piece of work. */
export interface Measurement {
  /** Median time of one run, in milliseconds. */
  readonly ms: number;
  /** Interquartile range over the median. */
  readonly spread: number;
  /** Times of one run, in the order they were taken. */
  readonly samples: readonly number[];
  /** Runs in each sample. */
  readonly repeats: number;
  /** False where the clock was still moving when the warm-up's time was up. */
  readonly steady: boolean;
}

/** How long to warm up and to measure, in milliseconds; all of it can be left out. */
export interface MeasureOptions {
  /** Milliseconds to spend on the samples of each work. */
  readonly minTime?: number;
  /** Least time to spend on the warm-up, of the first work if there are several. */
  readonly minWarmUp?: number;
  /** Most time to wait for it to become steady. */
  readonly maxWarmUp?: number;
  readonly signal?: AbortSignal;
  /** Called when a phase begins. */
  readonly onPhase?: (phase: 'warming up' | 'measuring') => void;
}

/** No submit longer than this, so that a page stays alive and no watchdog bites. */
const MAX_SUBMIT_MS = 100;
const MIN_SAMPLES = 5;

/** Measures one piece of work. */
export async function measure(timer: Timer, work: Work, options: MeasureOptions = {}): Promise<Measurement> {
  return (await measureTogether(timer, [work], options))[0];
}

/** Measures several pieces of work in turn, sample by sample, so that their ratios can be trusted. */
export function measureTogether(
  timer: Timer,
  works: readonly Work[],
  options: MeasureOptions = {},
): Promise<Measurement[]> {
  const sampled = works.map(
    (work): Sampled => ({
      take: repeats =>
        timer.time(pass => {
          for (let i = 0; i < repeats; i++) work.encode(pass);
        }),
      repeatsFor: ms => repeatsFor(timer, ms),
    }),
  );
  return sampleTogether(sampled, options);
}

/** Something that runs and is timed in whatever way. */
export interface Sampled {
  /** Milliseconds of so many runs together. */
  take(repeats: number): Promise<number>;
  /** Runs that a sample should have where one takes `ms`. */
  repeatsFor(ms: number): number;
}

/** The same for whatever can be timed. */
export async function sampleTogether(
  works: readonly Sampled[],
  { minTime = 500, minWarmUp = 1500, maxWarmUp = 4000, signal, onPhase }: MeasureOptions = {},
): Promise<Measurement[]> {
  const states = works.map(work => ({ work, repeats: 1, samples: [] as number[], steady: false }));
  const sample = async (state: (typeof states)[number]) => {
    signal?.throwIfAborted();
    const ms = (await state.work.take(state.repeats)) / state.repeats;
    state.samples.push(ms);
    return ms;
  };

  onPhase?.('warming up');
  for (const [index, state] of states.entries()) {
    const start = performance.now();
    // Those after the first find the clock where that one has brought it.
    const least = index === 0 ? minWarmUp : 0;
    let ms = await sample(state);
    state.repeats = state.work.repeatsFor(ms);
    for (;;) {
      const elapsed = performance.now() - start;
      state.steady = isSteady(state.samples);
      if (elapsed >= maxWarmUp || (state.steady && elapsed >= least)) break;
      ms = await sample(state);
      state.repeats = state.work.repeatsFor(ms);
    }
    state.samples = [];
  }

  onPhase?.('measuring');
  const budget = minTime * works.length;
  const start = performance.now();
  for (let round = 0; round < MIN_SAMPLES || performance.now() - start < budget; round++) {
    for (const state of states) await sample(state);
  }
  return states.map(({ samples, repeats, steady }) => ({
    ms: median(samples),
    spread: spread(samples),
    samples,
    repeats,
    steady,
  }));
}

/**
 * Runs a sample needs so that it lasts a hundred steps of the clock, and long enough (15 ms, 20 on the wall) that the GPU idles
 * for no more than a small share of the time between samples, in a submit of bounded length.
 */
function repeatsFor(timer: Timer, ms: number): number {
  const target = timer.kind === 'wall-clock' ? 20 : Math.max(15, ((timer.resolutionNs ?? 1e5) * 100) / 1e6);
  const one = Math.max(ms, 1e-3);
  return Math.max(1, Math.min(Math.ceil(target / one), Math.floor(MAX_SUBMIT_MS / one), 2000));
}
