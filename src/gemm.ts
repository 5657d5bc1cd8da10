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
import { Knowledge, type TuningSource } from './tuning/knowledge.ts';
import type { TuningRecord } from './tuning/record.ts';
import type { TuningStore } from './tuning/store.ts';
import type { TuneOptions } from './tuning/tune.ts';

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
  /**
   * What tuning found on this device: a record, a store of records, or several. What `gemm.tune` finds goes to the first
   * store. In a browser it is `indexedDBStore()` if left out; an empty list knows nothing and keeps nothing.
   */
  readonly tuning?: TuningSource | readonly TuningSource[];
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
  readonly #knowledge: Knowledge;
  readonly #compiler: Compiler;

  /** Gemms are made by createGemm(). */
  constructor(device: GPUDevice, profile: Profile, kernels: readonly Kernel[], knowledge: Knowledge) {
    this.device = device;
    this.profile = profile;
    this.#kernels = kernels;
    this.#knowledge = knowledge;
    this.#compiler = new Compiler(device, profile, kernels, problem => knowledge.suggest(problem));
  }

  /** Tuning that could not be used, such as another GPU's, or could not be kept, each with the reason in a line. */
  get ignoredTuning(): readonly string[] {
    return this.#knowledge.ignored;
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
    const suggest = (piece: Problem) => this.#knowledge.suggest(piece);
    const chosen = { ...kernelOptions(planOptions), kernels: this.#kernels, suggest };
    return explanationOf(problem, this.profile, outlineParts(problem, this.profile, chosen));
  }

  /**
   * Finds the fastest kernel and parameters for problems on this device, by trying. Every candidate is verified before it
   * is timed; those that fail are passed over. Plans that are made afterwards use what was found, also for similar
   * problems. Nothing else should use the GPU meanwhile.
   *
   * @returns what was found, also where `signal` ended it; saved to `store`, or to the first store of GemmOptions.tuning
   *
   * @throws GemmError as `plan` for the problems, and `device-lost`: what was found until then is used and saved
   */
  tune(
    problems: ProblemOptions | readonly ProblemOptions[],
    { store, ...options }: TuneOptions & { readonly store?: TuningStore } = {},
  ): Promise<TuningRecord> {
    const input = {
      device: this.device,
      profile: this.profile,
      kernels: this.#kernels,
      suggest: (problem: Problem) => this.#knowledge.suggest(problem),
    };
    return whileAlive(this.device, async () => {
      this.#checkUsable();
      const normalized = [problems].flat().map(problem => normalize(problem as ProblemOptions));
      // Loaded when it is needed: a page that tunes nothing does without it.
      const { tune } = await import('./tuning/tune.ts');
      return tune(normalized, input, {
        ...options,
        onRecord: record => this.#knowledge.learn(record, store),
      });
    });
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
 * @throws GemmError `device-lost`, `invalid-file` for a tuning record that is none
 */
export const createGemm = (device: GPUDevice, options: GemmOptions = {}): Promise<Gemm> =>
  whileAlive(device, async () => {
    const profile = profileFor(device, options);
    const knowledge = await Knowledge.load(profile, options.tuning);
    return new Gemm(device, profile, options.kernels ?? KERNELS, knowledge);
  });

function profileFor(device: GPUDevice, { profile, wgslFeatures, adapterInfo, limits }: GemmOptions): Profile {
  const known = wgslFeatures ?? globalThis.navigator?.gpu?.wgslLanguageFeatures ?? [];
  const whole = profile ?? profileOf(device, known, adapterInfo);
  return { ...whole, limits: lowered(whole.limits, limits) };
}

/** The device's limits, or the lower ones that were asked for. */
function lowered(limits: ProfileLimits, asked: Partial<ProfileLimits> = {}): ProfileLimits {
  const lower = (name: keyof ProfileLimits) => {
    const wanted = asked[name] ?? limits[name];
    return name.startsWith('min') ? Math.max(limits[name], wanted) : Math.min(limits[name], wanted);
  };
  const names = Object.keys(limits) as (keyof ProfileLimits)[];
  return Object.fromEntries(names.map(name => [name, lower(name)])) as unknown as ProfileLimits;
}
