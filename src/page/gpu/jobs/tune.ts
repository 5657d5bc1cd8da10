/** Finds the fastest kernel for a product on this GPU, as `webgemm tune` does. */
import { createGemm } from '../../../gemm.ts';
import type { ProblemOptions } from '../../../problem.ts';
import type { TuningRecord } from '../../../tuning/record.ts';
import type { TuneProgress, TuneResult } from '../../../tuning/tune.ts';
import type { Job } from './job.ts';

export interface TuneInput {
  readonly options: ProblemOptions;
  readonly budgetSeconds: number;
  /** What is known of this device before. */
  readonly tuning: TuningRecord | null;
}

export interface Tuned {
  /** What was found now. */
  readonly record: TuningRecord;
  readonly result: TuneResult;
}

/** What the last tuning found, also where it was cancelled and nobody waited for it any more. */
let last: Tuned | null = null;

export const tune: Job<TuneInput, Tuned, TuneProgress> = async (context, input, { signal, progress }) => {
  const { device, profile } = context;
  const { options, budgetSeconds, tuning } = input;
  last = null;
  // The page keeps what is found, so that there is one place that does.
  const library = await createGemm(device, { profile, tuning: tuning ?? [] });
  try {
    let result: TuneResult | undefined;
    const record = await library.tune(options, {
      ...{ budgetSeconds, signal, onProgress: progress },
      onResult: it => {
        result = it;
      },
    });
    last = { record, result: result! };
    return last;
  } finally {
    library.destroy();
  }
};

/** What a cancelled tuning had found when it ended; jobs run one after the other, so it has. */
export const tuned: Job<void, Tuned | null> = async () => last;
