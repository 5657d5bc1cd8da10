/** Climbs the ladder, as `webgemm ladder` does. */
import { climb, type Phase, type RungResult } from '../../../ladder/climb.ts';
import { type LadderRecord, ladderRecord } from '../../../ladder/record.ts';
import type { Shape } from '../../../ladder/rung.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import { runtime } from '../runtime.ts';
import type { Job } from './job.ts';

export interface LadderInput {
  readonly shape: Shape;
  /** Ids of the rungs to run; all where left out. */
  readonly ids?: readonly string[];
}

export type LadderProgress =
  | { readonly id: string; readonly phase: Phase }
  | { readonly id: string; readonly result: RungResult };

export const ladder: Job<LadderInput, LadderRecord, LadderProgress> = async (context, input, controls) => {
  const { device, profile } = context;
  const { shape, ids } = input;
  const climbed = await climb(device, {
    shape,
    profile,
    rungs: RUNGS.filter(({ id }) => ids?.includes(id) ?? true),
    minTime: profile.software ? 100 : 500,
    signal: controls.signal,
    onPhase: ({ id }, phase) => controls.progress({ id, phase }),
    onResult: result => controls.progress({ id: result.id, result }),
  });
  return ladderRecord({ version: WEBGEMM_VERSION, profile, runtime: runtime(), shape, climb: climbed });
};
