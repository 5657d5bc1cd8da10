/** Whole products on the device, with poison, canaries and a float64 reference. */
import { type HostArray, readBuffer, uploadBuffer } from '../../src/device/buffers.ts';
import type { Gemm } from '../../src/gemm.ts';
import { type HostOperands, isCellOf, verifyProblem } from '../../src/measure/expected.ts';
import { fenceFailure, poisonedWhere } from '../../src/measure/fence.ts';
import { random } from '../../src/measure/random.ts';
import { requiredBytes } from '../../src/operands.ts';
import type { Plan, PlanOptions, RunOptions } from '../../src/plan.ts';
import { normalize, type Problem, type ProblemOptions } from '../../src/problem.ts';
import { randomArray } from '../../src/trial/operands.ts';

const FENCE = 64;

export interface Operands {
  readonly host: HostOperands;
  readonly buffers: Record<string, GPUBuffer>;
  /** What is wrong with C now, or null. */
  check(
    epilogue?: (value: number, row: number, col: number, batch: number) => number,
  ): Promise<string | null>;
  destroy(): void;
}

/** Random operands of a problem on the device, C poisoned and fenced. */
export async function operandsFor(device: GPUDevice, options: ProblemOptions, seed = 1): Promise<Operands> {
  const problem = normalize(options);
  const host = hostOperands(problem, seed);
  const isCell = isCellOf(problem);
  const elements = problem.c.extent + FENCE;
  const image = poisonedWhere(elements, problem.c.type === 'f16' ? 2 : 4, isCell);
  if (host.c) new Uint8Array(image.buffer).set(new Uint8Array(host.c.buffer));
  const buffers: Record<string, GPUBuffer> = {};
  for (const [name, bytes] of requiredBytes(problem)) {
    const data = name === 'c' ? (image as HostArray) : host[name as keyof HostOperands];
    if (bytes > 0) buffers[name] = await uploadBuffer(device, name, data!);
  }
  return {
    host,
    buffers,
    async check(epilogue) {
      if (!buffers.c) return null;
      const bytes = await readBuffer(device, buffers.c);
      const words =
        problem.c.type === 'f16' ? new Uint16Array(bytes, 0, elements) : new Uint32Array(bytes, 0, elements);
      const { type } = problem.c;
      const result =
        type === 'f32' ? new Float32Array(bytes) : type === 'i32' ? new Int32Array(bytes) : words;
      const fence = problem.beta === 0 ? fenceFailure(words, isCell) : null;
      const arithmetic = problem.a.type === 'f32' || problem.a.type === 'f16' ? 'matrix-f32' : 'exact';
      return (
        fence ??
        verifyProblem(problem, host, result as HostArray, {
          arithmetic,
          signs: 'random',
          ...(epilogue ? { epilogue } : {}),
        }).failure
      );
    },
    destroy() {
      for (const buffer of Object.values(buffers)) buffer.destroy();
    },
  };
}

export function hostOperands(problem: Problem, seed = 1): HostOperands {
  const next = random(seed);
  const { a, b, c, m, n, beta, bias, residual } = problem;
  return {
    a: randomArray(a.type, a.extent, next),
    b: randomArray(b.type, b.extent, next),
    ...(beta === 0 ? {} : { c: randomArray(c.type, c.extent, next) }),
    ...(bias === 'none' ? {} : { bias: randomArray(c.type, bias === 'row' ? n : m, next) }),
    ...(residual ? { residual: randomArray(c.type, c.extent, next) } : {}),
  };
}

/** Runs a problem and holds the result against float64; what is wrong, or null. */
export async function runProblem(
  gemm: Gemm,
  options: ProblemOptions,
  extra: PlanOptions &
    RunOptions & {
      readonly epilogue?: (value: number, row: number, col: number, batch: number) => number;
    } = {},
): Promise<{ readonly failure: string | null; readonly plan: Plan }> {
  const plan = await gemm.plan(options, extra);
  const operands = await operandsFor(gemm.device, options);
  try {
    await plan.run(operands.buffers, extra);
    return { failure: await operands.check(extra.epilogue), plan };
  } finally {
    operands.destroy();
    plan.destroy();
  }
}
