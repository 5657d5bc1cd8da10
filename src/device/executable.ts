import type { Program } from '../program.ts';
import { createBuffer } from './buffers.ts';
import { pipelineOf } from './pipelines.ts';

/** Where a program's operands lie: a whole buffer or a part of one. */
export type Buffers = Readonly<Record<string, GPUBufferBinding>>;

/** A program compiled for a device, with its uniforms and scratch memory. */
export class Executable {
  readonly program: Program;
  readonly #device: GPUDevice;
  readonly #pipelines: readonly GPUComputePipeline[];
  readonly #own: Readonly<Record<string, GPUBuffer>>;
  readonly #lent: Buffers;

  private constructor(
    device: GPUDevice,
    program: Program,
    pipelines: readonly GPUComputePipeline[],
    own: Record<string, GPUBuffer>,
    lent: Buffers,
  ) {
    this.#device = device;
    this.program = program;
    this.#pipelines = pipelines;
    this.#own = own;
    this.#lent = lent;
  }

  /**
   * Compiles a program's passes and makes the small buffers that belong to it.
   *
   * @param scratch the caller's memory for the program's scratch buffers; made here where it is left out
   *
   * @throws GemmError `compilation-failed`, or `out-of-memory` for the scratch buffers
   */
  static async create(device: GPUDevice, program: Program, scratch: Buffers = {}): Promise<Executable> {
    const pipelines = await Promise.all(program.passes.map(pass => pipelineOf(device, pass)));
    const own: Record<string, GPUBuffer> = {};
    for (const [name, data] of Object.entries(program.uniforms)) {
      const size = Math.ceil(data.byteLength / 16) * 16;
      const buffer = device.createBuffer({
        label: name,
        size,
        usage: GPUBufferUsage.UNIFORM,
        mappedAtCreation: true,
      });
      new Uint32Array(buffer.getMappedRange()).set(data);
      buffer.unmap();
      own[name] = buffer;
    }
    for (const [name, size] of Object.entries(program.scratch)) {
      if (!scratch[name]) own[name] = await createBuffer(device, name, size, GPUBufferUsage.STORAGE);
    }
    return new Executable(device, program, pipelines, own, scratch);
  }

  /** Makes the bind groups for these operands, once; the result can be encoded any number of times. */
  bind(buffers: Buffers): Bound {
    const steps = this.program.passes.map((pass, index) => {
      const pipeline = this.#pipelines[index];
      const bindGroup = this.#device.createBindGroup({
        label: pass.label,
        layout: pipeline.getBindGroupLayout(0),
        entries: pass.bindings.map(({ buffer }, binding) => ({
          binding,
          resource: buffers[buffer] ?? this.#lent[buffer] ?? { buffer: this.#own[buffer] },
        })),
      });
      return { pipeline, bindGroup, workgroups: pass.workgroups };
    });
    return new Bound(steps);
  }

  destroy(): void {
    for (const buffer of Object.values(this.#own)) buffer.destroy();
  }
}

interface Step {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number, number];
}

/** An executable with its operands bound: what is left is to encode it. */
export class Bound {
  readonly #steps: readonly Step[];

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
  }

  get length(): number {
    return this.#steps.length;
  }

  /** Encodes every pass of the program in order, or only pass `only`. Allocates nothing, submits nothing. */
  encode(pass: GPUComputePassEncoder, only?: number): void {
    this.#steps.forEach(({ pipeline, bindGroup, workgroups }, index) => {
      if (only !== undefined && only !== index) return;
      // Nothing to do: packing with k = 0. Browsers would warn of it.
      if (workgroups.includes(0)) return;
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(...workgroups);
    });
  }
}
