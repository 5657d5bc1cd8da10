/** The page's side of the GPU worker: jobs by name, with types, progress and cancelling. */
import { GemmError } from '../../errors.ts';
import type { JobName, Jobs } from './jobs/index.ts';
import type { Job } from './jobs/job.ts';
import { type FromWorker, fromPlain, type ToWorker } from './protocol.ts';

export type InputOf<Name extends JobName> =
  Jobs[Name] extends Job<infer Input, unknown, infer _> ? Input : never;
export type OutputOf<Name extends JobName> = Awaited<ReturnType<Jobs[Name]>>;
export type ProgressOf<Name extends JobName> = Parameters<Parameters<Jobs[Name]>[2]['progress']>[0];

export interface RunOptions<Name extends JobName> {
  readonly signal?: AbortSignal;
  readonly onProgress?: (value: ProgressOf<Name>) => void;
}

interface Waiting {
  readonly progress: (value: never) => void;
  readonly resolve: (output: never) => void;
  readonly reject: (error: unknown) => void;
}

/** One worker with one device. When that is lost, a new client is made. */
export class GpuClient {
  readonly #worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'gpu' });
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;

  /** @param onLost called when the device, or the worker with it, is gone */
  constructor(onLost: (why: string) => void) {
    this.#worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === 'lost') onLost(data.message);
      else this.#hear(data);
    });
    this.#worker.addEventListener('error', event => {
      event.preventDefault();
      const why = event.message || 'its script could not be loaded';
      this.destroy(`the GPU worker failed: ${why}`);
      onLost(why);
    });
  }

  /**
   * Runs a job in the worker, after those that were started before it.
   *
   * @throws what the job throws, GemmErrors with their code and hint; the signal's reason as soon as it is aborted,
   *   while the worker stops at the job's next step
   */
  run<Name extends JobName>(
    job: Name,
    input: InputOf<Name>,
    { signal, onProgress = () => {} }: RunOptions<Name> = {},
  ): Promise<OutputOf<Name>> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#next++;
    return new Promise<OutputOf<Name>>((resolve, reject) => {
      const cancel = () => {
        this.#waiting.delete(id);
        this.#post({ type: 'cancel', id });
        reject(signal?.reason);
      };
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          signal?.removeEventListener('abort', cancel);
          settle(value);
        };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#waiting.set(id, { progress: onProgress, resolve: settled(resolve), reject: settled(reject) });
      this.#post({ type: 'start', id, job, input });
    });
  }

  /** Ends the worker; jobs that are not done fail with `device-lost`. */
  destroy(why = 'the GPU was restarted'): void {
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(new GemmError('device-lost', why));
    this.#waiting.clear();
  }

  #hear(message: Exclude<FromWorker, { type: 'lost' }>): void {
    const waiting = this.#waiting.get(message.id);
    if (message.type === 'progress') {
      waiting?.progress(message.value as never);
      return;
    }
    this.#waiting.delete(message.id);
    if (message.type === 'done') waiting?.resolve(message.output as never);
    else waiting?.reject(fromPlain(message.error));
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}
