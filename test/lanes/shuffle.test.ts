/** Rung 8s on subgroups that are not the CPU's own size; vitest.config.ts sets the size. */
import { describe, expect, test } from 'vitest';
import { subgroupShuffle } from '../../src/ladder/8s-subgroup-shuffle.ts';
import { useTestGpu } from '../gpu/device.ts';
import { multiply, operandsOf } from '../gpu/multiply.ts';
import { SHAPES } from '../gpu/shapes.ts';

const gpu = useTestGpu();
const lanes = Number(process.env.LP_NATIVE_VECTOR_WIDTH) / 32;

describe(`rung 8s on subgroups of ${lanes}`, () => {
  test('takes the size from the device', () => {
    expect(subgroupShuffle.build({ m: 1, n: 1, k: 1 }, gpu().profile).detail).toBe(`${lanes} lanes`);
  });

  test.each([...SHAPES])('%s', async (_, shape) => {
    const verdict = await multiply(gpu(), subgroupShuffle, shape, ...operandsOf(shape));
    expect(verdict.failure).toBeNull();
  });
});
