/** Runs one product as the library does it: compiled, verified against float64, and then timed. */
import { GemmError } from '../../../errors.ts';
import { createGemm } from '../../../gemm.ts';
import type { Params } from '../../../kernels/kernel.ts';
import { measure, type Sampled, sampleTogether } from '../../../measure/measure.ts';
import { createTimer, type Timer } from '../../../measure/timer.ts';
import { requiredBytes } from '../../../operands.ts';
import type { Plan } from '../../../plan.ts';
import { normalize, type Problem, type ProblemOptions } from '../../../problem.ts';
import { TrialOperands } from '../../../trial/operands.ts';
import type { TuningRecord } from '../../../tuning/record.ts';
import type { Job } from './job.ts';

export interface GemmInput {
  readonly options: ProblemOptions;
  /** The only kernel to consider; any, where it is empty. */
  readonly kernel: string;
  /** What is known of this device. */
  readonly tuning: TuningRecord | null;
}

export interface GemmProgress {
  readonly phase: 'compiling' | 'making operands' | 'running' | 'checking' | 'warming up' | 'measuring';
  /** Of the phase; null where nobody knows. */
  readonly share: number | null;
}

export interface GemmResult {
  readonly kernel: string;
  readonly params: Params;
  /** Milliseconds that the library expected. */
  readonly expectedMs: number;
  /** Median milliseconds of one run. */
  readonly ms: number;
  /** Interquartile range over the median. */
  readonly spread: number;
  readonly relErr: number | null;
  /** The largest |C − ref| over its allowed bound. */
  readonly worst: number | null;
  /** Milliseconds of the plan: nearly all of it compiling. */
  readonly planMs: number;
  readonly timer: Timer['kind'];
  /** `without the expression`: what a WGSL expression should give only its author knows, so the rest was verified. */
  readonly verified: 'whole' | 'without the expression';
}

/** A run that takes longer is timed in short submits, as `plan.run` makes them: a GPU that is busy for long is reset. */
const LONG_MS = 100;

/** Bytes of operands that a page has room for beside their copies on the GPU. */
const MOST_BYTES = 3 * 2 ** 30;

const TIMES = {
  gpu: { minTime: 400, minWarmUp: 1000, maxWarmUp: 3000 },
  software: { minTime: 100, minWarmUp: 0, maxWarmUp: 100 },
} as const;

export const gemm: Job<GemmInput, GemmResult, GemmProgress> = async (context, input, controls) => {
  const { device, profile } = context;
  const { options, kernel, tuning } = input;
  const { signal, progress } = controls;
  const problem = normalize(options);
  checkRoom(problem);
  const library = await createGemm(device, { profile, tuning: tuning ?? [] });
  const timer = await createTimer(device);
  let operands: TrialOperands | undefined;
  try {
    progress({ phase: 'compiling', share: null });
    const begin = performance.now();
    const plan = await library.plan(options, kernel === '' ? {} : { kernel });
    const planMs = performance.now() - begin;
    signal.throwIfAborted();

    progress({ phase: 'making operands', share: null });
    operands = await TrialOperands.create(device, { ...problem, epilogue: null });
    const { buffers } = operands;
    const runOf = async (it: Plan) => {
      const start = performance.now();
      await it.run(buffers, { signal, onProgress: share => progress({ phase: 'running', share }) });
      return performance.now() - start;
    };
    const run = () => runOf(plan);
    const { kernel: used, params, expectedMs } = plan.explain();
    const { epilogue, ...plainOptions } = options;
    const checked = epilogue ? await library.plan(plainOptions, { kernel: used! }) : plan;
    operands.poison();
    await runOf(checked);
    progress({ phase: 'checking', share: null });
    const { ok, failure, relErr, worst } = await operands.verdict(checked.arithmetic);
    if (!ok) throw wrong(used!, failure);

    // The first run of a plan may compile; how long one takes shows the next.
    await run();
    const long = (await run()) > LONG_MS;
    const times = {
      ...(profile.software ? TIMES.software : TIMES.gpu),
      signal,
      onPhase: (phase: 'warming up' | 'measuring') => progress({ phase, share: null }),
    };
    const inShortSubmits: Sampled = { take: run, repeatsFor: () => 1 };
    const { ms, spread } = long
      ? (await sampleTogether([inShortSubmits], { ...times, minWarmUp: 0, maxWarmUp: 0 }))[0]
      : await measure(timer, { encode: pass => plan.encode(pass, buffers) }, times);
    return {
      ...{ kernel: used!, params, expectedMs: expectedMs!, ms, spread, relErr, worst, planMs },
      verified: epilogue ? 'without the expression' : 'whole',
      timer: long ? 'wall-clock' : timer.kind,
    };
  } finally {
    operands?.destroy();
    timer.destroy();
    library.destroy();
  }
};

/** @throws GemmError `too-large` for operands that would take the page's memory away */
function checkRoom(problem: Problem): void {
  const bytes = requiredBytes(problem).reduce((sum, [, size]) => sum + size, 0);
  if (bytes <= MOST_BYTES) return;
  throw new GemmError(
    'too-large',
    `the operands take ${(bytes / 2 ** 30).toFixed(1)} GiB, and a page holds them twice while it verifies`,
    'Measure a smaller product; the explanation holds for this one.',
  );
}

const wrong = (kernel: string, failure: string | null) =>
  new GemmError(
    'unsupported',
    `${kernel} computed a wrong result on this GPU: ${failure}`,
    'The driver is at fault. Force another kernel, or update the driver.',
  );
