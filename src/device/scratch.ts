import { createBuffer } from './buffers.ts';

interface Slot {
  readonly buffer: GPUBuffer;
  readonly size: number;
  users: number;
}

/**
 * Scratch memory that the plans of one Gemm share: commands of one queue run in order, so two plans can use the same
 * buffer. A buffer lives as long as a plan that uses it.
 */
export class ScratchPool {
  readonly #device: GPUDevice;
  readonly #slots = new Map<string, Slot[]>();

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Bytes held now. */
  get bytes(): number {
    return [...this.#slots.values()].flat().reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * A buffer of at least `size` bytes for the purpose `name`; what is taken for different purposes never is the same
   * buffer. The caller gives it back with `release`.
   *
   * @throws GemmError `out-of-memory` or `too-large`
   */
  async take(name: string, size: number): Promise<GPUBuffer> {
    const slots = this.#slots.get(name) ?? [];
    this.#slots.set(name, slots);
    const fitting = slots.filter(slot => slot.size >= size).sort((x, y) => x.size - y.size)[0];
    if (fitting) {
      fitting.users++;
      return fitting.buffer;
    }
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = await createBuffer(this.#device, `webgemm scratch: ${name}`, size, usage);
    slots.push({ buffer, size: buffer.size, users: 1 });
    return buffer;
  }

  release(buffer: GPUBuffer): void {
    for (const [name, slots] of this.#slots) {
      const slot = slots.find(candidate => candidate.buffer === buffer);
      if (!slot || --slot.users > 0) continue;
      buffer.destroy();
      this.#slots.set(
        name,
        slots.filter(candidate => candidate !== slot),
      );
    }
  }
}
