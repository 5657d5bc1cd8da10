import { createBuffer, type HostArray, readBuffer, uploadBuffer, writeBuffer } from '../device/buffers.ts';
import type { Buffers } from '../device/executable.ts';
import { fromHalves, toHalves } from '../float16.ts';
import { fenceFailure, poisoned } from '../measure/fence.ts';
import type { Shape } from './rung.ts';

/** One type's copy of A and B: the numbers that the kernel really multiplies, and where they lie. */
interface Inputs {
  readonly aValues: Float32Array;
  readonly bValues: Float32Array;
  readonly a: GPUBuffer;
  readonly b: GPUBuffer;
}

/**
 * A, B and C on the device, for all rungs of a climb. A and B are uploaded once for each type that a rung asks for; for
 * f16 they are rounded first, and the rounded numbers are what the result is held against.
 */
export class Operands {
  readonly shape: Shape;
  readonly #device: GPUDevice;
  readonly #a: Float32Array<ArrayBuffer>;
  readonly #b: Float32Array<ArrayBuffer>;
  readonly #inputs = new Map<'f32' | 'f16', Inputs>();
  readonly #c: GPUBuffer;

  private constructor(
    device: GPUDevice,
    shape: Shape,
    a: Float32Array<ArrayBuffer>,
    b: Float32Array<ArrayBuffer>,
    c: GPUBuffer,
  ) {
    this.#device = device;
    this.shape = shape;
    this.#a = a;
    this.#b = b;
    this.#c = c;
  }

  /** @param a m×k in row order @param b k×n in row order */
  static async create(
    device: GPUDevice,
    shape: Shape,
    a: Float32Array<ArrayBuffer>,
    b: Float32Array<ArrayBuffer>,
  ): Promise<Operands> {
    const bytes = poisoned(shape.m * shape.n, 4).byteLength;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    return new Operands(device, shape, a, b, await createBuffer(device, 'C', bytes, usage));
  }

  async inputs(type: 'f32' | 'f16'): Promise<Inputs> {
    let inputs = this.#inputs.get(type);
    if (!inputs) {
      const [aData, bData]: HostArray[] =
        type === 'f16' ? [toHalves(this.#a), toHalves(this.#b)] : [this.#a, this.#b];
      inputs = {
        aValues: aData instanceof Uint16Array ? fromHalves(aData) : this.#a,
        bValues: bData instanceof Uint16Array ? fromHalves(bData) : this.#b,
        a: await uploadBuffer(this.#device, 'A', aData),
        b: await uploadBuffer(this.#device, 'B', bData),
      };
      this.#inputs.set(type, inputs);
    }
    return inputs;
  }

  async buffers(type: 'f32' | 'f16'): Promise<Buffers> {
    const { a, b } = await this.inputs(type);
    return { a: { buffer: a }, b: { buffer: b }, c: { buffer: this.#c } };
  }

  /** Fills C with NaN and surrounds it with canaries. */
  poison(result: 'f32' | 'f16'): void {
    writeBuffer(this.#device, this.#c, poisoned(this.#cells, result === 'f16' ? 2 : 4) as HostArray);
  }

  /** Reads C back, and says what was wrong with its cells or its surroundings. */
  async result(type: 'f32' | 'f16'): Promise<{ readonly c: Float32Array; readonly failure: string | null }> {
    const cells = this.#cells;
    const image = poisoned(cells, type === 'f16' ? 2 : 4);
    const bytes = await readBuffer(this.#device, this.#c, Math.ceil(image.byteLength / 4) * 4);
    const words =
      type === 'f16' ? new Uint16Array(bytes, 0, image.length) : new Uint32Array(bytes, 0, image.length);
    const failure = fenceFailure(words, element => element < cells);
    const c =
      words instanceof Uint16Array ? fromHalves(words.subarray(0, cells)) : new Float32Array(bytes, 0, cells);
    return { c, failure };
  }

  get #cells(): number {
    return this.shape.m * this.shape.n;
  }

  destroy(): void {
    this.#c.destroy();
    for (const { a, b } of this.#inputs.values()) {
      a.destroy();
      b.destroy();
    }
  }
}
