/**
 * The GPU worker: everything that keeps a GPU or a CPU busy runs here, one job after the other, so that the page stays
 * responsive and no job disturbs the times of another one.
 */
import { whileAlive } from '../../device/alive.ts';
import { JOBS, type JobName } from './jobs/index.ts';
import type { Job } from './jobs/job.ts';
import { type JobContext, openGpu } from './open.ts';
import { type FromWorker, type ToWorker, toPlain } from './protocol.ts';

const running = new Map<number, AbortController>();
let opened: Promise<JobContext> | undefined;
let last: Promise<void> = Promise.resolve();

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'cancel') {
    running.get(data.id)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(data.id, controller);
  last = last.then(() => perform(data.id, data.job, data.input, controller.signal));
});

async function perform(id: number, name: JobName, input: unknown, signal: AbortSignal): Promise<void> {
  try {
    signal.throwIfAborted();
    const job = (await JOBS[name]()) as Job<unknown, unknown, unknown>;
    const context = await open();
    const progress = (value: unknown) => send({ type: 'progress', id, value });
    const output = await whileAlive(context.device, () => job(context, input, { signal, progress }));
    send({ type: 'done', id, output });
  } catch (error) {
    send({ type: 'failed', id, error: toPlain(error) });
  } finally {
    running.delete(id);
  }
}

function open(): Promise<JobContext> {
  opened ??= openGpu().then(context => {
    context.device.lost.then(({ message }) => send({ type: 'lost', message }));
    return context;
  });
  return opened;
}

const send = (message: FromWorker) => postMessage(message);
