/** A climb goes on while another view is shown, so what it has found is kept here. */
import { effect, signal } from '@preact/signals';
import { GemmError } from '../../../errors.ts';
import type { RungResult } from '../../../ladder/climb.ts';
import { device, runJob } from '../../state/device.ts';
import { addResult } from '../../state/results.ts';

const REAL = [256, 512, 1024, 2048, 4096, 8192];
const SOFTWARE = [64, 128, 256];

export const sizes = signal<readonly number[]>(REAL);
export const size = signal(1024);
/** What is being done; null where nothing runs. */
export const phase = signal<string | null>(null);
/** Results so far, by the rung's id. */
export const done = signal<Readonly<Record<string, RungResult>>>({});
export const problem = signal<unknown>(null);

let controller: AbortController | undefined;

effect(() => {
  if (device.value.status !== 'ready') return;
  sizes.value = device.value.info.profile.software ? SOFTWARE : REAL;
  size.value = sizes.value[0];
  runJob('probe', undefined).then(
    chosen => {
      size.value = chosen;
    },
    error => {
      problem.value = error;
    },
  );
});

export async function climb(): Promise<void> {
  controller = new AbortController();
  problem.value = null;
  done.value = {};
  phase.value = 'Starting …';
  const shape = { m: size.value, n: size.value, k: size.value };
  try {
    const record = await runJob(
      'ladder',
      { shape },
      {
        signal: controller.signal,
        onProgress: progress => {
          if ('result' in progress) done.value = { ...done.value, [progress.id]: progress.result };
          else phase.value = `${progress.id}: ${progress.phase}`;
        },
      },
    );
    addResult(record);
  } catch (error) {
    const lost = error instanceof GemmError && error.code === 'device-lost'; // the page says that on its own
    if (!controller.signal.aborted && !lost) problem.value = error;
  } finally {
    phase.value = null;
  }
}

export function cancel(): void {
  controller?.abort();
}
