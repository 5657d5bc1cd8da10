import { Compiler } from './compile.ts';
import { whileAlive } from './device/alive.ts';
import { GemmError } from './errors.ts';
import type { Explanation } from './explain.ts';
import { type Matrix, multiply, type OptionsFor, type Product } from './host.ts';
import { KERNELS } from './kernels/index.ts';
import type { Kernel } from './kernels/kernel.ts';
import { explanationOf, outlineParts } from './parts.ts';
import { kernelOptions, makePlan, type Plan, type PlanOptions } from './plan.ts';
import { normalize, type OutputType, type Problem, type ProblemOptions } from './problem.ts';
import { type Profile, type ProfileLimits, profileOf } from './profile.ts';

/** What a Gemm may be told of its device; all of it can be left out. */
export interface GemmOptions {
  /** The adapter's info, where it knows more than the device: Dawn lists matrix shapes only there. */
  readonly adapterInfo?: GPUAdapterInfo;
  /** WGSL language features; `navigator.gpu`'s where left out. */
  readonly wgslFeatures?: Iterable<string>;
  /** All that is known of the device, in place of the two above. */
  readonly profile?: Profile;
  /** The kernels to choose from; all of the library's if left out. */
  readonly kernels?: readonly Kernel[];
  /** Limits to stay under that are lower than the device's own, such as a smaller `maxStorageBufferBindingSize`. */
  readonly limits?: Partial<ProfileLimits>;
}

/** Matrix products on one device of the caller's. The device, the buffers and the encoders stay the caller's. */
export class Gemm {
  /** The caller's device. */
  readonly device: GPUDevice;
  /** What the device offers, as the choice of kernels sees it. */
  readonly profile: Profile;
  readonly #kernels: readonly Kernel[];
  readonly #compiler: Compiler;

  constructor(device: GPUDevice, options: GemmOptions = {}) {
    this.device = device;
    const wgslFeatures = options.wgslFeatures ?? globalThis.navigator?.gpu?.wgslLanguageFeatures ?? [];
    const profile = options.profile ?? profileOf(device, wgslFeatures, options.adapterInfo);
    this.profile = { ...profile, limits: lowered(profile.limits, options.limits) };
    this.#kernels = options.kernels ?? KERNELS;
    this.#compiler = new Compiler(device, this.profile, this.#kernels);
  }

  /** Bytes of scratch memory that the plans of this Gemm hold together. */
  get scratchBytes(): number {
    return this.#compiler.scratch.bytes;
  }

  /**
   * Chooses a kernel for a problem and compiles it, without blocking. A kernel that fails on this device is set aside,
   * and the next best one is used. Problems whose operands exceed a binding are cut into pieces.
   *
   * @throws GemmError for a problem that makes no sense, that no kernel can serve, or that the device has no room for;
   *   `compilation-failed` for a wrong epilogue expression
   */
  plan(options: ProblemOptions, planOptions: PlanOptions = {}): Promise<Plan> {
    return whileAlive(this.device, async () => {
      this.#checkUsable();
      return makePlan(this.#compiler, normalize(options), planOptions);
    });
  }

  /** What `plan` would choose, without compiling or trying anything. */
  explain(options: ProblemOptions, planOptions: PlanOptions = {}): Explanation {
    const problem = normalize(options);
    const chosen = { ...kernelOptions(planOptions), kernels: this.#kernels };
    return explanationOf(problem, this.profile, outlineParts(problem, this.profile, chosen));
  }

  /**
   * Multiplies typed arrays: two arrays with `{ m, n, k }` (and whatever else a problem has), or two `{ data, shape }`,
   * which broadcast as NumPy's matmul does. Matrices that exceed the device's memory, or `memory`, are streamed.
   *
   * @throws GemmError `shape-mismatch` for an array of the wrong length or shapes that do not go together, and as `plan`
   */
  matmul<A extends Matrix, C extends OutputType | undefined = undefined>(
    a: A,
    b: Matrix,
    options: OptionsFor<C> = {},
  ): Promise<Product<A, C>> {
    return whileAlive(this.device, async () => {
      this.#checkUsable();
      const plan = (problem: Problem) => makePlan(this.#compiler, problem, options);
      return (await multiply({ device: this.device, plan }, a, b, options)) as Product<A, C>;
    });
  }

  /** Gives back what the Gemm holds. Its plans can't be used any more; the device stays as it is. */
  destroy(): void {
    this.#compiler.destroy();
  }

  #checkUsable(): void {
    if (this.#compiler.destroyed) {
      throw new GemmError('invalid-argument', 'the Gemm was destroyed', 'Make a new one.');
    }
  }
}

/**
 * A Gemm for a device.
 *
 * @throws GemmError `device-lost`
 */
export const createGemm = (device: GPUDevice, options: GemmOptions = {}): Promise<Gemm> =>
  whileAlive(device, async () => new Gemm(device, options));

/** The device's limits, or the lower ones that were asked for. */
function lowered(limits: ProfileLimits, asked: Partial<ProfileLimits> = {}): ProfileLimits {
  const lower = (name: keyof ProfileLimits) => {
    const wanted = asked[name] ?? limits[name];
    return name.startsWith('min') ? Math.max(limits[name], wanted) : Math.min(limits[name], wanted);
  };
  const names = Object.keys(limits) as (keyof ProfileLimits)[];
  return Object.fromEntries(names.map(name => [name, lower(name)])) as unknown as ProfileLimits;
}
