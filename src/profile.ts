/**
 * What a device offers, as plain data: limits, features, subgroup sizes, matrix shapes. Nothing here needs a GPU, so
 * a profile can be made up for a test, saved with a record, or taken from somebody else's machine.
 */
import { SUBGROUP_MATRIX_FEATURE, SUBGROUP_SIZE_FEATURE } from './wgsl/experimental.ts';

/** The scalar types a matrix can hold. */
export type Scalar = 'f32' | 'f16' | 'i32' | 'u32' | 'i8' | 'u8';

/** A matrix product that the subgroup's matrix units do in one step: (M×K)·(K×N), inputs and results of these types. */
export interface MatrixConfig {
  readonly componentType: Scalar;
  readonly resultComponentType: Scalar;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/** The limits of a device that matter here, by WebGPU's names and in its units (bytes, threads, workgroups). */
export interface ProfileLimits {
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
  readonly maxStorageBuffersPerShaderStage: number;
  readonly minStorageBufferOffsetAlignment: number;
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupSizeY: number;
  readonly maxComputeWorkgroupSizeZ: number;
  readonly maxComputeWorkgroupsPerDimension: number;
}

/** What a device offers. profileOf() reads it; it can be written to a file, or made up. */
export interface Profile {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  /** True for an adapter that computes on the CPU. */
  readonly software: boolean;
  /** WebGPU features of the device, sorted. */
  readonly features: readonly string[];
  /** WGSL language features, sorted. */
  readonly wgslFeatures: readonly string[];
  /** Smallest and largest subgroup the device may run a kernel with; 0 and 0 without the `subgroups` feature. */
  readonly subgroupMinSize: number;
  readonly subgroupMaxSize: number;
  /** Shapes and types that the matrix units multiply; empty where there are none. */
  readonly matrixConfigs: readonly MatrixConfig[];
  readonly limits: ProfileLimits;
}

/** The limits that every WebGPU device has, from the standard's table of defaults. */
export const DEFAULT_LIMITS: ProfileLimits = {
  maxBufferSize: 268435456,
  maxStorageBufferBindingSize: 134217728,
  maxStorageBuffersPerShaderStage: 8,
  minStorageBufferOffsetAlignment: 256,
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupSizeZ: 64,
  maxComputeWorkgroupsPerDimension: 65535,
};

/** What an adapter's info holds beyond the standard's fields while subgroup matrices are experimental. */
type AdapterInfo = GPUAdapterInfo & { readonly subgroupMatrixConfigs?: Iterable<MatrixConfig> };

/**
 * The profile of a device (what was asked for) or of an adapter (what could be asked for).
 *
 * @param source a GPUDevice or a GPUAdapter
 * @param wgslFeatures the WGSL language features of the `GPU` object it came from
 * @param info the adapter's info: a Dawn device's own copy of it lists no matrix shapes
 */
export function profileOf(
  source: GPUDevice | GPUAdapter,
  wgslFeatures: Iterable<string> = [],
  info: AdapterInfo = 'adapterInfo' in source ? source.adapterInfo : source.info,
): Profile {
  const features = [...source.features].sort();
  const subgroups = features.includes('subgroups');
  const limits = Object.fromEntries(
    Object.keys(DEFAULT_LIMITS).map(name => [name, source.limits[name as keyof ProfileLimits]]),
  ) as unknown as ProfileLimits;
  return {
    vendor: info.vendor,
    architecture: info.architecture,
    device: info.device,
    description: info.description,
    software: info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|\bcpu\b/i.test(adapterName(info)),
    features,
    wgslFeatures: [...wgslFeatures].sort(),
    subgroupMinSize: subgroups ? (info.subgroupMinSize ?? 0) : 0,
    subgroupMaxSize: subgroups ? (info.subgroupMaxSize ?? 0) : 0,
    matrixConfigs: features.includes(SUBGROUP_MATRIX_FEATURE)
      ? [...(info.subgroupMatrixConfigs ?? [])].map(({ componentType, resultComponentType, M, N, K }) => ({
          componentType,
          resultComponentType,
          M,
          N,
          K,
        }))
      : [],
    limits,
  };
}

/** Everything an adapter says of its name, in one line. */
function adapterName(info: GPUAdapterInfo): string {
  return [info.vendor, info.architecture, info.device, info.description].filter(Boolean).join(' ');
}

/** A profile's name for people: the device, and the driver where the adapter tells it. */
export function describeProfile(profile: Profile): string {
  return profile.device || profile.description || profile.architecture || profile.vendor || 'unknown adapter';
}

/**
 * The subgroup size that a kernel can be written for, or why there is none. Where the device offers a range, the
 * size is pinned with `@subgroup_size` if the device can do that; a kernel that hopes for 32 computes wrong results.
 */
export function subgroupSizeFor(
  profile: Profile,
): { readonly size: number; readonly pinned: boolean } | { readonly missing: string } {
  const { subgroupMinSize: min, subgroupMaxSize: max, features, wgslFeatures } = profile;
  if (!features.includes('subgroups')) return { missing: 'the device has no `subgroups` feature' };
  // Where the language features are not known, compiling tells.
  if (wgslFeatures.length > 0 && !wgslFeatures.includes('subgroup_id')) {
    return { missing: 'its WGSL has no `subgroup_id`, by which a subgroup finds its part of a tile' };
  }
  if (min === max && min > 0) return { size: min, pinned: false };
  if (max === 0) return { missing: 'the device does not tell its subgroup size' };
  if (!features.includes(SUBGROUP_SIZE_FEATURE)) {
    return {
      missing: `subgroups of ${min} to ${max} lanes, and no \`${SUBGROUP_SIZE_FEATURE}\` to fix the size`,
    };
  }
  return { size: Math.min(32, max), pinned: true };
}
