/** Runs a program whose WGSL may have been edited: does it compile, is it right, how fast is it beside the original. */
import { inOneLine } from '../../../device/compiler-message.ts';
import { type Bound, Executable } from '../../../device/executable.ts';
import { GemmError } from '../../../errors.ts';
import { check, checkShape, timesFor } from '../../../ladder/climb.ts';
import { Operands } from '../../../ladder/operands.ts';
import type { RungProgram, Shape } from '../../../ladder/rung.ts';
import { type MeasureOptions, measureTogether, type Work } from '../../../measure/measure.ts';
import { randomMatrix } from '../../../measure/random.ts';
import { createTimer, type Timer } from '../../../measure/timer.ts';
import type { Verdict } from '../../../measure/verify.ts';
import { brokenLimit, type Pass } from '../../../program.ts';
import { type CellMap, mapCells } from '../../views/workbench/cells.ts';
import type { Job, JobControls } from './job.ts';

export interface WorkbenchInput {
  readonly shape: Shape;
  readonly original: RungProgram;
  /** For each pass of the original what was made of it; null where it is as it was. */
  readonly edited: readonly (Pass | null)[];
}

/** What the compiler says of a pass. */
export interface CompilerMessage {
  readonly pass: number;
  readonly type: GPUCompilationMessageType;
  readonly text: string;
  /** From 1; 0 where it is about no line. */
  readonly line: number;
  /** From 1, in UTF-16 units; 0 where it is about no place. */
  readonly column: number;
  /** Where it is in the pass's WGSL, in UTF-16 units. */
  readonly offset: number;
  readonly length: number;
}

/** Median milliseconds, and their interquartile range over it. */
export interface Timed {
  readonly ms: number;
  readonly spread: number;
}

export interface Timing {
  /** A pass, or all of them. */
  readonly label: string;
  /** Whether this is what the product counts by, as on the ladder. */
  readonly product: boolean;
  readonly original: Timed;
  /** Null where it is the original. */
  readonly edited: Timed | null;
}

export type WorkbenchOutput = { readonly messages: readonly CompilerMessage[] } & (
  | { readonly status: 'not-compiled' }
  | { readonly status: 'failed'; readonly reason: string }
  | { readonly status: 'wrong'; readonly verdict: Verdict; readonly cells: CellMap }
  | {
      readonly status: 'right';
      readonly verdict: Verdict;
      readonly timings: readonly Timing[];
      readonly timer: Timer['kind'];
    }
);

export interface WorkbenchProgress {
  readonly phase: 'compiling' | 'verifying' | 'comparing cell by cell' | 'warming up' | 'measuring';
  /** From 0 to 1, where it is known. */
  readonly done?: number;
}

export const workbench: Job<WorkbenchInput, WorkbenchOutput, WorkbenchProgress> = async (
  context,
  { shape, original, edited },
  { signal, progress },
) => {
  const { device, profile } = context;
  checkShape(shape, profile);
  progress({ phase: 'compiling' });
  const messages: CompilerMessage[] = [];
  for (const [index, pass] of edited.entries()) {
    if (pass) messages.push(...(await messagesOf(device, pass, index)));
  }
  if (messages.some(({ type }) => type === 'error')) return { status: 'not-compiled', messages };
  const program = { ...original, passes: original.passes.map((pass, index) => edited[index] ?? pass) };
  const limit = brokenLimit(program, profile);
  if (limit) return { status: 'failed', reason: limit, messages };

  const operands = await operandsFor(device, shape);
  const timer = await createTimer(device);
  const made: Executable[] = [];
  const ready = async (which: RungProgram): Promise<Ready> => {
    const executable = await Executable.create(device, which);
    made.push(executable);
    signal.throwIfAborted();
    return { program: which, bound: executable.bind(await operands.buffers(which.inputs)) };
  };
  device.pushErrorScope('validation');
  try {
    const mine = await ready(program);
    progress({ phase: 'verifying' });
    const verdict = await check(device, pass => mine.bound.encode(pass), program, operands);
    const invalid = await device.popErrorScope();
    device.pushErrorScope('validation');
    if (invalid) return { status: 'failed', reason: inOneLine(invalid.message), messages };
    signal.throwIfAborted();
    if (verdict.failure) {
      const cells = await cellsOf(operands, program, { signal, progress });
      return { status: 'wrong', verdict, cells, messages };
    }
    const theirs = edited.some(Boolean) ? await ready(original) : null;
    if (theirs) {
      const { failure } = await check(device, pass => theirs.bound.encode(pass), original, operands);
      if (failure) return { status: 'failed', reason: `the original is wrong here: ${failure}`, messages };
    }
    const timings = await timeBoth(timer, theirs ?? mine, theirs && mine, edited, {
      ...timesFor(profile, profile.software ? 100 : 400, signal),
      onPhase: phase => progress({ phase }),
    });
    return { status: 'right', verdict, timings, timer: timer.kind, messages };
  } catch (error) {
    if (!(error instanceof GemmError && error.code === 'compilation-failed')) throw error;
    return { status: 'failed', reason: error.message, messages };
  } finally {
    await device.popErrorScope().catch(() => null);
    for (const it of [operands, timer, ...made]) it.destroy();
  }
};

