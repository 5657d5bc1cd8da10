/** A problem compiled for a device. What exceeds a limit is run in pieces; see bands.ts and pace.ts. */
import { halve, type Piece, split } from './bands.ts';
import type { Compiler, KernelOptions } from './compile.ts';
import { checkAlive, whileAlive } from './device/alive.ts';
import type { Bound } from './device/executable.ts';
import { GemmError } from './errors.ts';
import type { Explanation } from './explain.ts';
import type { Params } from './kernels/kernel.ts';
import type { Arithmetic } from './measure/tolerance.ts';
import { type BufferView, checkBuffers, checkView, type PlanBuffers, type Views } from './operands.ts';
import {
  arithmeticOf,
  bindPart,
  explanationOf,
  kernelOf,
  makeReady,
  type Part,
  type Ready,
  type Shader,
  SUMS,
  scratchSizes,
  selectPart,
  shadersOf,
} from './parts.ts';
import { operations, type Problem } from './problem.ts';

/** What a caller may decide in place of the library; all of it can be left out. */
export interface PlanOptions {
  /** Only this kernel: an error where it can't serve, never another one. */
  readonly kernel?: string;
  /** Only these parameters, with `kernel`. */
  readonly params?: Params;
  /**
   * Scratch memory of the caller's, by the names and with the bytes that `explain().scratch` gives; what is left out
   * is the Gemm's. Each in a buffer of its own, with STORAGE usage.
   */
  readonly scratch?: Readonly<Record<string, BufferView>>;
}

/** How a run is watched and stopped. */
export interface RunOptions {
  /** Stops after the submit that is under way. */
  readonly signal?: AbortSignal;
  /** Called after each submit with the share of the work that is done, up to 1. */
  readonly onProgress?: (share: number) => void;
}

/** Buffers that were bound before, with the bind groups of every part. */
interface BoundSet {
  readonly views: Views;
  readonly bound: readonly Bound[];
  /** What WebGPU found wrong with them, known a little later. */
  readonly error: Promise<GPUError | null>;
}

/** Bind groups are kept for this many sets of buffers. */
const SETS = 16;

/** A problem compiled for a device: bind buffers to it and run it as often as needed. */
export class Plan {
  /** The problem, checked, with nothing left out. */
  readonly problem: Problem;
  readonly #compiler: Compiler;
  readonly #parts: readonly Ready[];
  readonly #scratch: Views;
  readonly #release: () => void;
  #sets: readonly BoundSet[] = [];
  /** Ends when the run before does; only where K is cut, because of what `sums` holds between two submits. */
  #turn: Promise<unknown> = Promise.resolve();
  #destroyed = false;

  /** Plans are made by Gemm.plan(). */
  constructor(
    compiler: Compiler,
    problem: Problem,
    parts: readonly Ready[],
    scratch: { readonly views: Views; readonly release: () => void },
  ) {
    this.problem = problem;
    this.#compiler = compiler;
    this.#parts = parts;
    this.#scratch = scratch.views;
    this.#release = scratch.release;
  }

  /**
   * Encodes the product into the caller's encoder or compute pass. Submits nothing, waits for nothing, and allocates
   * nothing but the bind groups of buffers that it sees for the first time. However long the product takes, this makes
   * it one piece of work for the GPU; `run` cuts it.
   *
   * Where `explain().scratch` has `sums`, no run of the same plan may be pending.
   *
   * That a buffer was destroyed or is another device's shows when WebGPU validates the encoder; `run` tells it itself.
   *
   * @throws GemmError before anything is encoded: `invalid-argument` or `shape-mismatch` for the buffers, `device-lost`
   */
  encode(target: GPUCommandEncoder | GPUComputePassEncoder, buffers: PlanBuffers): void {
    const { bound } = this.#bind(buffers);
    if (bound.length === 0) return;
    if ('dispatchWorkgroups' in target) {
      for (const part of bound) part.encode(target);
      return;
    }
    const pass = target.beginComputePass({ label: 'webgemm' });
    for (const part of bound) part.encode(pass);
    pass.end();
  }

