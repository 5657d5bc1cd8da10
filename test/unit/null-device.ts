import { expect } from 'vitest';
import { create } from 'webgpu';

/** Dawn's null backend compiles for every feature and runs nothing. */
export async function openNullDevice(
  features: readonly string[],
): Promise<{ readonly gpu: GPU; readonly device: GPUDevice }> {
  const gpu = create(['backend=null', 'enable-dawn-features=allow_unsafe_apis']);
  const adapter = (await gpu.requestAdapter())!;
  return { gpu, device: await adapter.requestDevice({ requiredFeatures: features as GPUFeatureName[] }) };
}

/** Fails where a shader has an error or a warning. */
export async function expectToCompile(device: GPUDevice, code: string, label = ''): Promise<void> {
  device.pushErrorScope('validation');
  const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
  const lines = messages.map(({ type, lineNum, message }) => `${type}, line ${lineNum}: ${message}`);
  expect(lines, label).toEqual([]);
  expect(await device.popErrorScope(), label).toBeNull();
}
