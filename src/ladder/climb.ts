/** Takes the ladder up, rung by rung: build, compile, verify, measure. Used by the command and by the page. */
import { Executable } from '../device/executable.ts';
import { GemmError } from '../errors.ts';
import { measureTogether, type Work } from '../measure/measure.ts';
import { randomMatrix } from '../measure/random.ts';
import { createTimer, type Timer } from '../measure/timer.ts';
import { verify } from '../measure/verify.ts';
import type { Profile } from '../profile.ts';
import { brokenLimit } from '../program.ts';
import { Operands } from './operands.ts';
import type { Rung, RungProgram, Shape } from './rung.ts';

/** What is being done with a rung. */
export type Phase = 'compiling' | 'verifying' | 'warming up' | 'measuring';

/** A pass and what it takes alone, in milliseconds. */
export interface PassTime {
  readonly label: string;
  readonly ms: number;
}

/** A rung's row. Numbers that are not known are null, never 0. */
export interface RungResult {
  readonly rung: string;
  readonly id: string;
  readonly status: 'ok' | 'unsupported' | 'wrong' | 'failed';
  /** Why it is not ok; null where it is. */
  readonly reason: string | null;
  /** Median time in milliseconds: of the multiplying pass, or of all passes where some are `within`. */
  readonly ms: number | null;
  /** Interquartile range over the median. */
  readonly spread: number | null;
  readonly gflops: number | null;
  /** ‖C − ref‖ / ‖ref‖ against float64. */
  readonly relErr: number | null;
  /** The largest |C − ref| over its allowed bound. */
  readonly worst: number | null;
  /** Time until every pipeline of the rung was compiled, in milliseconds. */
  readonly compileMs: number | null;
  /** What was taken from the device: matrix shape, types, lanes; null where the rung takes nothing from it. */
  readonly detail: string | null;
  /** Passes that prepare operands, timed beside the rung's own time and not part of it. */
  readonly prepare: readonly PassTime[];
  /** Passes that prepare operands within the rung's own time, each timed alone; left out where there are none. */
  readonly within?: readonly PassTime[];
}

/** What is multiplied, by which rungs, and how long it is measured. */
export interface ClimbOptions {
  readonly shape: Shape;
  readonly rungs: readonly Rung[];
  readonly profile: Profile;
  /** Milliseconds of samples for each rung. */
  readonly minTime: number;
  readonly signal?: AbortSignal;
  /** Called when a rung enters a phase. */
  readonly onPhase?: (rung: Rung, phase: Phase) => void;
  /** Called when a rung is done, whatever came of it. */
  readonly onResult?: (result: RungResult) => void;
}

/** What came of every rung, and the clock they were timed with. */
export interface Climb {
  readonly timer: Pick<Timer, 'kind' | 'resolutionNs'>;
  readonly rungs: readonly RungResult[];
}

/**
 * Runs the rungs in order on random matrices. A rung that the device can't run, that fails or that computes a wrong
 * result is a result with its reason, not an exception.
 *
 * @throws GemmError `too-large` where the matrices do not fit the device; the signal's reason when it is aborted
 */
export async function climb(device: GPUDevice, options: ClimbOptions): Promise<Climb> {
  const { shape, rungs, profile, onResult } = options;
  checkShape(shape, profile);
  const timer = await createTimer(device);
  const a = randomMatrix(shape.m * shape.k, 1);
  const b = randomMatrix(shape.k * shape.n, 2);
  const operands = await Operands.create(device, shape, a, b);
  const results: RungResult[] = [];
  try {
    for (const rung of rungs) {
      options.signal?.throwIfAborted();
      const result = await climbOne(device, rung, operands, timer, options);
      results.push(result);
      onResult?.(result);
    }
  } finally {
    operands.destroy();
    timer.destroy();
  }
  return { timer: { kind: timer.kind, resolutionNs: timer.resolutionNs }, rungs: results };
}

