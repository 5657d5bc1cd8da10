import { uploadBuffer } from '../../src/device/buffers.ts';
import { Executable } from '../../src/device/executable.ts';
import { toHalves } from '../../src/float16.ts';
import { check } from '../../src/ladder/climb.ts';
import { Operands } from '../../src/ladder/operands.ts';
import type { Rung, Shape } from '../../src/ladder/rung.ts';
import { randomMatrix } from '../../src/measure/random.ts';
import type { Verdict } from '../../src/measure/verify.ts';
import type { OpenGpu } from '../../src/node/gpu.ts';

type Values = Float32Array<ArrayBuffer>;

/** Random A and B of a shape. */
export const operandsOf = ({ m, n, k }: Shape, seed = 1) =>
  [randomMatrix(m * k, seed), randomMatrix(k * n, seed + 1)] as const;

/** Runs a rung on A and B, with NaN behind both and C poisoned and fenced, and holds the result against float64. */
export async function multiply(
  { device, profile }: Pick<OpenGpu, 'device' | 'profile'>,
  rung: Rung,
  shape: Shape,
  a: Values,
  b: Values,
): Promise<Verdict> {
  const program = rung.build(shape, profile);
  const executable = await Executable.create(device, program);
  const operands = await Operands.create(device, shape, a, b);
  const inputs = [
    await withNaNBehind(device, 'A', a, program.inputs),
    await withNaNBehind(device, 'B', b, program.inputs),
  ];
  try {
    const { c } = await operands.buffers(program.inputs);
    const bound = executable.bind({ a: { buffer: inputs[0] }, b: { buffer: inputs[1] }, c });
    return await check(device, pass => bound.encode(pass), program, operands);
  } finally {
    for (const buffer of inputs) buffer.destroy();
    operands.destroy();
    executable.destroy();
  }
}

/** More than a tile's rows of the largest matrix here. */
const BEHIND = 8192;

/**
 * An operand at the start of a buffer that is full of NaN. At the end of a buffer a guard that is missing would go
 * unseen: WebGPU reads zeros there, and they add nothing.
 */
function withNaNBehind(
  device: GPUDevice,
  label: string,
  values: Values,
  type: 'f32' | 'f16',
): Promise<GPUBuffer> {
  const image = new Float32Array(values.length + BEHIND).fill(Number.NaN);
  image.set(values);
  return uploadBuffer(device, label, type === 'f16' ? toHalves(image) : image);
}
