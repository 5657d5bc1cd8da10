/** The device that a test file runs on: opened once for the file, and watched for errors that nobody caught. */
import { afterAll, afterEach, beforeEach, expect, inject } from 'vitest';
import { openTestGpu, type TestGpu } from './open.ts';

export { driver, halfFloats } from './open.ts';

/** Opens the driver's device, closes it after the last test, and fails every test that leaves an error behind. */
export function useTestGpu(): () => TestGpu {
  const missing = inject('missing');
  let opened: Promise<TestGpu> | undefined;
  let gpu: TestGpu;
  let errors: string[] = [];

  beforeEach(async ({ skip }) => {
    if (missing !== null) skip(missing);
    opened ??= openTestGpu().then(it => {
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
