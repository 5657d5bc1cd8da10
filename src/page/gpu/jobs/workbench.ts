/** Runs a program whose WGSL may have been edited: does it compile, is it right, how fast is it beside the original. */
import { inOneLine } from '../../../device/compiler-message.ts';
import { Executable } from '../../../device/executable.ts';
import { check, checkShape, timesFor } from '../../../ladder/climb.ts';
import { Operands } from '../../../ladder/operands.ts';
import type { RungProgram, Shape } from '../../../ladder/rung.ts';
import { measureTogether, type Work } from '../../../measure/measure.ts';
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
  controls,
) => {
  const { device, profile } = context;
  checkShape(shape, profile);
  const program: RungProgram = { ...original, passes: original.passes.map((pass, i) => edited[i] ?? pass) };
  controls.progress({ phase: 'compiling' });
  const messages: CompilerMessage[] = [];
  for (const [index, pass] of edited.entries()) {
    if (pass) messages.push(...(await messagesOf(device, pass, index)));
  }
  if (messages.some(({ type }) => type === 'error')) return { status: 'not-compiled', messages };
  const limit = brokenLimit(program, profile);
  if (limit) return { status: 'failed', reason: limit, messages };

  const changed = edited.some(pass => pass !== null);
  const made: { destroy(): void }[] = [];
  const keep = <T extends { destroy(): void }>(it: T): T => {
    made.push(it);
    return it;
  };
  device.pushErrorScope('validation');
  try {
    const mine = keep(await Executable.create(device, program));
    controls.signal.throwIfAborted();
    controls.progress({ phase: 'verifying' });
    const [a, b] = [randomMatrix(shape.m * shape.k, 1), randomMatrix(shape.k * shape.n, 2)];
    const operands = keep(await Operands.create(device, shape, a, b));
    const buffers = await operands.buffers(program.inputs);
    const bound = mine.bind(buffers);
    const verdict = await check(device, pass => bound.encode(pass), program, operands);
    const invalid = await device.popErrorScope();
    device.pushErrorScope('validation');
    if (invalid) return { status: 'failed', reason: inOneLine(invalid.message), messages };
    controls.signal.throwIfAborted();
    if (verdict.failure) {
      return { status: 'wrong', verdict, cells: await cellsOf(operands, program, controls), messages };
    }
    const theirs = changed ? keep(await Executable.create(device, original)).bind(buffers) : null;
    if (theirs) {
      const { failure } = await check(device, pass => theirs.encode(pass), original, operands);
      if (failure) return { status: 'failed', reason: `the original is wrong here: ${failure}`, messages };
    }
    const timer = keep(await createTimer(device));
    const rows = rowsOf(original);
    const works = rows.flatMap(
      ({ only }): { encode: Work['encode']; of: Side; only: number | undefined }[] => {
        const both = theirs !== null && (only === undefined || edited[only] !== null);
        const first = theirs ?? bound;
        return [
          { of: 'original', only, encode: pass => first.encode(pass, only) },
          ...(both
            ? [
                {
                  of: 'edited' as const,
                  only,
                  encode: (pass: GPUComputePassEncoder) => bound.encode(pass, only),
                },
              ]
            : []),
        ];
      },
    );
    const found = await measureTogether(timer, works, {
      ...timesFor(profile, profile.software ? 100 : 400, controls.signal),
      onPhase: phase => controls.progress({ phase }),
    });
    const timeOf = (side: Side, only: number | undefined): Timed | null => {
      const index = works.findIndex(work => work.of === side && work.only === only);
      return index < 0 ? null : { ms: found[index].ms, spread: found[index].spread };
    };
    const timings = rows.map(({ label, product, only }) => ({
      ...{ label, product },
      original: timeOf('original', only)!,
      edited: timeOf('edited', only),
    }));
    return { status: 'right', verdict, timings, timer: timer.kind, messages };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== 'compilation-failed') throw error;
    return { status: 'failed', reason: message, messages };
  } finally {
    await device.popErrorScope().catch(() => null);
    for (const it of made) it.destroy();
  }
};

type Side = 'original' | 'edited';

/** What is timed: a single pass; of several, all together and each alone. */
function rowsOf({ passes, preparation }: RungProgram) {
  const last = passes.length - 1;
  const each = passes.map(({ label }, only) => ({
    label,
    only,
    product: only === last && preparation === 'beside',
  }));
  if (last === 0) return [{ ...each[0], only: undefined, product: true }];
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
