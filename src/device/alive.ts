import { GemmError } from '../errors.ts';

interface Watch {
  /** Why the device is gone, once it is. */
  lost: GPUDeviceLostInfo | null;
  readonly waiting: Set<(error: GemmError) => void>;
}

const watches = new WeakMap<GPUDevice, Watch>();

/** One listener for a device, however many calls wait: listeners of a promise that never resolves are never freed. */
function watchOf(device: GPUDevice): Watch {
  let watch = watches.get(device);
  if (!watch) {
    const made: Watch = { lost: null, waiting: new Set() };
    device.lost.then(info => {
      made.lost = info;
      for (const reject of made.waiting) reject(lostError(info));
      made.waiting.clear();
    });
    watches.set(device, made);
    watch = made;
  }
  return watch;
}

const lostError = ({ reason, message }: GPUDeviceLostInfo) =>
  new GemmError(
    'device-lost',
    `the device is lost (${reason || 'unknown reason'}): ${message || 'no more is known'}`,
    'Request a new device, and make a new Gemm and new buffers on it.',
  );

/** @throws GemmError `device-lost` where the loss is known already */
export function checkAlive(device: GPUDevice): void {
  const { lost } = watchOf(device);
  if (lost) throw lostError(lost);
}

/**
 * The result of `work`, or a rejection as soon as the device is lost: WebGPU leaves some promises of a lost device
 * open, and resolves others as if nothing had happened.
 *
 * @throws GemmError `device-lost`, also where the device was destroyed just before the call
 */
export async function whileAlive<T>(device: GPUDevice, work: () => Promise<T>): Promise<T> {
  const { waiting } = watchOf(device);
  await undefined; // `device.lost` of a device that was destroyed a moment ago resolves first
  checkAlive(device);
  let abandon: (error: GemmError) => void = () => {};
  const loss = new Promise<never>((_, reject) => {
    abandon = reject;
  });
  waiting.add(abandon);
  // A pending GPU promise does not keep Node alive, a timer does.
  const awake = setInterval(() => {}, 2 ** 30);
  try {
    return await Promise.race([work(), loss]);
  } catch (error) {
    await new Promise(resolve => setTimeout(resolve)); // Deno tells a loss a task later than what fails because of it
    checkAlive(device); // what failed, failed for that
    throw error;
  } finally {
    clearInterval(awake);
    waiting.delete(abandon);
  }
}
