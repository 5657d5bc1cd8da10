/** Plans that are made and destroyed leave nothing behind. Apart from gemm.test.ts, because a page can't collect garbage. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createGemm } from '../../src/gemm.ts';
import { useTestGpu } from './device.ts';

const gpu = useTestGpu();

test('10,000 plans leave nothing behind', async () => {
  const { device } = gpu();
  const gemm = await createGemm(device, { profile: gpu().profile });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let buffers = 0;
  const original = device.createBuffer;
  device.createBuffer = descriptor => {
    const buffer = Reflect.apply(original, device, [descriptor]) as GPUBuffer;
    buffers++;
    const destroy = buffer.destroy;
    buffer.destroy = () => {
      buffers--;
      return Reflect.apply(destroy, buffer, []);
    };
    return buffer;
  };
  const cycle = async (count: number) => {
    for (let i = 0; i < count; i++) {
      (await gemm.plan({ m: 1 + (i % 300), n: 30, k: 30 }, { kernel: 'plain' })).destroy();
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await cycle(2000);
  const held = buffers;
  const after = await cycle(8000);
  delete (device as unknown as Record<string, unknown>).createBuffer;
  expect(buffers).toBe(held);
  expect(gemm.scratchBytes).toBe(0);
  // 250 bytes a plan: what vitest itself and the compiler of JavaScript keep meanwhile.
  expect(after - before).toBeLessThan(2e6);
});
