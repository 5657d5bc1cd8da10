/**
 * What a trial multiplies: random operands of a problem on the device, with a C that is poisoned and fenced before each
 * checked run and held against float64 after it. The self-check, the tuner and the bench all try kernels with these.
 */
import { whileAlive } from '../device/alive.ts';
import { createBuffer, type HostArray, readBuffer, uploadBuffer } from '../device/buffers.ts';
import { ScratchPool } from '../device/scratch.ts';
import { toHalves } from '../float16.ts';
import { type HostOperands, isCellOf } from '../measure/expected.ts';
import { type Cells, fenceFailure, poisonedWhere } from '../measure/fence.ts';
import { random } from '../measure/random.ts';
import type { Arithmetic } from '../measure/tolerance.ts';
import type { Verdict } from '../measure/verify.ts';
import { requiredBytes } from '../operands.ts';
import { BYTES, type InputType, isEmpty, type OutputType, type Problem } from '../problem.ts';
import { roundUp } from '../program.ts';
import { Reference } from './reference.ts';

/** Elements of canary behind C. */
const FENCE = 64;

/** Elements of C that are poisoned at a time. */
const CHUNK = 2 ** 22;

export interface TrialOptions {
  /** What the random numbers start from; 1 if left out. */
  readonly seed?: number;
  /** May change operands before they are uploaded. */
  readonly edit?: (host: HostOperands) => void;
}

/** Random operands of a problem on a device. They hold device memory until `destroy`. */
export class TrialOperands {
  readonly device: GPUDevice;
  readonly problem: Problem;
  /** What was uploaded. */
  readonly host: HostOperands;
  /** `a`, `b`, `c`, `bias` and `residual`, as far as the problem has them, as `plan.encode` takes them. */
  readonly buffers: Readonly<Record<string, GPUBuffer>>;
  /** Scratch memory that the trials of these operands share. */
  readonly scratch: ScratchPool;
  /** What C is held against; for results that were computed elsewhere, too. */
  readonly reference: Reference;
  readonly #elements: number;
  readonly #isCell: Cells;
  /** So many elements from the first on are cells, with nothing between them; 0 where gaps are. */
  readonly #dense: number;

  private constructor(
    device: GPUDevice,
    problem: Problem,
    host: HostOperands,
    buffers: Readonly<Record<string, GPUBuffer>>,
    elements: number,
  ) {
    this.device = device;
    this.problem = problem;
    this.host = host;
    this.buffers = buffers;
    this.scratch = new ScratchPool(device);
    this.reference = new Reference(problem, host);
    this.#elements = elements;
    const dense = isDense(problem) ? problem.c.extent : 0;
    this.#dense = dense;
    this.#isCell = dense > 0 ? element => element < dense : isCellOf(problem);
  }

  /**
   * @throws GemmError `out-of-memory` or `too-large` where the device has no room for the operands, with nothing kept;
   *   `device-lost`
   */
  static create(device: GPUDevice, problem: Problem, options: TrialOptions = {}): Promise<TrialOperands> {
    return whileAlive(device, async () => {
      const host = randomOperands(problem, options.seed ?? 1);
      options.edit?.(host);
      // Even, so that half floats fill whole words.
      const elements = roundUp(problem.c.extent + FENCE, 2);
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
      const buffers: Record<string, GPUBuffer> = {};
      try {
        for (const [name, bytes] of requiredBytes(problem)) {
          if (name === 'c') {
            buffers.c = await createBuffer(device, 'trial c', elements * BYTES[problem.c.type], usage);
          } else if (bytes > 0 || name === 'a' || name === 'b') {
            buffers[name] = await uploadBuffer(device, `trial ${name}`, host[name]!);
          }
        }
      } catch (error) {
        for (const buffer of Object.values(buffers)) buffer.destroy();
        throw error;
      }
      return new TrialOperands(device, problem, host, buffers, elements);
    });
  }

