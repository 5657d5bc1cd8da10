import { type OpenGpu, type OpenOptions, openGpu } from '../gpu.ts';
import type { OutputFile } from './output.ts';

/** What ends a command from outside, and the exit code that a shell expects of it. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

interface SessionOptions {
  readonly output?: OutputFile | undefined;
  readonly onInterrupt?: () => void;
  readonly stop?: AbortController;
}

/**
 * Opens a GPU for `work` and closes it whatever happens. Ctrl-C closes it, removes the unfinished output, calls
 * `onInterrupt` (to restore the terminal) and ends the process with 130. Where there is a `stop`, the first Ctrl-C only
 * aborts it, so that the work can end by itself and keep what it has.
 */
export async function withGpu<T>(
  options: OpenOptions,
  work: (opened: OpenGpu) => Promise<T>,
  { output, onInterrupt, stop }: SessionOptions = {},
): Promise<T> {
  let opened: OpenGpu | undefined;
  const leave = () => {
    output?.discard();
    opened?.close();
  };
  const interrupt = (signal: keyof typeof SIGNALS) => {
    if (opened && stop && !stop.signal.aborted) {
      process.once(signal, interrupt);
      stop.abort();
      return;
    }
    onInterrupt?.();
    leave();
    process.exit(SIGNALS[signal]);
  };
  const signals = Object.keys(SIGNALS) as (keyof typeof SIGNALS)[];
  for (const signal of signals) process.once(signal, interrupt);
  try {
    opened = await openGpu(options);
    return await work(opened);
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
    leave();
  }
}
