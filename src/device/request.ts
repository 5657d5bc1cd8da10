import { DEFAULT_LIMITS, type ProfileLimits } from '../profile.ts';
import { SUBGROUP_MATRIX_FEATURE, SUBGROUP_SIZE_FEATURE } from '../wgsl/experimental.ts';

/** What webgemm can make use of, where an adapter has it. */
const FEATURES = [
  'shader-f16',
  'subgroups',
  'timestamp-query',
  SUBGROUP_SIZE_FEATURE,
  SUBGROUP_MATRIX_FEATURE,
];

/** A device with everything of an adapter that webgemm can use: features, and limits as high as they go. */
export function requestDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  return adapter.requestDevice({
    requiredFeatures: FEATURES.filter(name => adapter.features.has(name)) as GPUFeatureName[],
    requiredLimits: Object.fromEntries(
      Object.keys(DEFAULT_LIMITS).map(name => [name, adapter.limits[name as keyof ProfileLimits]]),
    ),
  });
}
