/** The library's part in a bench: the plan that a user gets, checked at full size, ready to be timed. */
import type { Gemm } from '../gemm.ts';
import type { TrialOperands } from '../trial/operands.ts';
import type { Trial } from '../trial/trial.ts';
import { planSubject, prepareTrial } from '../trial/trial.ts';
import { blankOf, type Job, optionsOf } from './job.ts';
import type { BenchResult } from './record.ts';

/** A job of ours: what is known of it, and what to time; no trial where it failed. A wrong result is timed, too. */
export interface Ours {
  readonly result: BenchResult;
  readonly trial: Trial | null;
}

/** Whatever goes wrong is a result with its reason. */
export async function prepareOurs(
  gemm: Gemm,
  operands: TrialOperands,
  job: Job,
  name: string,
): Promise<Ours> {
  const blank: BenchResult = { ...blankOf(job, 'ours', name), robustness: true };
  const planOptions = {
    ...(job.kernel === undefined ? {} : { kernel: job.kernel }),
    ...(job.params === undefined ? {} : { params: job.params }),
  };
  const makePlan = () => gemm.plan(optionsOf(job), planOptions);
  let result = blank;
  try {
    let begin = performance.now();
    const plan = await makePlan();
    const coldPlanMs = performance.now() - begin;
    const { kernel, params } = plan.explain();
    result = { ...result, kernel, params, coldPlanMs };
    begin = performance.now();
    (await makePlan()).destroy();
    result = { ...result, warmPlanMs: performance.now() - begin };
    const trial = await prepareTrial(operands, async () => planSubject(operands, plan));
    const { failure, relErr, worst } = trial.verdict;
    result = { ...result, relErr, worst, failure };
    if (trial.ran) return { result, trial };
    trial.destroy();
  } catch (error) {
    result = { ...result, failure: (error as Error).message };
  }
  return { result, trial: null };
}
