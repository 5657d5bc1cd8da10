/** Opens a GPU in Node through Dawn's binding, or a software GPU where there is none. */
import { createRequire } from 'node:module';
import { requestDevice } from '../device/request.ts';
import { GemmError } from '../errors.ts';
import { type Profile, profileOf } from '../profile.ts';
import { type DawnFolder, dawnVersion, hardwareGpu, SOFTWARE_GPUS, softwareGpu } from './software.ts';

const require = createRequire(import.meta.url);

/** Which GPU to open; the machine's own, if left out. */
export interface OpenOptions {
  /** Take a software GPU, also where there is a real one. */
  readonly software?: boolean;
  /** A software GPU's name, or a part of the name of the adapter to take. */
  readonly adapter?: string;
}

/** What ran a measurement, beside the adapter. */
export interface Runtime {
  readonly name: string;
  readonly version: string;
  readonly dawn: string | null;
  readonly platform: string;
}

/** In a line, as a tuning record names it. */
export const describeRuntime = ({ version, dawn, platform }: Runtime): string =>
  `Node ${version}, Dawn ${dawn}, ${platform}`;

/** A device that was opened, and what is known of it. */
export interface OpenGpu {
  readonly gpu: GPU;
  readonly device: GPUDevice;
  readonly profile: Profile;
  readonly runtime: Runtime;
  /** Gives the device back. An idle Dawn device can keep a core busy. */
  close(): void;
}

/**
 * unsafe APIs: subgroup matrices and other features that browsers keep behind a flag. f16 on NVIDIA: Dawn hides it on
 * drivers older than 615.71. Quantised timestamps would be useless for short kernels.
 */
const DAWN_OPTIONS = [
  'enable-dawn-features=allow_unsafe_apis,vulkan_enable_f16_on_nvidia',
  'disable-dawn-features=timestamp_quantization',
];

/**
 * Opens the machine's GPU, or SwiftShader where there is none.
 *
 * @throws GemmError `no-gpu` where neither can be had or no adapter has that name
 */
export async function openGpu({ software = false, adapter: wanted }: OpenOptions = {}): Promise<OpenGpu> {
  const named = SOFTWARE_GPUS.find(name => name === wanted);
  const reasons: string[] = [];
  if (!software && !named) {
    const opened = await open(hardwareGpu(), wanted);
    if (!('missing' in opened)) return opened;
    reasons.push(opened.missing);
    if (wanted !== undefined) {
      throw new GemmError(
        'no-gpu',
        `there is no adapter "${wanted}": ${opened.missing}`,
        `\`webgemm info\` shows what is there; the software GPUs are ${SOFTWARE_GPUS.join(', ')}.`,
      );
    }
  }
  const opened = await open(await softwareGpu(named ?? 'swiftshader'));
  if (!('missing' in opened)) return opened;
  reasons.push(opened.missing);
  throw new GemmError(
    'no-gpu',
    reasons.join('; '),
    named && named !== 'swiftshader'
      ? 'In a checkout of webgemm, `scripts/software-gpus.sh` brings it.'
      : '`npm install webgpu @sparticuz/chromium` brings a WebGPU for Node and a software GPU.',
  );
}

async function open(
  folder: DawnFolder | { readonly missing: string },
  wanted?: string,
): Promise<OpenGpu | { readonly missing: string }> {
  if ('missing' in folder) return folder;
  const gpu = loadDawn(folder, wanted);
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter)
    return { missing: wanted ? 'no adapter has that in its name' : 'the machine shows no GPU to WebGPU' };
  const device = await requestDevice(adapter);
  const profile = profileOf(device, gpu.wgslLanguageFeatures, adapter.info);
  return {
    gpu,
    device,
    profile,
    runtime: {
      name: 'node',
      version: process.versions.node,
      dawn: dawnVersion(),
      platform: `${process.platform} ${process.arch}`,
    },
    close: () => device.destroy(),
  };
}

/** `create()`'s objects by binding. They must stay reachable as long as one of their devices lives, or Node crashes. */
const alive = new Map<string, GPU>();

function loadDawn({ binding, env }: DawnFolder, wanted?: string): GPU {
  const options = wanted ? [...DAWN_OPTIONS, `adapter=${wanted}`] : DAWN_OPTIONS;
  const key = [binding, ...options].join('\n');
  let gpu = alive.get(key);
  if (!gpu) {
    Object.assign(process.env, env);
    const dawn = require(binding) as { create(options: string[]): GPU; globals: object };
    for (const [name, value] of Object.entries(dawn.globals)) {
      if (!(name in globalThis))
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
    gpu = dawn.create(options);
    alive.set(key, gpu);
  }
  return gpu;
}
