/** Opens the device that a run of these tests is for: a software GPU in Node, or the one that a page or Deno has. */
import { inject } from 'vitest';
import { requestDevice } from '../../src/device/request.ts';
import type { OpenGpu } from '../../src/node/gpu.ts';
import { profileOf } from '../../src/profile.ts';

export const driver = inject('driver');

/** Whether the driver has `shader-f16`. Those that lack it are named here, so that a feature that is lost is noticed. */
export const halfFloats = driver !== 'swiftshader' && driver !== 'chromium';

export type TestGpu = Omit<OpenGpu, 'runtime'>;

export async function openTestGpu(): Promise<TestGpu> {
  const gpu = globalThis.navigator?.gpu;
  if (driver !== 'chromium' && driver !== 'deno') {
    const { openGpu } = await import('../../src/node/gpu.ts');
    return openGpu({ adapter: driver });
  }
  const adapter = await gpu.requestAdapter();
  if (!adapter) throw new Error(`${driver} gives no adapter`);
  const device = await requestDevice(adapter);
  const profile = profileOf(device, gpu.wgslLanguageFeatures, adapter.info);
  return { gpu, device, profile, close: () => device.destroy() };
}
