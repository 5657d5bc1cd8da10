/** What the page and its GPU worker say to each other. */
import { GemmError, type GemmErrorCode } from '../../errors.ts';
import type { JobName } from './jobs/index.ts';

export type ToWorker =
  | { readonly type: 'start'; readonly id: number; readonly job: JobName; readonly input: unknown }
  | { readonly type: 'cancel'; readonly id: number };

export type FromWorker =
  | { readonly type: 'progress'; readonly id: number; readonly value: unknown }
  | { readonly type: 'done'; readonly id: number; readonly output: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: PlainError }
  | { readonly type: 'lost'; readonly message: string };

/** What stands between the page and a GPU: there is no WebGPU where the work runs, or it shows no adapter. */
export type Missing = 'webgpu' | 'adapter';

/** There is no GPU to be had, and why. */
export class NoGpu extends GemmError {
  readonly missing: Missing;

  constructor(missing: Missing, message: string) {
    super('no-gpu', message);
    this.missing = missing;
  }
}

/** An error as data: structured clones lose the fields of an error's own class. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: GemmErrorCode | undefined;
  readonly hint: string;
  readonly missing: Missing | undefined;
}

export function toPlain(error: unknown): PlainError {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const ours = error instanceof GemmError ? error : undefined;
  const missing = error instanceof NoGpu ? error.missing : undefined;
  return { name, message, stack, code: ours?.code, hint: ours?.hint ?? '', missing };
}

export function fromPlain({ name, message, stack, code, hint, missing }: PlainError): Error {
  if (missing) return new NoGpu(missing, message);
  if (code) return new GemmError(code, message, hint);
  return Object.assign(new Error(message), { name, stack });
}