  /** Fills C's cells with NaN, or with what C holds before where the problem reads it, and all around with canaries. */
  poison(): void {
    const bytes = BYTES[this.problem.c.type] as 2 | 4;
    const before = this.host.c && wordsOf(this.host.c);
    const write = (start: number, image: Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>) =>
      this.device.queue.writeBuffer(this.buffers.c, start * bytes, image);
    let start = 0;
    if (!before && this.#dense >= CHUNK) {
      const image = poisonedWhere(CHUNK, bytes, () => true);
      for (; start + CHUNK <= this.#dense; start += CHUNK) write(start, image);
    }
    for (; start < this.#elements; start += CHUNK) {
      const image = poisonedWhere(Math.min(CHUNK, this.#elements - start), bytes, i =>
        this.#isCell(start + i),
      );
      if (before) {
        for (let i = 0; i < image.length; i++) if (this.#isCell(start + i)) image[i] = before[start + i];
      }
      write(start, image);
    }
  }

  /** Reads C back and holds it, and what lies around it, against what is due. */
  async verdict(arithmetic: Arithmetic): Promise<Verdict> {
    const { type } = this.problem.c;
    const bytes = await readBuffer(this.device, this.buffers.c);
    const words =
      type === 'f16' ? new Uint16Array(bytes, 0, this.#elements) : new Uint32Array(bytes, 0, this.#elements);
    const failure = fenceFailure(words, this.#isCell, this.#dense);
    if (failure !== null) return { ok: false, relErr: null, worst: null, failure };
    const result = type === 'f32' ? new Float32Array(bytes) : type === 'i32' ? new Int32Array(bytes) : words;
    return this.reference.verdict(result as HostArray, arithmetic);
  }

  destroy(): void {
    for (const buffer of Object.values(this.buffers)) buffer.destroy();
    this.scratch.destroy();
  }
}

/** Whether C's cells lie in one piece from its buffer's start. */
const isDense = ({ n, m, batch, c }: Problem) =>
  c.offset === 0 && (c.ld === n || m === 1) && (batch === 1 || c.stride === m * c.ld);

function randomOperands(problem: Problem, seed: number): HostOperands {
  const next = random(seed);
  const { m, n, a, b, c, beta, bias, residual } = problem;
  return {
    a: randomArray(a.type, a.extent, next),
    b: randomArray(b.type, b.extent, next),
    ...(beta === 0 ? {} : { c: randomArray(c.type, c.extent, next) }),
    ...(bias === 'none' || isEmpty(problem)
      ? {}
      : { bias: randomArray(c.type, bias === 'row' ? n : m, next) }),
    ...(residual ? { residual: randomArray(c.type, c.extent, next) } : {}),
  };
}

/** Random elements of a type: floats over [-1, 1), integers of 8 bits over their range, i32 small. */
export function randomArray(type: InputType | OutputType, length: number, next: () => number): HostArray {
  const array = new ARRAYS[type](length);
  const [low, high] = RANGES[type];
  const range = high - low;
  if (type === 'f16') {
    // Rounding each number would take most of the time of a large matrix.
    evenHalves ??= toHalves(
      Float32Array.from({ length: 65536 }, (_, i) => low + ((i + 0.5) / 65536) * range),
    );
    const halves = evenHalves;
    for (let i = 0; i < length; i++) array[i] = halves[Math.floor(next() * 65536)];
  } else if (type === 'f32') for (let i = 0; i < length; i++) array[i] = low + next() * range;
  else for (let i = 0; i < length; i++) array[i] = Math.floor(low + next() * range);
  return array;
}

/** Numbers spread evenly over the range of f16, as half floats. */
let evenHalves: Uint16Array | undefined;

const ARRAYS = {
  f32: Float32Array,
  f16: Uint16Array,
  i8: Int8Array,
  u8: Uint8Array,
  i32: Int32Array,
} as const;

const RANGES = { f32: [-1, 1], f16: [-1, 1], i8: [-128, 128], u8: [0, 256], i32: [-1000, 1000] } as const;

const wordsOf = (array: HostArray) =>
  array instanceof Uint16Array
    ? array
    : new Uint32Array(array.buffer, array.byteOffset, array.byteLength / 4);
