/** What was measured, as the record that `webgemm bench` writes, for the page's results. */
import { speedOf } from '../../../bench/job.ts';
import { type BenchRecord, benchRecord, blankResult } from '../../../bench/record.ts';
import { normalize } from '../../../problem.ts';
import type { Profile } from '../../../profile.ts';
import type { GemmResult } from '../../gpu/jobs/gemm.ts';
import { runtime } from '../../gpu/runtime.ts';
import type { Outline } from './outline.ts';

/** Null for what such a record has no words for: mixed types, and whatever is around the product. */
export function recordOf({ problem }: Outline, result: GemmResult, profile: Profile): BenchRecord | null {
  const { m, n, k, batch, a, b, accuracy } = problem;
  const [transA, transB] = [a.trans, b.trans];
  const plain = normalize({ m, n, k, batch, transA, transB, accuracy, type: a.type });
  if (JSON.stringify(plain) !== JSON.stringify(problem)) return null;
  const { kernel, params, ms, spread, relErr, worst, timer, planMs } = result;
  return benchRecord({
    machine: profile.device || profile.architecture || profile.vendor,
    profile,
    runtime: runtime(),
    versions: { webgemm: WEBGEMM_VERSION },
    results: [
      {
        ...blankResult('ours', 'webgemm'),
        ...{ dtype: a.type, accuracy, shape: [m, n, k] as const, batch, transA, transB },
        ...{ kernel, params, ms, spread, ...speedOf(problem, ms), relErr, worst, timer },
        ...{ robustness: true, coldPlanMs: planMs },
      },
    ],
  });
}
