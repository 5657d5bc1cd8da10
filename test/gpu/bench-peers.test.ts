/** The peers beside the library, on the one software GPU on which they all start in seconds. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { awake } from '../../bench/peers/node.ts';
import { openPeers } from '../../bench/peers/open.ts';
import type { Job } from '../../src/bench/job.ts';
import { bench } from '../../src/bench/run.ts';
import { createGemm } from '../../src/gemm.ts';
import { createTimer } from '../../src/measure/timer.ts';
import { driver, useTestGpu } from './device.ts';

const gpu = useTestGpu();
const installed = existsSync(new URL('../../bench/node_modules', import.meta.url));

const JOBS: readonly Job[] = [
  { shape: { m: 33, n: 48, k: 64 }, dtype: 'f32', accuracy: 'f32' },
  { shape: { m: 33, n: 48, k: 64, transA: true }, dtype: 'f32', accuracy: 'f32' },
  { shape: { m: 16, n: 32, k: 48, transB: true }, dtype: 'f32', accuracy: 'f32' },
  { shape: { m: 16, n: 32, k: 48, batch: 3 }, dtype: 'f32', accuracy: 'f32' },
  { shape: { m: 33, n: 48, k: 64 }, dtype: 'f16', accuracy: 'f32' },
];

describe('peers', () => {
  test('run beside the library, verified and timed as it is', async ({ skip }) => {
    if (driver !== 'lavapipe-26') skip('lavapipe 26 is enough');
    if (!installed) skip('the peers are not installed (`npm ci --prefix bench --ignore-scripts`)');
    const { device, profile } = gpu();
    const { peers, failures } = await awake(() =>
      openPeers('tensorflow,onnx-web,jax', { device, gpu: gpu().gpu, software: true }),
    );
    expect(failures).toEqual([]);
    const gemm = await createGemm(device, { profile });
    const timer = await createTimer(device);
    const times = { minTime: 5, minWarmUp: 0, maxWarmUp: 0 };
    const results = await awake(() => bench(gemm, { jobs: JOBS, peers, timer, times }));
    for (const peer of peers) peer.close();
    timer.destroy();

    const number = expect.any(Number);
    for (const { shape, dtype } of JOBS) {
      const { m, n, k, batch = 1, transA = false, transB = false } = shape;
      const here = results.filter(
        it =>
          it.shape?.join() === [m, n, k].join() &&
          it.dtype === dtype &&
          it.batch === batch &&
          it.transA === transA &&
          it.transB === transB,
      );
      const figures = { ms: number, tflops: number, relErr: number, worst: number };
      expect(here).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ ...figures, group: 'ours', timer: 'gpu-timestamp', failure: null }),
          expect.objectContaining({ ...figures, group: 'ours', timer: 'wall-clock', failure: null }),
        ]),
      );
      for (const { name } of peers) {
        const result = here.find(it => it.name === name);
        if (dtype === 'f32') expect(result).toMatchObject({ ...figures, failure: null, timer: 'wall-clock' });
        else if (name === 'tensorflow') expect(result).toMatchObject({ ms: null, failure: 'it has no f16' });
        // Sums in f16 are over the tolerance: that is said, and the time is kept.
        else expect(result).toMatchObject({ ...figures, failure: expect.stringMatching(/^wrong: C\[/) });
      }
    }
  });
});
