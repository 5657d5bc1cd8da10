import { createBuffer } from './buffers.ts';

interface Slot {
  readonly buffer: GPUBuffer;
  users: number;
}

/**
 * Scratch memory that the plans of one Gemm share: commands of one queue run in order, so two plans can use the same
 * buffer. A buffer lives as long as a plan that uses it.
 */
export class ScratchPool {
  readonly #device: GPUDevice;
  readonly #slots = new Map<string, Slot[]>();
  #names = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Bytes held now. */
  get bytes(): number {
    return [...this.#slots.values()].flat().reduce((sum, { buffer }) => sum + buffer.size, 0);
  }

  /**
   * Buffers of at least these sizes, one for each purpose; what is taken for different purposes never is the same
   * buffer. The caller gives them back with `release`.
   *
   * @throws GemmError `out-of-memory` or `too-large`, with nothing taken
   */
  async takeAll(
    sizes: Readonly<Record<string, number>>,
  ): Promise<{ readonly buffers: Readonly<Record<string, GPUBuffer>>; readonly release: () => void }> {
    const taken: [string, Slot][] = [];
    const release = () => {
      for (const [name, slot] of taken.splice(0)) this.#release(name, slot);
    };
    try {
      for (const [name, size] of Object.entries(sizes)) taken.push([name, await this.#take(name, size)]);
    } catch (error) {
      release();
      throw error;
    }
    return { buffers: Object.fromEntries(taken.map(([name, { buffer }]) => [name, buffer])), release };
  }

  /** A name for a buffer that is not shared. */
  ownName(name: string): string {
    return `${name} ${this.#names++}`;
  }

  /** Frees everything, also what is in use. */
  destroy(): void {
    for (const { buffer } of [...this.#slots.values()].flat()) buffer.destroy();
    this.#slots.clear();
  }

  async #take(name: string, size: number): Promise<Slot> {
    const fitting = (this.#slots.get(name) ?? [])
      .filter(({ buffer }) => buffer.size >= size)
      .sort((x, y) => x.buffer.size - y.buffer.size)[0];
    if (fitting) {
      fitting.users++;
      return fitting;
    }
    const buffer = await createBuffer(this.#device, `webgemm scratch: ${name}`, size, GPUBufferUsage.STORAGE);
    const slot = { buffer, users: 1 };
    this.#slots.set(name, [...(this.#slots.get(name) ?? []), slot]);
    return slot;
  }

  #release(name: string, slot: Slot): void {
    if (--slot.users > 0) return;
    slot.buffer.destroy();
    const rest = (this.#slots.get(name) ?? []).filter(other => other !== slot);
    if (rest.length > 0) this.#slots.set(name, rest);
    else this.#slots.delete(name);
  }
}
