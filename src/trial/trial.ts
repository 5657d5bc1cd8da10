/**
 * A trial: something that multiplies, run once on a poisoned C and held against float64, and then ready to be measured.
 * What is tried may be a kernel with its parameters, a whole plan, or anything else that encodes into a compute pass.
 */
import type { Candidate } from '../choose.ts';
import { whileAlive } from '../device/alive.ts';
import { type Bound, Executable } from '../device/executable.ts';
import { GemmError } from '../errors.ts';
import type { Work } from '../measure/measure.ts';
import type { Arithmetic } from '../measure/tolerance.ts';
import type { Verdict } from '../measure/verify.ts';
import type { Plan } from '../plan.ts';
import type { Profile } from '../profile.ts';
import { brokenLimit } from '../program.ts';
import type { TrialOperands } from './operands.ts';

/** What is tried: compiled, and bound to operands. */
export interface Subject {
  /** How it computes, as far as its error depends on that. */
  readonly arithmetic: Arithmetic;
  /** Labels of the passes that can be encoded one by one, in order. */
  readonly passes: readonly string[];
  /** Encodes one run, or only the pass of that number. */
  encode(pass: GPUComputePassEncoder, only?: number): void;
  destroy(): void;
}

/** A subject that ran. It is a piece of work for `measureTogether`. */
export interface Trial extends Work {
  readonly passes: readonly string[];
  encode(pass: GPUComputePassEncoder, only?: number): void;
  /** What the comparison with float64 found; a subject that is wrong is no exception. */
  readonly verdict: Verdict;
  /** Whether it ran at all: what WebGPU refuses has no time. */
  readonly ran: boolean;
  /** Milliseconds to make the subject: nearly all of it compiling. */
  readonly compileMs: number;
  /** Milliseconds from the submit of the checked run until the GPU was done. */
  readonly firstMs: number;
  /** Gives back what the subject holds; the operands stay. */
  destroy(): void;
}

/**
 * Makes a subject, runs it once on a poisoned C and checks all that it wrote.
 *
 * @throws GemmError what `make` throws (`compilation-failed`, `out-of-memory`, `unsupported`), and `device-lost`
 */
export function prepareTrial(operands: TrialOperands, make: () => Promise<Subject>): Promise<Trial> {
  return whileAlive(operands.device, async () => {
    const begin = performance.now();
    const subject = await make();
    const compileMs = performance.now() - begin;
    try {
      operands.poison();
      const { ms, error } = await runOnce(operands.device, subject);
      const verdict = error === null ? await operands.verdict(subject.arithmetic) : refused(error);
      return {
        passes: subject.passes,
        encode: (pass, only) => subject.encode(pass, only),
        verdict,
        ran: error === null,
        compileMs,
        firstMs: ms,
        destroy: () => subject.destroy(),
      };
    } catch (error) {
      subject.destroy();
      throw error;
    }
  });
}

/**
 * A kernel with its parameters as a subject. Its scratch memory is shared with the other trials of the operands.
 *
 * @throws GemmError `unsupported` for parameters over the device's limits, `compilation-failed`, `out-of-memory`
 */
export async function candidateSubject(
  operands: TrialOperands,
  profile: Profile,
  { kernel, params }: Pick<Candidate, 'kernel' | 'params'>,
): Promise<Subject> {
  const { device, problem, scratch } = operands;
  const program = kernel.build(problem, profile, params);
  const limit = brokenLimit(program, profile);
  if (limit !== null) throw new GemmError('unsupported', limit);
  const { buffers: lent, release } = await scratch.takeAll(program.scratch);
  try {
    const executable = await Executable.create(device, program, asBindings(lent));
    const subject = executableSubject(operands, executable, kernel.arithmetic(problem));
    return {
      ...subject,
      destroy: () => {
        subject.destroy();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** A compiled program as a subject. The executable is destroyed with it. */
export function executableSubject(
  { buffers }: TrialOperands,
  executable: Executable,
  arithmetic: Arithmetic,
): Subject {
  let bound: Bound | undefined;
  return {
    arithmetic,
    passes: executable.program.passes.map(({ label }) => label),
    encode: (pass, only) => {
      // Bound at the first encoding, where WebGPU's complaints are listened for.
      bound ??= executable.bind(asBindings(buffers));
      bound.encode(pass, only);
    },
    destroy: () => executable.destroy(),
  };
}

/** A plan as a subject: what a caller of the library gets. The plan is destroyed with the subject. */
export function planSubject({ buffers }: TrialOperands, plan: Plan): Subject {
  return {
    arithmetic: plan.arithmetic,
    passes: ['plan'],
    encode: pass => plan.encode(pass, buffers),
    destroy: () => plan.destroy(),
  };
}

/** Submits one run and waits for it; what WebGPU has against it, or null. */
async function runOnce(
  device: GPUDevice,
  subject: Subject,
): Promise<{ readonly ms: number; readonly error: string | null }> {
  await device.queue.onSubmittedWorkDone();
  const begin = performance.now();
  device.pushErrorScope('validation');
  device.pushErrorScope('out-of-memory');
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  subject.encode(pass);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const [memory, validation] = await Promise.all([
    device.popErrorScope(),
    device.popErrorScope(),
    device.queue.onSubmittedWorkDone(),
  ]);
  return { ms: performance.now() - begin, error: (memory ?? validation)?.message ?? null };
}

const asBindings = (buffers: Readonly<Record<string, GPUBuffer>>) =>
  Object.fromEntries(Object.entries(buffers).map(([name, buffer]) => [name, { buffer }]));

const refused = (error: string): Verdict => ({
  ok: false,
  relErr: null,
  worst: null,
  failure: error.split('\n')[0],
});
