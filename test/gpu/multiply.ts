import { Executable } from '../../src/device/executable.ts';
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

/** Runs a rung on A and B, with C poisoned and fenced, and holds the result against float64. */
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
  try {
    const bound = executable.bind(await operands.buffers(program.inputs));
    return await check(device, pass => bound.encode(pass), program, operands);
  } finally {
    operands.destroy();
    executable.destroy();
  }
}
