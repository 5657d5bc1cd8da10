/** Devices to explain for that the visitor may not have, as data: what WebGPU tells of such GPUs in Chrome. */
import {
  DEFAULT_LIMITS,
  type MatrixConfig,
  type Profile,
  type ProfileLimits,
  type Scalar,
} from '../../../profile.ts';
import { SUBGROUP_MATRIX_FEATURE, SUBGROUP_SIZE_FEATURE } from '../../../wgsl/experimental.ts';

export interface OtherDevice {
  readonly id: string;
  readonly name: string;
  readonly profile: Profile;
}

const GIB = 2 ** 30;

const matrices = (componentType: Scalar, resultComponentType: Scalar, ...shapes: string[]): MatrixConfig[] =>
  shapes.map(shape => {
    const [M, N, K] = shape.split('×').map(Number);
    return { componentType, resultComponentType, M, N, K };
  });

interface Traits {
  readonly vendor: string;
  readonly architecture?: string;
  readonly device?: string;
  readonly description: string;
  /** Smallest and largest subgroup. */
  readonly lanes: readonly [min: number, max: number];
  readonly features?: readonly string[];
  readonly matrixConfigs?: readonly MatrixConfig[];
  readonly limits?: Partial<ProfileLimits>;
}

function profileWith(traits: Traits): Profile {
  const { architecture = '', device = '', lanes, features = [], matrixConfigs = [], limits } = traits;
  return {
    ...{ vendor: traits.vendor, architecture, device, description: traits.description, software: false },
    features: [
      ...features,
      ...(lanes[1] > 0 ? ['subgroups'] : []),
      ...(matrixConfigs.length > 0 ? [SUBGROUP_MATRIX_FEATURE] : []),
    ],
    wgslFeatures: ['packed_4x8_integer_dot_product', 'subgroup_id'],
    ...{ subgroupMinSize: lanes[0], subgroupMaxSize: lanes[1], matrixConfigs },
    limits: { ...DEFAULT_LIMITS, ...limits },
  };
}

const DESKTOP: Partial<ProfileLimits> = {
  ...{ maxBufferSize: 4 * GIB, maxStorageBufferBindingSize: 2 * GIB - 4 },
  ...{ maxComputeWorkgroupStorageSize: 32768, maxComputeInvocationsPerWorkgroup: 1024 },
  ...{ maxComputeWorkgroupSizeX: 1024, maxComputeWorkgroupSizeY: 1024 },
};

const H200: Traits = {
  ...{ vendor: 'nvidia', device: 'nvidia-h200', description: 'NVIDIA H200', lanes: [32, 32] },
  features: ['shader-f16', SUBGROUP_SIZE_FEATURE],
  limits: { ...DESKTOP, maxComputeWorkgroupStorageSize: 49152 },
};

export const OTHER_DEVICES: readonly OtherDevice[] = [
  {
    id: 'h200',
    name: 'NVIDIA H200, matrix units on',
    profile: profileWith({
      ...H200,
      matrixConfigs: [
        ...matrices('f16', 'f16', '16×16×16', '16×8×16', '16×8×8'),
        ...matrices('f16', 'f32', '16×16×16', '16×8×16', '16×8×8'),
        ...matrices('i8', 'i32', '16×16×32', '16×8×32'),
        ...matrices('u8', 'u32', '16×16×32', '16×8×32'),
      ],
    }),
  },
  { id: 'h200-standard', name: 'NVIDIA H200, standard WebGPU', profile: profileWith(H200) },
  {
    id: 'apple',
    name: 'Apple M series, matrix units on',
    profile: profileWith({
      ...{ vendor: 'apple', architecture: 'metal-3', description: 'Apple M series', lanes: [32, 32] },
      features: ['shader-f16'],
      matrixConfigs: [...matrices('f16', 'f16', '8×8×8'), ...matrices('f32', 'f32', '8×8×8')],
      limits: DESKTOP,
    }),
  },
  {
    id: 'intel',
    name: 'Intel Xe, matrix units on',
    profile: profileWith({
      ...{ vendor: 'intel', architecture: 'xe-2lpg', description: 'Intel Xe', lanes: [8, 32] },
      features: ['shader-f16', SUBGROUP_SIZE_FEATURE],
      matrixConfigs: [...matrices('f16', 'f32', '8×16×16'), ...matrices('i8', 'i32', '8×16×32')],
      limits: DESKTOP,
    }),
  },
  {
    id: 'amd',
    name: 'AMD, subgroups of 64',
    profile: profileWith({
      ...{ vendor: 'amd', architecture: 'gcn-5', description: 'AMD, subgroups of 64', lanes: [64, 64] },
      features: ['shader-f16'],
      limits: DESKTOP,
    }),
  },
  {
    id: 'adreno',
    name: 'Qualcomm Adreno, a phone',
    profile: profileWith({
      ...{ vendor: 'qualcomm', architecture: 'adreno-7xx', description: 'Qualcomm Adreno', lanes: [64, 128] },
      features: ['shader-f16'],
      limits: { maxComputeWorkgroupStorageSize: 32768 },
    }),
  },
  {
    id: 'least',
    name: 'The least that WebGPU promises',
    profile: profileWith({
      ...{ vendor: '', description: 'The least that WebGPU promises', lanes: [0, 0] },
    }),
  },
];
