/**
 * What kernels say they take, against what they took on an H200: only the ratios count in `choose`, but where estimates
 * stay close to a record of that many kernels and shapes, so do the ratios.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { BenchRecord } from '../../src/bench/record.ts';
import { KERNELS } from '../../src/kernels/index.ts';
import { normalize } from '../../src/problem.ts';
import { NVIDIA } from './profiles.ts';

const file = new URL('../../bench/records/h200-bench.json', import.meta.url);
const record: BenchRecord = JSON.parse(readFileSync(file, 'utf8'));

const measured = record.results.flatMap(
  ({ group, timer, dtype, accuracy, shape, batch, transA, transB, kernel: name, params, ms }) => {
    const kernel = KERNELS.find(it => it.name === name);
    if (group !== 'ours' || timer !== 'gpu-timestamp' || !kernel || !params || !ms || !shape) return [];
    const [m, n, k] = shape;
    const problem = normalize({ m, n, k, batch, transA, transB, type: dtype, accuracy } as never);
    // The record is older than split-f32's slices.
    const estimate = kernel.estimate(problem, NVIDIA, { slices: 1, ...params });
    return [{ name: `${dtype} ${accuracy} ${shape.join('×')} ${name}`, ratio: estimate / ms }];
  },
);

test.each(measured)('$name is estimated within a factor of 2', ({ ratio }) => {
  expect(ratio).toBeGreaterThan(0.5);
  expect(ratio).toBeLessThan(2);
});

test('estimates are neither too high nor too low on the whole, and half of them within a sixth', () => {
  const logs = measured.map(({ ratio }) => Math.log2(ratio)).sort((x, y) => x - y);
  expect(logs.length).toBeGreaterThan(40);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  expect(2 ** Math.abs(mean)).toBeLessThan(1.2);
  const off = logs.map(Math.abs).sort((x, y) => x - y)[logs.length >> 1];
  expect(2 ** off).toBeLessThan(7 / 6);
});
