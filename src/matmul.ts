/** matmul() for those who have no device: it opens one, keeps it, and opens another one if it is lost. */
import { requestDevice } from './device/request.ts';
import { GemmError } from './errors.ts';
import { createGemm, type Gemm } from './gemm.ts';
import type { Matrix, OptionsFor, Product } from './host.ts';
import type { OutputType } from './problem.ts';

interface Opened {
  readonly gemm: Gemm;
  close(): void;
}

let current: Promise<Opened> | null = null;

/**
 * Multiplies typed arrays on the machine's GPU: `await matmul(a, b, { m, n, k })`, or with NumPy's broadcasting
 * `await matmul({ data, shape }, { data, shape })`. Float32Array gives Float32Array, half floats (Float16Array, or bits in
 * a Uint16Array) half floats, Int8Array and Uint8Array an Int32Array.
 *
 * The device is opened at the first call and kept for the next ones. In Node it takes the package `webgpu`.
 *
 * @throws GemmError `no-gpu` where there is no WebGPU, and as Gemm.matmul()
 */
export async function matmul<A extends Matrix, C extends OutputType | undefined = undefined>(
  a: A,
  b: Matrix,
  options: OptionsFor<C> = {},
): Promise<Product<A, C>> {
  const { gemm } = await defaultGpu();
  return gemm.matmul(a, b, options);
}

/** Gives back the device that matmul() keeps; the next call opens another one. */
export async function closeDefault(): Promise<void> {
  const closing = current;
  current = null;
  (await closing?.catch(() => null))?.close();
}

function defaultGpu(): Promise<Opened> {
  if (!current) {
    const opening = open();
    current = opening;
    const forget = () => {
      if (current === opening) current = null;
    };
    opening.then(({ gemm }) => gemm.device.lost.then(forget), forget);
  }
  return current;
}

async function open(): Promise<Opened> {
  const gpu = globalThis.navigator?.gpu;
  if (!gpu) return openInNode();
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter)
    throw new GemmError('no-gpu', 'WebGPU has no adapter here', 'Check the browser and its GPU settings.');
  const device = await requestDevice(adapter);
  const gemm = await createGemm(device, {
    adapterInfo: adapter.info,
    wgslFeatures: gpu.wgslLanguageFeatures,
  });
  return { gemm, close: () => device.destroy() };
}

async function openInNode(): Promise<Opened> {
  if (!globalThis.process?.versions?.node) {
    throw new GemmError(
      'no-gpu',
      'this browser or context has no WebGPU',
      'Use a browser with WebGPU, on a page that comes through https or from localhost.',
    );
  }
  // Named so that a browser's bundler does not follow them: they are for Node alone.
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const files = [`./node/gpu.${ending}`, `./node/store-file.${ending}`] as const;
  const node: Promise<[typeof import('./node/gpu.ts'), typeof import('./node/store-file.ts')]> = Promise.all([
    import(/* @vite-ignore */ /* webpackIgnore: true */ files[0]),
    import(/* @vite-ignore */ /* webpackIgnore: true */ files[1]),
  ]);
  const [{ openGpu }, { fileStore }] = await node.catch(cause => {
    throw new GemmError(
      'no-gpu',
      `webgemm's part for Node can't be loaded: ${cause.message}`,
      'Where webgemm is bundled, open a device with `webgemm/node` and give it to createGemm().',
      { cause },
    );
  });
  const { device, profile, close } = await openGpu();
  return { gemm: await createGemm(device, { profile, tuning: fileStore() }), close };
}
