import type { Executable } from './device/executable.ts';
import { GemmError } from './errors.ts';
import { type ExplainInput, type Explanation, explain } from './explain.ts';
import { checkBuffers, type PlanBuffers, type View } from './operands.ts';
import type { Problem } from './problem.ts';

/** What a plan is made of; gemm.ts makes it. */
export interface PlanParts {
  readonly device: GPUDevice;
  readonly problem: Problem;
  /** Null where there is nothing to compute. */
  readonly executable: Executable | null;
  readonly explanation: ExplainInput;
  readonly onDestroy: () => void;
}

/** A problem compiled for a device: bind buffers to it and run it as often as needed. */
export class Plan {
  readonly problem: Problem;
  readonly #parts: PlanParts;
  #last: {
    readonly views: Readonly<Record<string, View>>;
    readonly bound: ReturnType<Executable['bind']>;
  } | null = null;
  #destroyed = false;

  constructor(parts: PlanParts) {
    this.#parts = parts;
    this.problem = parts.problem;
  }

  /**
   * Encodes the product into the caller's encoder or compute pass. Submits nothing, waits for nothing, and allocates
   * nothing but the bind groups of buffers that it sees for the first time.
   *
   * @throws GemmError before anything is encoded; see checkBuffers
   */
  encode(target: GPUCommandEncoder | GPUComputePassEncoder, buffers: PlanBuffers): void {
    if (this.#destroyed) throw new GemmError('invalid-argument', 'the plan was destroyed', 'Make a new one.');
    const { executable, device } = this.#parts;
    const views = checkBuffers(this.problem, buffers, device.limits);
    if (!executable) return;
    if (!this.#last || !sameViews(this.#last.views, views)) {
      this.#last = { views, bound: executable.bind(views) };
    }
    if ('dispatchWorkgroups' in target) {
      this.#last.bound.encode(target);
      return;
    }
    const pass = target.beginComputePass({ label: 'webgemm' });
    this.#last.bound.encode(pass);
    pass.end();
  }

  /** Encodes, submits, and waits until the GPU is done. */
  async run(buffers: PlanBuffers): Promise<void> {
    const { device } = this.#parts;
    const encoder = device.createCommandEncoder({ label: 'webgemm' });
    this.encode(encoder, buffers);
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
  }

  /** Kernel, parameters, reasons, what was passed over, bytes and expected time; prints as lines. */
  explain(): Explanation {
    return explain(this.#parts.explanation);
  }

  /** The WGSL of every pass, in order. */
  wgsl(): readonly { readonly label: string; readonly wgsl: string }[] {
    return this.#parts.executable?.program.passes.map(({ label, wgsl }) => ({ label, wgsl })) ?? [];
  }

  /** Gives scratch memory back. Commands that were encoded must have been submitted. */
  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#last = null;
    this.#parts.executable?.destroy();
    this.#parts.onDestroy();
  }
}

function sameViews(x: Readonly<Record<string, View>>, y: Readonly<Record<string, View>>): boolean {
  return Object.keys(y).every(
    name =>
      x[name].buffer === y[name].buffer && x[name].offset === y[name].offset && x[name].size === y[name].size,
  );
}
