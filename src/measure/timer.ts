import { readBuffer } from '../device/buffers.ts';

/** Measures how long the GPU takes for what `encode` puts into a compute pass. */
export interface Timer {
  readonly kind: 'gpu-timestamp' | 'wall-clock';
  /** The step in which the clock moves, in nanoseconds; null where it is not known. */
  readonly resolutionNs: number | null;
  /** Milliseconds for one submit of what is encoded. */
  time(encode: (pass: GPUComputePassEncoder) => void): Promise<number>;
  /** Gives back what the timer holds; the device stays. */
  destroy(): void;
}

/** GPU timestamps where the device has them, else the wall clock. */
export async function createTimer(device: GPUDevice): Promise<Timer> {
  if (!device.features.has('timestamp-query')) return wallClock(device);
  const timer = timestamps(device);
  return { ...timer, resolutionNs: await timestampStep(timer.stamps) };
}

function timestamps(device: GPUDevice) {
  const querySet = device.createQuerySet({ type: 'timestamp', count: 2 });
  const resolved = device.createBuffer({
    size: 16,
    usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
  });
  const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 };

  const stamps = async (
    encode: (pass: GPUComputePassEncoder) => void,
  ): Promise<readonly [bigint, bigint]> => {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass({ timestampWrites });
    encode(pass);
    pass.end();
    encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
    device.queue.submit([encoder.finish()]);
    const [begin, end] = new BigUint64Array(await readBuffer(device, resolved));
    return [begin, end];
  };
  return {
    kind: 'gpu-timestamp' as const,
    stamps,
    async time(encode: (pass: GPUComputePassEncoder) => void) {
      const [begin, end] = await stamps(encode);
      return Number(end - begin) / 1e6;
    },
    destroy() {
      querySet.destroy();
      resolved.destroy();
    },
  };
}

/** The greatest common divisor of some timestamps: browsers round them to steps of 100 µs, Node gives nanoseconds. */
async function timestampStep(
  stamps: (encode: (pass: GPUComputePassEncoder) => void) => Promise<readonly [bigint, bigint]>,
): Promise<number> {
  let step = 0n;
  for (let i = 0; i < 8; i++) {
    for (let value of await stamps(() => {})) while (value) [step, value] = [value, step % value];
  }
  return Number(step);
}

/** Time from submit until the queue says it is done: never through mapAsync, which some browsers poll slowly. */
function wallClock(device: GPUDevice): Timer {
  return {
    kind: 'wall-clock',
    resolutionNs: null,
    async time(encode) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      encode(pass);
      pass.end();
      const commands = encoder.finish();
      await device.queue.onSubmittedWorkDone();
      const begin = performance.now();
      device.queue.submit([commands]);
      await device.queue.onSubmittedWorkDone();
      return performance.now() - begin;
    },
    destroy() {},
  };
}
