import { GemmError } from '../errors.ts';
import type { Pass } from '../program.ts';
import { inOneLine } from './compiler-message.ts';

const caches = new WeakMap<GPUDevice, Map<string, Promise<GPUComputePipeline>>>();

/**
 * The compiled pipeline of a pass. Compilation never blocks the thread; each distinct source is compiled once for a
 * device, also when it is asked for again while the first compilation is under way.
 *
 * @throws GemmError `compilation-failed` with the compiler's message and line
 */
export function pipelineOf(device: GPUDevice, pass: Pass): Promise<GPUComputePipeline> {
  let cache = caches.get(device);
  if (!cache) {
    cache = new Map();
    caches.set(device, cache);
  }
  const key = pass.wgsl + bindingKey(pass);
  let pipeline = cache.get(key);
  if (!pipeline) {
    pipeline = compile(device, pass);
    cache.set(key, pipeline);
    pipeline.catch(() => cache.delete(key));
  }
  return pipeline;
}

const bindingKey = (pass: Pass) => pass.bindings.map(binding => binding.access[0]).join('');

async function compile(device: GPUDevice, pass: Pass): Promise<GPUComputePipeline> {
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label: pass.label, code: pass.wgsl });
  const scope = device.popErrorScope();
  const info = await module.getCompilationInfo();
  const error = await scope;
  const worst = info.messages.find(message => message.type === 'error');
  if (worst) {
    const line = pass.wgsl.split('\n')[worst.lineNum - 1]?.trim() ?? '';
    throw new GemmError(
      'compilation-failed',
      `${pass.label}, line ${worst.lineNum}: ${inOneLine(worst.message)}${line ? ` — ${line}` : ''}`,
    );
  }
  if (error) throw new GemmError('compilation-failed', `${pass.label}: ${inOneLine(error.message)}`);
  const bindGroupLayout = device.createBindGroupLayout({
    label: pass.label,
    entries: pass.bindings.map(({ access }, binding) => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: {
        type: ({ uniform: 'uniform', read: 'read-only-storage', read_write: 'storage' } as const)[access],
      },
    })),
  });
  try {
    return await device.createComputePipelineAsync({
      label: pass.label,
      layout: device.createPipelineLayout({ bindGroupLayouts: [bindGroupLayout] }),
      compute: { module, entryPoint: 'main' },
    });
  } catch (cause) {
    throw new GemmError('compilation-failed', `${pass.label}: ${inOneLine((cause as Error).message)}`, '', {
      cause,
    });
  }
}
