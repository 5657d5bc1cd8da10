/** Multiplies two given matrices with one rung: what the command `matmul` does. */
import { Executable } from '../device/executable.ts';
import { GemmError } from '../errors.ts';
import { createTimer } from '../measure/timer.ts';
import type { Profile } from '../profile.ts';
import { brokenLimit } from '../program.ts';
import { checkShape } from './climb.ts';
import { Operands } from './operands.ts';
import type { Rung, RungProgram, Shape } from './rung.ts';
import { RUNGS } from './rungs.ts';

export interface Factors {
  readonly shape: Shape;
  /** m×k in row order. */
  readonly a: Float32Array<ArrayBuffer>;
  /** k×n in row order. */
  readonly b: Float32Array<ArrayBuffer>;
  /** What A and B are: `f16` says that every number is a half float, so that rounding them to one changes nothing. */
  readonly type: 'f32' | 'f16';
}

export interface Multiplied {
  /** m×n in row order. */
  readonly c: Float32Array;
  readonly program: RungProgram;
  /** Milliseconds. */
  readonly timings: {
    readonly upload: number;
    readonly compile: number;
    /** Every pass of the rung, those that prepare operands too, run once and cold. */
    readonly multiply: number;
    readonly download: number;
  };
  /** What `multiply` was measured with. */
  readonly timer: 'gpu-timestamp' | 'wall-clock';
}

/**
 * C = A·B with one rung. Nothing is narrowed: a rung that takes halves multiplies only halves.
 *
 * @throws GemmError `unsupported` where the device can't run the rung or it would narrow A and B; `invalid-size`,
 *   `too-large`, `out-of-memory`
 */
export async function multiply(
  device: GPUDevice,
  profile: Profile,
  rung: Rung,
  { shape, a, b, type }: Factors,
): Promise<Multiplied> {
  checkShape(shape, profile);
  const program = programFor(rung, shape, profile);
  if (typeof program === 'string') {
    const hint = 'Without a rung named, the highest one that runs here is taken.';
    throw new GemmError('unsupported', `rung ${rung.rung} (${rung.id}) can't run: ${program}`, hint);
  }
  if (program.inputs === 'f16' && type !== 'f16') {
    throw new GemmError(
      'unsupported',
      `rung ${rung.rung} (${rung.id}) takes f16 matrices on this device, and these are f32`,
      'Narrow both to float16 yourself if that is accurate enough, or take another rung.',
    );
  }
  const operands = await Operands.create(device, shape, a, b);
  const timer = await createTimer(device);
  let executable: Executable | undefined;
  try {
    const lap = stopwatch();
    const buffers = await operands.buffers(program.inputs);
    operands.poison(program.result);
    await device.queue.onSubmittedWorkDone();
    const upload = lap();
    executable = await Executable.create(device, program);
    const bound = executable.bind(buffers);
    const compile = lap();
    const multiply = await timer.time(pass => bound.encode(pass));
    lap();
    const { c, failure } = await operands.result(program.result);
    if (failure) throw new Error(`rung ${rung.rung} (${rung.id}) computed a wrong result: ${failure}`);
    return { c, program, timings: { upload, compile, multiply, download: lap() }, timer: timer.kind };
  } finally {
    executable?.destroy();
    operands.destroy();
    timer.destroy();
  }
}

/** Above this step a software GPU's compiler takes seconds, and gains nothing. */
const SOFTWARE_STEP = 8;

/** The highest rung of the ladder that this device runs on f32 matrices as they are. */
export function highestF32Rung(shape: Shape, profile: Profile): Rung {
  const highest = profile.software ? SOFTWARE_STEP : Number.POSITIVE_INFINITY;
  const rung = RUNGS.findLast(candidate => {
    if (Number.parseInt(candidate.rung, 10) > highest) return false;
    const program = programFor(candidate, shape, profile);
    return typeof program !== 'string' && program.inputs === 'f32';
  });
  if (!rung) throw new GemmError('unsupported', 'no rung of the ladder runs this size on this device');
  return rung;
}

/** The rung built for this device, or what the device lacks. */
export function programFor(rung: Rung, shape: Shape, profile: Profile): RungProgram | string {
  const missing = rung.missing(profile, shape);
  if (missing) return missing;
  const program = rung.build(shape, profile);
  return brokenLimit(program, profile) ?? program;
}

/** Milliseconds since the last call. */
function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const lap = now - last;
    last = now;
    return lap;
  };
}
