/**
 * Which parameters to try first on GPUs that nobody has tuned for: what others found good on them, each with its source.
 * They order a kernel's own candidates and say nothing against another kernel. Pure.
 */
import type { Suggestion } from '../choose.ts';
import type { Params } from '../kernels/kernel.ts';
import type { Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';

interface StartingPoint {
  /** The adapter's vendor, as WebGPU tells it. */
  readonly vendor: string;
  /** Found in the adapter's architecture; any, if left out. */
  readonly architecture?: RegExp;
  readonly kernel: string;
  /** Only what matters of the parameters: the kernel's first candidate that has it is tried first. */
  readonly prefer: Params;
  /** Whose choice it is, and where it is written. */
  readonly source: string;
}

/** IREE's SPIR-V code generator has a tile for each vendor; in all of them a thread makes these cells of f32. */
const iree = (file: string) =>
  `IREE, https://github.com/iree-org/iree/blob/main/compiler/src/iree/compiler/Codegen/SPIRV/${file}`;

/** ONNX Runtime's WebGPU kernels, tuned by Intel's engineers. */
const onnxRuntime = (pull: number) => `ONNX Runtime, https://github.com/microsoft/onnxruntime/pull/${pull}`;

const STARTING_POINTS: readonly StartingPoint[] = [
  {
    // 4×4 cells a thread, 256 threads.
    ...{ vendor: 'apple', kernel: 'register-tile', prefer: { bm: 64, bn: 64, tm: 4, tn: 4 } },
    source: iree('AppleConfig.cpp'),
  },
  {
    // Tiles of 64×64 in steps of 16, 2×2 subgroups.
    ...{ vendor: 'apple', kernel: 'subgroup-matrix', prefer: { bm: 64, bn: 64, sm: 32, sn: 32 } },
    source: 'MLX, https://github.com/ml-explore/mlx/blob/main/mlx/backend/metal/matmul.cpp',
  },
  {
    // 8×4 cells a thread.
    ...{ vendor: 'amd', kernel: 'register-tile', prefer: { tm: 8, tn: 4 } },
    source: iree('AMDConfig.cpp'),
  },
  {
    // 4 rows a thread where there are many of them, on GPUs that are part of the processor.
    ...{
      vendor: 'intel',
      architecture: /xe.*lpg|gen/,
      kernel: 'register-tile',
      prefer: { bm: 64, bn: 64, tm: 4 },
    },
    source: onnxRuntime(28760),
  },
  {
    // Tiles of 64×64.
    ...{ vendor: 'intel', kernel: 'register-tile', prefer: { bm: 64, bn: 64 } },
    source: onnxRuntime(25854),
  },
  {
    // 16×4 cells a thread, 128 threads; 8×4 is the nearest that there is.
    ...{ vendor: 'qualcomm', kernel: 'register-tile', prefer: { tm: 8, tn: 4 } },
    source: iree('AdrenoConfig.cpp'),
  },
  {
    // 6×4 cells a thread and 16 threads: small tiles.
    ...{ vendor: 'arm', kernel: 'register-tile', prefer: { bm: 32, bn: 32, tm: 4, tn: 4 } },
    source: iree('MaliConfig.cpp'),
  },
];

/** The least work, in multiply-adds, for which a kernel's usual tiles are not too large for the problem anyway. */
const LARGE = 2 ** 24;

/** What to try first on a device. Small problems need the tile that fits them, and no advice. */
export function startingPoints({ m, n, k, batch }: Problem, profile: Profile): readonly Suggestion[] {
  if (m * n * k * batch < LARGE) return [];
  return STARTING_POINTS.filter(
    ({ vendor, architecture }) =>
      vendor === profile.vendor && (architecture?.test(profile.architecture) ?? true),
  ).map(({ kernel, prefer, source }) => ({
    ...{ kernel, params: prefer, source: 'suggested', ms: null },
    note: `a starting point for ${profile.vendor}: ${source}`,
  }));
}
