/** The GPU as the page sees it: being opened, ready, not there, or lost; and the one way to give it work. */
import { signal } from '@preact/signals';
import { GemmError } from '../../errors.ts';
import { GpuClient, type InputOf, type OutputOf, type RunOptions } from '../gpu/client.ts';
import type { DeviceInfo } from '../gpu/jobs/device.ts';
import type { JobName } from '../gpu/jobs/index.ts';
import { NoGpu } from '../gpu/protocol.ts';
import { type Advice, advise, surroundings } from './missing.ts';

export type DeviceState =
  | { readonly status: 'opening' }
  | { readonly status: 'ready'; readonly info: DeviceInfo }
  | { readonly status: 'missing'; readonly advice: Advice }
  | { readonly status: 'lost'; readonly message: string }
  /** It is there, but could not be started. */
  | { readonly status: 'failed'; readonly message: string };

export const device = signal<DeviceState>({ status: 'opening' });

let client: GpuClient | undefined;

/** Opens the GPU in a new worker; what an earlier one was doing fails with `device-lost`. */
export async function startGpu(): Promise<void> {
  client?.destroy();
  device.value = { status: 'opening' };
  const started = new GpuClient(message => {
    if (client === started) device.value = { status: 'lost', message };
  });
  client = started;
  const state = await started.run('device', undefined).then(
    (info): DeviceState => ({ status: 'ready', info }),
    (error: Error): DeviceState =>
      error instanceof NoGpu
        ? { status: 'missing', advice: advise(error.missing, surroundings()) }
        : { status: 'failed', message: error.message },
  );
  if (client === started) device.value = state;
}

/**
 * Runs a job on the GPU, after those that were started before it.
 *
 * @throws what the job throws: GemmErrors with code and hint, `device-lost` among them; the signal's reason
 */
export function runJob<Name extends JobName>(
  job: Name,
  input: InputOf<Name>,
  options?: RunOptions<Name>,
): Promise<OutputOf<Name>> {
  if (!client) return Promise.reject(new GemmError('no-gpu', 'the GPU was not started'));
  return client.run(job, input, options);
}
