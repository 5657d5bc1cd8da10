/** From a problem to a program that works on this device: chosen, compiled, and checked on its first use. */
import {
  type Candidate,
  type Choice,
  type ChooseOptions,
  choose,
  type PassedOver,
  type Suggestion,
} from './choose.ts';
import { checkExpression } from './device/expression.ts';
import { pipelineOf } from './device/pipelines.ts';
import { ScratchPool } from './device/scratch.ts';
import { GemmError } from './errors.ts';
import type { Kernel } from './kernels/kernel.ts';
import { Pace } from './pace.ts';
import type { Problem } from './problem.ts';
import type { Profile } from './profile.ts';
import { selfCheck } from './selfcheck.ts';

export type KernelOptions = Pick<ChooseOptions, 'force' | 'params'>;

/** What tuning knows of a problem on the device, best first. */
export type Suggest = (problem: Problem) => readonly Suggestion[];

/** What is known of a device, and shared by all plans of a Gemm. */
export class Compiler {
  readonly device: GPUDevice;
  readonly profile: Profile;
  readonly scratch: ScratchPool;
  readonly pace: Pace;
  /** Bound in place of operands of which nothing is read: WebGPU can't bind empty buffers. */
  readonly nothing: GPUBuffer;
  destroyed = false;
  readonly #kernels: readonly Kernel[];
  readonly #suggest: Suggest;
  /** Of every program that was tried, by its source: why it failed to compile or computed wrong results here, or null. */
  readonly #verdicts = new Map<string, string | null>();

  constructor(device: GPUDevice, profile: Profile, kernels: readonly Kernel[], suggest: Suggest) {
    this.device = device;
    this.profile = profile;
    this.#kernels = kernels;
    this.#suggest = suggest;
    this.scratch = new ScratchPool(device);
    this.pace = new Pace(profile.software);
    this.nothing = device.createBuffer({ label: 'webgemm nothing', size: 16, usage: GPUBufferUsage.STORAGE });
  }

  destroy(): void {
    this.destroyed = true;
    this.scratch.destroy();
    this.nothing.destroy();
  }

  /**
   * The best candidate that works on this device; the ones that failed are among those passed over.
   *
   * @throws GemmError `unsupported` where none works, `compilation-failed` where the caller's expression is wrong
   */
  async select(problem: Problem, options: KernelOptions): Promise<Choice> {
    const suggested = this.#suggest(problem);
    const choice = choose(problem, this.profile, { ...options, kernels: this.#kernels, suggested });
    if (problem.epilogue) await checkExpression(this.device, problem);
    const passedOver: PassedOver[] = [...choice.passedOver];
    for (const [index, candidate] of choice.ranked.entries()) {
      const failure = await this.#firstUse(problem, candidate);
      if (failure === null) return { ranked: choice.ranked.slice(index), passedOver };
      passedOver.push({ kernel: candidate.kernel.name, reason: `set aside on this device: ${failure}` });
    }
    const reasons = passedOver.map(({ kernel, reason }) => `${kernel}: ${reason}`).join('; ');
    throw new GemmError(
      'unsupported',
      `no kernel works on this device. ${reasons}`,
      'The driver is at fault: try a newer one, or another adapter.',
    );
  }

  /** Compiles a candidate and checks it against float64, once for its source; why it failed, or null. */
  async #firstUse(problem: Problem, candidate: Candidate): Promise<string | null> {
    // Kernels fail as code, so the code is what is remembered.
    const source = candidate.program.passes.map(({ wgsl }) => wgsl).join();
    const known = this.#verdicts.get(source);
    if (known !== undefined) return known;
    const failure = await this.#try(problem, candidate);
    this.#verdicts.set(source, failure);
    return failure;
  }

  async #try(problem: Problem, candidate: Candidate): Promise<string | null> {
    try {
      await Promise.all(candidate.program.passes.map(pass => pipelineOf(this.device, pass)));
    } catch (error) {
      if (error instanceof GemmError && error.code === 'compilation-failed') return error.message;
      throw error;
    }
    return selfCheck(this.device, this.profile, problem, candidate);
  }
}