  /**
   * Encodes, submits, and waits until the GPU is done. Long products are cut into submits of about 50 ms. After a
   * rejection C is undefined.
   *
   * @throws GemmError as `encode`, and `invalid-argument` for buffers that were destroyed or are another device's;
   *   the signal's reason where it is aborted
   */
  run(buffers: PlanBuffers, options: RunOptions = {}): Promise<void> {
    const start = () => whileAlive(this.#compiler.device, () => this.#run(buffers, options));
    if (!this.#scratch[SUMS]) return start();
    const mine = this.#turn.then(start);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /** Kernel, parameters, reasons, what was passed over, bytes and expected time; prints as lines. */
  explain(): Explanation {
    return explanationOf(this.problem, this.#compiler.profile, this.#parts);
  }

  /** How the plan computes, as far as its error depends on that: as the least exact of its kernels. */
  get arithmetic(): Arithmetic {
    return arithmeticOf(this.#parts);
  }

  /** The WGSL of every distinct pass, in order, as it was compiled. */
  wgsl(): readonly Shader[] {
    return shadersOf(this.#parts);
  }

  /** Gives scratch memory back. Commands that were encoded must have been submitted. */
  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#sets = [];
    for (const { executable } of this.#parts) executable.destroy();
    this.#release();
  }

  #bind(buffers: PlanBuffers): BoundSet {
    const { device, destroyed, profile } = this.#compiler;
    checkAlive(device);
    if (this.#destroyed || destroyed) {
      throw new GemmError('invalid-argument', 'the plan or its Gemm was destroyed', 'Make a new one.');
    }
    const views = checkBuffers(this.problem, buffers, profile.limits.minStorageBufferOffsetAlignment);
    const known = this.#sets.find(set => sameViews(set.views, views));
    if (known) return known;
    device.pushErrorScope('validation');
    const bound = this.#parts.map(part => bindPart(this.#compiler, part, views, this.#scratch));
    const set = { views, bound, error: device.popErrorScope() };
    this.#sets = [...this.#sets.slice(1 - SETS), set];
    return set;
  }

  async #run(buffers: PlanBuffers, { signal, onProgress }: RunOptions): Promise<void> {
    signal?.throwIfAborted();
    const set = this.#bind(buffers);
    const error = await set.error;
    if (error) {
      this.#sets = this.#sets.filter(other => other !== set);
      throw refused(error);
    }
    const total = this.#parts.reduce((sum, { piece }) => sum + operations(piece.problem), 0);
    let done = 0;
    for (const [index, part] of this.#parts.entries()) {
      for await (const work of this.#portions(part, set.bound[index], set.views, signal)) {
        done += work;
        onProgress?.(total > 0 ? done / total : 1);
      }
    }
  }

  /** Runs a part in portions that are short enough for one submit; gives the operations of each once it is done. */
  async *#portions(part: Ready, bound: Bound, views: Views, signal?: AbortSignal): AsyncGenerator<number> {
    const { pace, profile } = this.#compiler;
    const kernel = kernelOf(part);
    const stack: Piece[] = [part.piece];
    for (let piece = stack.pop(); piece; piece = stack.pop()) {
      signal?.throwIfAborted();
      const work = operations(piece.problem);
      const align = profile.limits.minStorageBufferOffsetAlignment;
      const halves = work > pace.portion(kernel) ? halve(this.problem, piece, align) : null;
      if (halves) {
        stack.push(halves[1], halves[0]);
        continue;
      }
      const whole = piece === part.piece;
      const ms = whole ? await this.#submit(bound) : await this.#submitPiece(piece, part, views);
      pace.record(kernel, work, ms);
      yield work;
    }
  }

  /** A piece of a part, with the part's kernel where that can serve it. */
  async #submitPiece(piece: Piece, { choice }: Part, views: Views): Promise<number> {
    const compiler = this.#compiler;
    const chosen = choice?.ranked[0];
    const same = chosen && chosen.kernel.rejects(piece.problem, compiler.profile) === null;
    const options = same ? { force: chosen.kernel.name, params: chosen.params } : {};
    const part = await selectPart(compiler, piece, options);
    const enough = Object.entries(scratchSizes([part])).filter(
      ([name, size]) => name !== SUMS && !(this.#scratch[name]?.size >= size),
    );
    const { buffers, release } = await compiler.scratch.takeAll(Object.fromEntries(enough));
    const scratch = { ...this.#scratch, ...wholeViews(buffers) };
    const ready = await makeReady(compiler, part, scratch);
    try {
      return await this.#submit(bindPart(compiler, ready, views, scratch));
    } finally {
      ready.executable.destroy();
      release();
    }
  }

  /** @returns milliseconds from the submit until the GPU was done */
  async #submit(bound: Bound): Promise<number> {
    const { device } = this.#compiler;
    const begin = performance.now();
    device.pushErrorScope('validation');
    const encoder = device.createCommandEncoder({ label: 'webgemm' });
    const pass = encoder.beginComputePass({ label: 'webgemm' });
    bound.encode(pass);
    pass.end();
    device.queue.submit([encoder.finish()]);
    const [error] = await Promise.all([device.popErrorScope(), device.queue.onSubmittedWorkDone()]);
    if (error) throw refused(error);
    return performance.now() - begin;
  }
}

/** Gemm.plan() after the checks: chooses, compiles, and takes scratch memory. */
export async function makePlan(compiler: Compiler, problem: Problem, options: PlanOptions): Promise<Plan> {
  const parts: Part[] = [];
  for (const piece of split(problem, compiler.profile.limits)) {
    parts.push(await selectPart(compiler, piece, kernelOptions(options)));
  }
  const sizes = Object.entries(scratchSizes(parts));
  const align = compiler.profile.limits.minStorageBufferOffsetAlignment;
  const given = Object.fromEntries(
    sizes
      .filter(([name]) => options.scratch?.[name])
      .map(([name, size]) => [name, checkView(`scratch ${name}`, options.scratch![name], size, align)]),
  );
  // Between two submits of a run other plans may run, so what `sums` holds is shared with none of them.
  const own = compiler.scratch.ownName(SUMS);
  const missing = sizes.filter(([name]) => !given[name]);
  const { buffers, release } = await compiler.scratch.takeAll(
    Object.fromEntries(missing.map(([name, size]) => [name === SUMS ? own : name, size])),
  );
  const { [own]: sums, ...shared } = buffers;
  const views = { ...given, ...wholeViews(sums ? { ...shared, [SUMS]: sums } : shared) };
  const ready: Ready[] = [];
  try {
    for (const part of parts) ready.push(await makeReady(compiler, part, views));
  } catch (error) {
    for (const { executable } of ready) executable.destroy();
    release();
    throw error;
  }
  return new Plan(compiler, problem, ready, { views, release });
}

export const kernelOptions = ({ kernel, params }: PlanOptions): KernelOptions => ({
  ...(kernel === undefined ? {} : { force: kernel }),
  ...(params === undefined ? {} : { params }),
});

const wholeViews = (buffers: Readonly<Record<string, GPUBuffer>>): Views =>
  Object.fromEntries(
    Object.entries(buffers).map(([name, buffer]) => [name, { buffer, offset: 0, size: buffer.size }]),
  );

function refused(error: GPUError): GemmError {
  const reason = error.message.split('\n')[0];
  return new GemmError(
    'invalid-argument',
    `WebGPU refuses the buffers: ${reason}`,
    "They must be the Gemm's own device's, and not destroyed or mapped.",
  );
}

const sameViews = (x: Views, y: Views): boolean =>
  Object.entries(y).every(
    ([name, { buffer, offset, size }]) =>
      x[name].buffer === buffer && x[name].offset === offset && x[name].size === size,
  );
