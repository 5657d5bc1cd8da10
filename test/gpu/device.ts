/** The device that a test file runs on: opened once for the file, and watched for errors that nobody caught. */
import { afterAll, afterEach, beforeEach, expect, inject } from 'vitest';
import { type OpenGpu, openGpu } from '../../src/node/gpu.ts';

export const driver = inject('driver');

/** Opens the driver's device, closes it after the last test, and fails every test that leaves an error behind. */
export function useTestGpu(): () => OpenGpu {
  const missing = inject('missing');
  let opened: Promise<OpenGpu> | undefined;
  let gpu: OpenGpu;
  let errors: string[] = [];

  beforeEach(async ({ skip }) => {
    if (missing !== null) skip(missing);
    opened ??= openGpu({ adapter: driver }).then(it => {
      it.device.onuncapturederror = ({ error }) => errors.push(error.message);
      return it;
    });
    gpu = await opened;
  });
  afterEach(async () => {
    if (!gpu) return;
    await gpu.device.queue.onSubmittedWorkDone();
    const found = errors;
    errors = [];
    expect(found, 'errors that the device reported and nobody caught').toEqual([]);
  });
  afterAll(() => gpu?.close());
  return () => gpu;
}
