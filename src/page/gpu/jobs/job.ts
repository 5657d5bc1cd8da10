import type { JobContext } from '../open.ts';

/** How a job hears that it should stop, and tells how far it is. */
export interface JobControls<Progress> {
  readonly signal: AbortSignal;
  /** Sent to the page as it is, so it must be data that can be cloned. */
  readonly progress: (value: Progress) => void;
}

/** Work for the GPU worker. Input, output and progress are data that can be cloned. */
export type Job<Input, Output, Progress = never> = (
  context: JobContext,
  input: Input,
  controls: JobControls<Progress>,
) => Promise<Output>;
