/** Devices that no machine here has, as data. */
import { DEFAULT_LIMITS, type MatrixConfig, type Profile, type Scalar } from '../../src/profile.ts';
import { SUBGROUP_MATRIX_FEATURE, SUBGROUP_SIZE_FEATURE } from '../../src/wgsl/experimental.ts';

/** Matrix shapes of some types, written `M×N×K`. */
export const matrices = (
  componentType: Scalar,
  resultComponentType: Scalar,
  ...shapes: string[]
): MatrixConfig[] =>
  shapes.map(shape => {
    const [M, N, K] = shape.split('×').map(Number);
    return { componentType, resultComponentType, M, N, K };
  });

/** A device with nothing but what the standard promises. */
export const PLAIN: Profile = {
  vendor: 'made up',
  architecture: '',
  device: '',
  description: '',
  software: false,
  features: [],
  wgslFeatures: [],
  subgroupMinSize: 0,
  subgroupMaxSize: 0,
  matrixConfigs: [],
  limits: DEFAULT_LIMITS,
};

interface Traits {
  readonly lanes: number | readonly [min: number, max: number];
  /** Whether the device can fix the size of a subgroup. */
  readonly sizeControl?: boolean;
  readonly f16?: boolean;
  readonly matrixConfigs?: readonly MatrixConfig[];
  readonly workgroupMemory?: number;
}

export function deviceWith({
  lanes,
  sizeControl = false,
  f16 = true,
  matrixConfigs = [],
  workgroupMemory = DEFAULT_LIMITS.maxComputeWorkgroupStorageSize,
}: Traits): Profile {
  const [subgroupMinSize, subgroupMaxSize] = typeof lanes === 'number' ? [lanes, lanes] : lanes;
  return {
    ...PLAIN,
    features: [
      'subgroups',
      ...(f16 ? ['shader-f16'] : []),
      ...(sizeControl ? [SUBGROUP_SIZE_FEATURE] : []),
      ...(matrixConfigs.length > 0 ? [SUBGROUP_MATRIX_FEATURE] : []),
    ],
    subgroupMinSize,
    subgroupMaxSize,
    matrixConfigs,
    limits: { ...DEFAULT_LIMITS, maxComputeWorkgroupStorageSize: workgroupMemory },
  };
}

/** Apple's GPUs. */
export const APPLE = deviceWith({
  lanes: 32,
  matrixConfigs: [...matrices('f16', 'f16', '8×8×8'), ...matrices('f32', 'f32', '8×8×8')],
  workgroupMemory: 32768,
});

const NVIDIA_MATRICES = [
  ...matrices('f16', 'f16', '16×8×8', '16×8×16', '16×16×16'),
  ...matrices('f16', 'f32', '16×8×8', '16×8×16', '16×16×16'),
  ...matrices('i8', 'i32', '16×16×32', '16×8×32'),
  ...matrices('u8', 'u32', '16×16×32', '16×8×32'),
];

/** An H200 through Vulkan. */
export const NVIDIA = deviceWith({ lanes: 32, matrixConfigs: NVIDIA_MATRICES, workgroupMemory: 49152 });

/** The same matrices where a workgroup has only what the standard promises. */
export const NVIDIA_16K = deviceWith({ lanes: 32, matrixConfigs: NVIDIA_MATRICES, workgroupMemory: 16384 });

/** A GPU that picks between subgroups of 8, 16 and 32, with matrices that are not square. */
export const INTEL = deviceWith({
  lanes: [8, 32],
  sizeControl: true,
  matrixConfigs: [...matrices('f16', 'f32', '8×16×16'), ...matrices('i8', 'i32', '8×16×32')],
  workgroupMemory: 32768,
});

/** AMD's data centre GPUs: subgroups of 64. */
export const AMD_64 = deviceWith({
  lanes: 64,
  matrixConfigs: matrices('f16', 'f32', '16×16×16'),
  workgroupMemory: 65536,
});
