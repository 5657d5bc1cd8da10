import { type Candidate, type Choice, choose, type PassedOver } from './choose.ts';
import { Executable } from './device/executable.ts';
import { ScratchPool } from './device/scratch.ts';
import { GemmError } from './errors.ts';
import { KERNELS } from './kernels/index.ts';
import type { Kernel, Params } from './kernels/kernel.ts';
import { Plan } from './plan.ts';
import { isEmpty, normalize, type ProblemOptions } from './problem.ts';
import { type Profile, profileOf } from './profile.ts';
import { selfCheck } from './selfcheck.ts';

export interface GemmOptions {
  /** The adapter's info, where it knows more than the device: Dawn lists matrix shapes only there. */
  readonly adapterInfo?: GPUAdapterInfo;
  /** WGSL language features; `navigator.gpu`'s where left out. */
  readonly wgslFeatures?: Iterable<string>;
  /** The kernels to choose from; all of the library's if left out. */
  readonly kernels?: readonly Kernel[];
}

export interface PlanOptions {
  /** Only this kernel: an error where it can't serve, never another one. */
  readonly kernel?: string;
  /** Only these parameters, with `kernel`. */
  readonly params?: Params;
}

/** Matrix products on one device of the caller's. The device, the buffers and the encoders stay the caller's. */
export class Gemm {
  readonly device: GPUDevice;
  readonly profile: Profile;
  readonly #kernels: readonly Kernel[];
  readonly #scratch: ScratchPool;
  /** Kernels that failed to compile or computed wrong results on this device, and what happened. */
  readonly #setAside = new Map<string, string>();

  constructor(device: GPUDevice, options: GemmOptions = {}) {
    this.device = device;
    const wgslFeatures = options.wgslFeatures ?? globalThis.navigator?.gpu?.wgslLanguageFeatures ?? [];
    this.profile = profileOf(device, wgslFeatures, options.adapterInfo);
    this.#kernels = options.kernels ?? KERNELS;
    this.#scratch = new ScratchPool(device);
  }

  /** Bytes of scratch memory that the plans of this Gemm hold together. */
  get scratchBytes(): number {
    return this.#scratch.bytes;
  }

  /**
   * Chooses a kernel for a problem and compiles it, without blocking. A kernel that fails on this device is set aside,
   * and the next best one is used.
   *
   * @throws GemmError for a problem that makes no sense, that no kernel can serve, or that the device has no room for
   */
  async plan(options: ProblemOptions, { kernel: force, params }: PlanOptions = {}): Promise<Plan> {
    const problem = normalize(options);
    const base = { device: this.device, problem };
    if (isEmpty(problem)) {
      const explanation = { problem, profile: this.profile, ranked: [], passedOver: [], scratchBytes: 0 };
      return new Plan({ ...base, executable: null, explanation, onDestroy: () => {} });
    }
    const choice: Choice = choose(problem, this.profile, {
      kernels: this.#kernels,
      ...(force === undefined ? {} : { force }),
      ...(params === undefined ? {} : { params }),
    });
    const passedOver: PassedOver[] = [...choice.passedOver];
    for (const [index, candidate] of choice.ranked.entries()) {
      const failure = this.#setAside.get(keyOf(candidate)) ?? (await this.#firstUse(options, candidate));
      if (failure !== null) {
        passedOver.push({ kernel: candidate.kernel.name, reason: `set aside on this device: ${failure}` });
        continue;
      }
      const { buffers, release } = await this.#takeScratch(candidate);
      const executable = await Executable.create(this.device, candidate.program, buffers);
      const scratchBytes = Object.values(candidate.program.scratch).reduce((sum, size) => sum + size, 0);
      const ranked = choice.ranked.slice(index);
      return new Plan({
        ...base,
        executable,
        explanation: { problem, profile: this.profile, ranked, passedOver, scratchBytes },
        onDestroy: release,
      });
    }
    const reasons = passedOver.map(({ kernel, reason }) => `${kernel}: ${reason}`).join('; ');
    throw new GemmError('unsupported', `no kernel works on this device. ${reasons}`);
  }

  /** Gives back what the Gemm holds. Plans that are still in use keep their scratch memory. */
  destroy(): void {
    this.#setAside.clear();
  }

  /** Compiles a candidate and checks it against float64, once for its source; why it failed, or null. */
  async #firstUse(options: ProblemOptions, candidate: Candidate): Promise<string | null> {
    const failure = await selfCheck(this.device, this.profile, options, candidate);
    if (failure !== null) this.#setAside.set(keyOf(candidate), failure);
    return failure;
  }

  async #takeScratch({ program }: Candidate) {
    const buffers: Record<string, GPUBuffer> = {};
    const release = () => Object.values(buffers).forEach(buffer => this.#scratch.release(buffer));
    try {
      for (const [name, size] of Object.entries(program.scratch))
        buffers[name] = await this.#scratch.take(name, size);
    } catch (error) {
      release();
      throw error;
    }
    return { buffers, release };
  }
}

/** Kernels fail as code, so the code is what is remembered. */
const keyOf = ({ program }: Candidate): string => program.passes.map(({ wgsl }) => wgsl).join();

/** A Gemm for a device. */
export async function createGemm(device: GPUDevice, options: GemmOptions = {}): Promise<Gemm> {
  return new Gemm(device, options);
}
