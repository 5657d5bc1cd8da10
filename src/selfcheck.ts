/** A kernel's first use on a device: compile it, run a small product of the same kind, hold it against float64. */
import type { Candidate } from './choose.ts';
import { type HostArray, readBuffer, uploadBuffer } from './device/buffers.ts';
import { Executable } from './device/executable.ts';
import { toHalves } from './float16.ts';
import { type HostOperands, isCellOf, verifyProblem } from './measure/expected.ts';
import { fenceFailure, poisonedWhere } from './measure/fence.ts';
import { random } from './measure/random.ts';
import { requiredBytes } from './operands.ts';
import { type InputType, normalize, type OutputType, type Problem, type ProblemOptions } from './problem.ts';
import type { Profile } from './profile.ts';

/** Elements of canary behind C. */
const FENCE = 64;

/**
 * Compiles a candidate's program and checks it; why it failed, or null.
 *
 * The small problem differs from the real one in its sizes only, and keeps what decides over the code: the sizes' remainders
 * by 8 and so the alignment of rows. Its pipelines are the real one's.
 */
export async function selfCheck(
  device: GPUDevice,
  profile: Profile,
  options: ProblemOptions,
  { kernel, params }: Candidate,
): Promise<string | null> {
  // A caller's expression has no float64 twin; whether it compiles is seen with the real program.
  const { epilogue: _, ...rest } = options;
  const problem = normalize(shrink(rest));
  if (kernel.rejects(problem, profile) !== null) return null;
  const executable = await Executable.create(device, kernel.build(problem, profile, params)).catch(
    (error: Error) => error.message,
  );
  if (typeof executable === 'string') return executable;
  try {
    return await runChecked(device, executable, problem, kernel.arithmetic(problem));
  } finally {
    executable.destroy();
  }
}

/** The same problem, small: every size over 96 becomes 64 to 96 with the same remainder by 8, and K likewise. */
function shrink(options: ProblemOptions): ProblemOptions {
  const small = (size: number, most: number) => (size > most ? most - 8 + (size % 8) : size);
  const [m, n, k] = [small(options.m, 72), small(options.n, 72), small(options.k, 136)];
  const batch = Math.min(options.batch ?? 1, 2);
  const { lda, ldb, ldc, offsetA, offsetB, offsetC, strideA, strideB, strideC, ...kind } =
    normalizedStrides(options);
  const [rowA, rowsA] = options.transA ? [m, k] : [k, m];
  const [rowB, rowsB] = options.transB ? [k, n] : [n, k];
  const row = (ld: number, length: number) => roundLike(length, ld);
  const ld = { a: row(lda, rowA), b: row(ldb, rowB), c: row(ldc, n) };
  return {
    ...kind,
    ...{ m, n, k, batch },
    ...{ lda: ld.a, ldb: ld.b, ldc: ld.c },
    ...{ offsetA: offsetA % 8, offsetB: offsetB % 8, offsetC: offsetC % 8 },
    strideA: strideA === 0 ? 0 : roundLike(rowsA * ld.a, strideA),
    strideB: strideB === 0 ? 0 : roundLike(rowsB * ld.b, strideB),
    strideC: roundLike(m * ld.c, strideC),
  };
}

/** The smallest size from `least` on with the remainder by 8 of `like`. */
const roundLike = (least: number, like: number) => least + ((((like - least) % 8) + 8) % 8);

function normalizedStrides(options: ProblemOptions) {
  const { a, b, c } = normalize(options);
  return {
    ...options,
    ...{ lda: a.ld, ldb: b.ld, ldc: c.ld },
    ...{ offsetA: a.offset, offsetB: b.offset, offsetC: c.offset },
    ...{ strideA: a.stride, strideB: b.stride, strideC: c.stride },
  };
}

/** Runs a program on random operands with a poisoned, fenced C; what is wrong with the result, or null. */
export async function runChecked(
  device: GPUDevice,
  executable: Executable,
  problem: Problem,
  arithmetic: Parameters<typeof verifyProblem>[3]['arithmetic'],
): Promise<string | null> {
  const next = random(problem.m * 31 + problem.n * 7 + problem.k);
  const { a, b, c, beta } = problem;
  const elements = c.extent + FENCE;
  const isCell = isCellOf(problem);
  const image = poisonedWhere(elements, c.type === 'f16' ? 2 : 4, isCell);
  const before = beta === 0 ? null : randomArray(c.type, c.extent, next);
  if (before) for (let i = 0; i < c.extent; i++) if (isCell(i)) image[i] = wordsOf(before)[i];
  const host: HostOperands = {
    a: randomArray(a.type, a.extent, next),
    b: randomArray(b.type, b.extent, next),
    ...(before ? { c: before } : {}),
    ...(problem.bias === 'none' ? {} : { bias: randomArray(c.type, Math.max(problem.m, problem.n), next) }),
    ...(problem.residual ? { residual: randomArray(c.type, c.extent, next) } : {}),
  };
  const buffers: Record<string, GPUBuffer> = {};
  try {
    for (const [name] of requiredBytes(problem)) {
      const data = name === 'c' ? (image as HostArray) : host[name as keyof HostOperands]!;
      buffers[name] = await uploadBuffer(device, `self-check ${name}`, data);
    }
    device.pushErrorScope('validation');
    const bound = executable.bind(
      Object.fromEntries(Object.entries(buffers).map(([name, buffer]) => [name, { buffer }])),
    );
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    bound.encode(pass);
    pass.end();
    device.queue.submit([encoder.finish()]);
    const error = await device.popErrorScope();
    if (error) return error.message;
    const bytes = await readBuffer(device, buffers.c);
    const found =
      c.type === 'f16' ? new Uint16Array(bytes, 0, elements) : new Uint32Array(bytes, 0, elements);
    const result =
      c.type === 'f32' ? new Float32Array(bytes) : c.type === 'i32' ? new Int32Array(bytes) : found;
    const fence = beta === 0 ? fenceFailure(found, isCell) : null;
    return (
      fence ?? verifyProblem(problem, host, result as HostArray, { arithmetic, signs: 'random' }).failure
    );
  } finally {
    for (const buffer of Object.values(buffers)) buffer.destroy();
  }
}

/** Random elements of a type: floats over [-1, 1), integers over their range, i32 small. */
export function randomArray(type: InputType | OutputType, length: number, next: () => number): HostArray {
  const floats = () => Float32Array.from({ length }, () => next() * 2 - 1);
  const integers = (low: number, high: number) =>
    Array.from({ length }, () => low + Math.floor(next() * (high - low)));
  switch (type) {
    case 'f32':
      return floats();
    case 'f16':
      return toHalves(floats());
    case 'i8':
      return Int8Array.from(integers(-128, 128));
    case 'u8':
      return Uint8Array.from(integers(0, 256));
    case 'i32':
      return Int32Array.from(integers(-1000, 1000));
  }
}

const wordsOf = (array: HostArray) =>
  array instanceof Uint16Array
    ? array
    : new Uint32Array(array.buffer, array.byteOffset, array.byteLength / 4);