/** A program, compiled and bound to A, B and C. */
interface Ready {
  readonly program: RungProgram;
  readonly bound: Bound;
}

const operandsFor = (device: GPUDevice, shape: Shape): Promise<Operands> =>
  Operands.create(device, shape, randomMatrix(shape.m * shape.k, 1), randomMatrix(shape.k * shape.n, 2));

/** Times the original and what was made of it in turn: a single pass; of several, all together and each alone. */
async function timeBoth(
  timer: Timer,
  original: Ready,
  mine: Ready | null,
  edited: WorkbenchInput['edited'],
  options: MeasureOptions,
): Promise<Timing[]> {
  const works: Work[] = [];
  const add = ({ bound }: Ready, only: number | undefined) =>
    works.push({ encode: pass => bound.encode(pass, only) }) - 1;
  const rows = partsOf(original.program).map(({ only, ...part }) => ({
    part,
    first: add(original, only),
    second: mine && (only === undefined || edited[only]) ? add(mine, only) : null,
  }));
  const found = await measureTogether(timer, works, options);
  const timed = (index: number): Timed => ({ ms: found[index].ms, spread: found[index].spread });
  return rows.map(({ part, first, second }) => ({
    ...part,
    original: timed(first),
    edited: second === null ? null : timed(second),
  }));
}

function partsOf({ passes, preparation }: RungProgram) {
  const last = passes.length - 1;
  if (last === 0) return [{ label: passes[0].label, only: undefined, product: true }];
  const each = passes.map(({ label }, only) => ({
    ...{ label, only },
    product: only === last && preparation === 'beside',
  }));
  return [{ label: 'all passes', only: undefined, product: preparation === 'within' }, ...each];
}

async function messagesOf(
  device: GPUDevice,
  { label, wgsl }: Pass,
  pass: number,
): Promise<CompilerMessage[]> {
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label, code: wgsl });
  const scope = device.popErrorScope();
  const { messages } = await module.getCompilationInfo();
  await scope;
  return messages.map(({ type, message, lineNum, linePos, offset, length }) => ({
    ...{ pass, type, text: inOneLine(message) },
    ...{ line: lineNum, column: linePos, offset, length },
  }));
}

async function cellsOf(
  operands: Operands,
  { inputs, result, arithmetic }: RungProgram,
  { signal, progress }: JobControls<WorkbenchProgress>,
): Promise<CellMap> {
  const { m, n, k } = operands.shape;
  const { aValues, bValues } = await operands.inputs(inputs);
  const { c } = await operands.result(result);
  const product = {
    a: { rows: m, cols: k, data: aValues },
    b: { rows: k, cols: n, data: bValues },
    ...{ c, arithmetic, result },
    signs: 'random' as const,
  };
  const pause = async (done: number) => {
    progress({ phase: 'comparing cell by cell', done });
    await new Promise(resolve => setTimeout(resolve)); // a message that ends this job can come in
    signal.throwIfAborted();
  };
  return mapCells(product, { pause });
}
