/** What this GPU can do at the most: copy bandwidth, multiply-adds, matrix units; the roofs of a roofline. */
import { CEILING_SIZES, type CeilingSizes, measureCeilings } from '../../../../bench/ceilings.ts';
import type { BenchResult } from '../../../bench/record.ts';
import { createTimer } from '../../../measure/timer.ts';
import type { Profile } from '../../../profile.ts';
import type { Job } from './job.ts';

/** Milliseconds that a run should take: long against a submit, short against what makes a page stutter. */
const TARGET_MS = 20;

/** Enough for a rough figure in a moment on any GPU. */
const ROUGH: CeilingSizes = {
  fma: { workgroups: 4096, steps: 64 },
  matrix: { workgroups: 528, steps: 64, grid: 4 },
  copy: 256,
};

const QUICK = { minTime: 20, minWarmUp: 0, maxWarmUp: 50 } as const;
const LONG = { minTime: 150, minWarmUp: 1000, maxWarmUp: 2500 } as const;
const SOFTWARE = { minTime: 60, minWarmUp: 0, maxWarmUp: 60 } as const;

export const ceilings: Job<void, readonly BenchResult[]> = async ({ device, profile }, _, { signal }) => {
  const timer = await createTimer(device);
  try {
    if (profile.software) return await measureCeilings(device, profile, timer, { ...SOFTWARE, signal });
    const rough = await measureCeilings(device, profile, timer, { ...QUICK, signal }, ROUGH);
    return await measureCeilings(device, profile, timer, { ...LONG, signal }, sizesFor(rough, profile));
  } finally {
    timer.destroy();
  }
};

/** Sizes for a GPU of which rough figures are known. */
function sizesFor(rough: readonly BenchResult[], { limits }: Profile): CeilingSizes {
  const steps = (names: RegExp) => {
    const slowest = Math.max(1e-3, ...rough.filter(({ name }) => names.test(name)).map(({ ms }) => ms ?? 0));
    const { steps: most } = CEILING_SIZES.gpu.fma;
    return Math.max(16, Math.min(most, Math.round((ROUGH.fma.steps * TARGET_MS) / slowest)));
  };
  // Over what caches hold, where the device has room for it.
  const room = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize / 4);
  const bytes = Math.min(256 * 2 ** 20, room);
  return {
    fma: { ...ROUGH.fma, steps: steps(/fma/) },
    matrix: { ...ROUGH.matrix, steps: steps(/matrix/) },
    copy: Math.floor(bytes / 16384),
  };
}
