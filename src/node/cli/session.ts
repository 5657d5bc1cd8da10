import { type OpenGpu, type OpenOptions, openGpu } from '../gpu.ts';
import type { OutputFile } from './output.ts';

/**
 * Opens a GPU for `work` and closes it whatever happens. Ctrl-C closes it, removes the unfinished output, calls
 * `onInterrupt` (to restore the terminal) and ends the process with 130.
 */
export async function withGpu<T>(
  options: OpenOptions,
  work: (opened: OpenGpu) => Promise<T>,
  { output, onInterrupt }: { output?: OutputFile | undefined; onInterrupt?: () => void } = {},
): Promise<T> {
  let opened: OpenGpu | undefined;
  const interrupt = () => {
    onInterrupt?.();
    output?.discard();
    opened?.close();
    process.exit(130);
  };
  process.once('SIGINT', interrupt);
  try {
    opened = await openGpu(options);
    return await work(opened);
  } finally {
    process.off('SIGINT', interrupt);
    output?.discard();
    opened?.close();
  }
}
