/** What the device offers, and which rungs run on it: what `webgemm info` shows. */
import { programFor } from '../../../ladder/multiply.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import { createTimer, type Timer } from '../../../measure/timer.ts';
import type { Profile } from '../../../profile.ts';
import type { Job } from './job.ts';

export interface RungFitness {
  readonly rung: string;
  readonly id: string;
  /** What the device lacks for it; null where it runs. */
  readonly missing: string | null;
}

export interface DeviceInfo {
  readonly profile: Profile;
  readonly timer: Pick<Timer, 'kind' | 'resolutionNs'>;
  readonly rungs: readonly RungFitness[];
}

export const device: Job<void, DeviceInfo> = async ({ device, profile }) => {
  const timer = await createTimer(device);
  timer.destroy();
  const rungs = RUNGS.map(rung => {
    const program = programFor(rung, { m: 64, n: 64, k: 64 }, profile);
    return { rung: rung.rung, id: rung.id, missing: typeof program === 'string' ? program : null };
  });
  return { profile, timer: { kind: timer.kind, resolutionNs: timer.resolutionNs }, rungs };
};
