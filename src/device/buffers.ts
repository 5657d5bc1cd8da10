import { GemmError } from '../errors.ts';

/** The numbers of a matrix on the host. Half floats are held as their bits, as every runtime can hold them. */
export type HostArray =
  | Float32Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;

/**
 * A buffer of at least `size` bytes (a whole number of words, never empty).
 *
 * @throws GemmError `too-large` over the device's limit, `out-of-memory` where the device has no room
 */
export async function createBuffer(
  device: GPUDevice,
  label: string,
  size: number,
  usage: GPUBufferUsageFlags,
): Promise<GPUBuffer> {
  const bytes = Math.max(16, Math.ceil(size / 4) * 4);
  if (bytes > device.limits.maxBufferSize) {
    throw new GemmError(
      'too-large',
      `${label} needs ${bytes} bytes and the device allows buffers of ${device.limits.maxBufferSize}`,
      'Use a smaller problem.',
    );
  }
  device.pushErrorScope('out-of-memory');
  const buffer = device.createBuffer({ label, size: bytes, usage });
  const error = await device.popErrorScope();
  if (error) {
    buffer.destroy();
    throw new GemmError(
      'out-of-memory',
      `no room on the device for ${label} (${bytes} bytes)`,
      'Use a smaller problem.',
    );
  }
  return buffer;
}

/** Bytes of a queue write at a time: some runtimes hold a copy of each until the submit. */
const UPLOAD_CHUNK = 64 * 2 ** 20;

/** A storage buffer that holds `data`. */
export async function uploadBuffer(device: GPUDevice, label: string, data: HostArray): Promise<GPUBuffer> {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
  const buffer = await createBuffer(device, label, data.byteLength, usage);
  writeBuffer(device, buffer, data);
  return buffer;
}

/** Writes `data` from byte 0 of `buffer` on; a tail that is no whole word is padded with zeros. */
export function writeBuffer(device: GPUDevice, buffer: GPUBuffer, data: HostArray): void {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const words = bytes.byteLength & ~3;
  for (let start = 0; start < words; start += UPLOAD_CHUNK) {
    device.queue.writeBuffer(buffer, start, bytes, start, Math.min(UPLOAD_CHUNK, words - start));
  }
  if (words < bytes.byteLength) {
    const tail = new Uint8Array(4);
    tail.set(bytes.subarray(words));
    device.queue.writeBuffer(buffer, words, tail);
  }
}

/** Copies bytes of a buffer back to the host. `offset` and `size` count bytes and are multiples of 4. */
export async function readBuffer(
  device: GPUDevice,
  buffer: GPUBuffer,
  size = buffer.size,
  offset = 0,
): Promise<ArrayBuffer> {
  const staging = await createBuffer(
    device,
    'read back',
    size,
    GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ,
  );
  try {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ, 0, size);
    return staging.getMappedRange(0, size).slice(0);
  } finally {
    staging.destroy();
  }
}
