/** The worker's GPU: opened once, with everything of the adapter that webgemm can use. */
import { requestDevice } from '../../device/request.ts';
import type { Gemm } from '../../gemm.ts';
import { type Profile, profileOf } from '../../profile.ts';
import { NoGpu } from './protocol.ts';

/** What a job works with. */
export interface JobContext {
  readonly adapter: GPUAdapter;
  readonly device: GPUDevice;
  readonly profile: Profile;
  /** The library on this device; loaded and made by the first job that asks for it. */
  gemm(): Promise<Gemm>;
}

/** @throws NoGpu where the browser gives this worker none */
export async function openGpu(): Promise<JobContext> {
  const gpu = navigator.gpu as GPU | undefined;
  if (!gpu) throw new NoGpu('webgpu', 'this worker has no navigator.gpu');
  const adapter = await gpu.requestAdapter(preference());
  if (!adapter) throw new NoGpu('adapter', 'the browser has WebGPU, but shows no adapter');
  const device = await requestDevice(adapter);
  const profile = profileOf(device, gpu.wgslLanguageFeatures, adapter.info);
  let gemm: Promise<Gemm> | undefined;
  return {
    adapter,
    device,
    profile,
    gemm() {
      gemm ??= import('../../gemm.ts').then(({ createGemm }) => createGemm(device, { profile }));
      return gemm;
    },
  };
}

/** A laptop's faster GPU. Chrome on Windows can't choose, and warns on the console where it is asked to. */
const preference = (): GPURequestAdapterOptions =>
  /Windows/.test(navigator.userAgent) ? {} : { powerPreference: 'high-performance' };
