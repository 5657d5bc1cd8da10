/** The device that a picture is drawn for. */
import { RUNGS } from '../../../ladder/rungs.ts';
import { DEFAULT_LIMITS, type Profile } from '../../../profile.ts';
import { SUBGROUP_MATRIX_FEATURE } from '../../../wgsl/experimental.ts';
import { hasMapping } from './mappings.ts';

/** Subgroups of 32 and matrices of 8×8×8, as on Apple's GPUs: the smallest that there are, so the easiest to see. */
export const EXAMPLE: Profile = {
  ...{ vendor: '', architecture: '', device: '', description: '', software: false },
  features: ['subgroups', 'shader-f16', SUBGROUP_MATRIX_FEATURE],
  wgslFeatures: [],
  subgroupMinSize: 32,
  subgroupMaxSize: 32,
  matrixConfigs: (['f32', 'f16'] as const).map(type => ({
    ...{ componentType: type, resultComponentType: 'f32' as const },
    ...{ M: 8, N: 8, K: 8 },
  })),
  limits: { ...DEFAULT_LIMITS, maxComputeWorkgroupStorageSize: 32768 },
};

export interface Example {
  readonly profile: Profile;
  /** Why it is not the reader's own device, or null. */
  readonly because: string | null;
}

/** The reader's device where it runs the rung, else an example; null for a rung that has no picture. */
export function exampleProfile(rung: string, profile: Profile | null): Example | null {
  const known = RUNGS.find(candidate => candidate.rung === rung);
  if (!known || !hasMapping(rung)) return null;
  const because = profile ? known.missing(profile) : 'no device is open';
  return profile && because === null ? { profile, because } : { profile: EXAMPLE, because };
}