/** @throws GemmError `invalid-size` or `too-large` */
export function checkShape({ m, n, k }: Shape, { limits }: Profile): void {
  for (const [name, size] of Object.entries({ m, n, k })) {
    if (!Number.isSafeInteger(size) || size < 1) {
      throw new GemmError('invalid-size', `${name} is ${size}`, 'Sizes are whole numbers from 1 up.');
    }
  }
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  for (const [name, rows, cols] of [
    ['A', m, k],
    ['B', k, n],
    ['C', m, n],
  ] as const) {
    const bytes = rows * cols * 4 + 256;
    if (bytes > most) {
      throw new GemmError(
        'too-large',
        `${name} of ${rows}×${cols} needs ${bytes} bytes and this device binds at most ${most}`,
        `The largest square size here is ${Math.floor(Math.sqrt((most - 256) / 4))}.`,
      );
    }
  }
}

async function climbOne(
  device: GPUDevice,
  rung: Rung,
  operands: Operands,
  timer: Timer,
  { profile, shape, minTime, signal, onPhase }: ClimbOptions,
): Promise<RungResult> {
  const blank: RungResult = {
    rung: rung.rung,
    id: rung.id,
    status: 'unsupported',
    reason: null,
    ms: null,
    spread: null,
    gflops: null,
    relErr: null,
    worst: null,
    compileMs: null,
    detail: null,
    prepare: [],
  };
  const missing = rung.missing(profile, shape);
  if (missing) return { ...blank, reason: missing };
  const program = rung.build(shape, profile);
  const built = { ...blank, detail: program.detail || null };
  const limit = brokenLimit(program, profile);
  if (limit) return { ...built, reason: limit };

  let executable: Executable | undefined;
  device.pushErrorScope('validation');
  try {
    onPhase?.(rung, 'compiling');
    const begin = performance.now();
    executable = await Executable.create(device, program);
    const compileMs = performance.now() - begin;

    onPhase?.(rung, 'verifying');
    const bound = executable.bind(await operands.buffers(program.inputs));
    const verdict = await check(device, bound.encode.bind(bound), program, operands);
    const error = await device.popErrorScope();
    device.pushErrorScope('validation');
    if (error) return { ...built, compileMs, status: 'failed', reason: error.message };
    const checked = { ...built, compileMs, relErr: verdict.relErr, worst: verdict.worst };
    if (verdict.failure) return { ...checked, status: 'wrong', reason: verdict.failure };

    const within = program.preparation === 'within';
    const last = bound.length - 1;
    const work = (only?: number): Work => ({ encode: pass => bound.encode(pass, only) });
    const [{ ms, spread }, ...passes] = await measureTogether(
      timer,
      [within ? work() : work(last), ...Array.from({ length: last }, (_, i) => work(i))],
      { ...timesFor(profile, minTime, signal), onPhase: phase => onPhase?.(rung, phase) },
    );
    const preparing = passes.map((pass, i) => ({ label: program.passes[i].label, ms: pass.ms }));
    const gflops = (2 * shape.m * shape.n * shape.k) / ms / 1e6;
    const timed = { ...checked, status: 'ok', ms, spread, gflops } as const;
    if (preparing.length === 0) return timed;
    return within ? { ...timed, within: preparing } : { ...timed, prepare: preparing };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ...built, status: 'failed', reason: (error as Error).message };
  } finally {
    await device.popErrorScope().catch(() => null);
    executable?.destroy();
  }
}

/** A GPU's clock ramps up and has to be waited for; a software GPU's does not, and it is slow enough without waiting. */
export function timesFor(profile: Profile, minTime: number, signal: AbortSignal | undefined) {
  const warmUp = profile.software ? { minWarmUp: 0, maxWarmUp: 0 } : {};
  return { minTime, ...warmUp, ...(signal ? { signal } : {}) };
}

/** Runs the program once on a poisoned, fenced C and holds what it wrote against float64. */
export async function check(
  device: GPUDevice,
  encode: (pass: GPUComputePassEncoder) => void,
  program: RungProgram,
  operands: Operands,
) {
  operands.poison(program.result);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  encode(pass);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const { m, n, k } = operands.shape;
  const { aValues, bValues } = await operands.inputs(program.inputs);
  const { c, failure } = await operands.result(program.result);
  const verdict = verify({
    a: { rows: m, cols: k, data: aValues },
    b: { rows: k, cols: n, data: bValues },
    c,
    arithmetic: program.arithmetic,
    result: program.result,
    signs: 'random',
  });
  return failure ? { ...verdict, failure } : verdict;
}
