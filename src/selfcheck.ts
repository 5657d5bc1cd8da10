/** A kernel's first use on a device: run a small product of the same kind, hold it against float64. */
import { type Box, type Layout, resized } from './bands.ts';
import type { Candidate } from './choose.ts';
import { type HostArray, readBuffer, uploadBuffer } from './device/buffers.ts';
import { Executable } from './device/executable.ts';
import { toHalves } from './float16.ts';
import type { Kernel, Params } from './kernels/kernel.ts';
import { type HostOperands, isCellOf, verifyProblem } from './measure/expected.ts';
import { fenceFailure, poisonedWhere } from './measure/fence.ts';
import { random } from './measure/random.ts';
import { requiredBytes } from './operands.ts';
import type { InputType, OutputType, Problem } from './problem.ts';
import type { Profile } from './profile.ts';
import { brokenLimit, type Program } from './program.ts';

/** Elements of canary behind C. */
const FENCE = 64;

/** Multiply-adds of float64 reference that a check may cost: well under a second. */
const BUDGET = 2 ** 25;

/** Verdicts by source: kernels fail as code. */
const verdicts = new WeakMap<GPUDevice, Map<string, Promise<string | null>>>();

/**
 * Runs a candidate on a small product of the problem's kind and checks it, once for each source on a device; why it
 * failed, or null.
 *
 * The small problem differs from the real one in its sizes only, and keeps what decides over the code: the sizes'
 * remainders by 16 (K's by 64) and so the alignment of rows. Its pipelines are the real one's.
 */
export function selfCheck(
  device: GPUDevice,
  profile: Profile,
  problem: Problem,
  { kernel, params }: Candidate,
): Promise<string | null> {
  let known = verdicts.get(device);
  if (!known) {
    known = new Map();
    verdicts.set(device, known);
  }
  const small = checkedProblem(problem, profile, kernel, params);
  if (!small) return Promise.resolve(null);
  const program = kernel.build(small, profile, params);
  const source = sourceOf(program);
  let verdict = known.get(source);
  if (!verdict) {
    verdict = check(device, program, small, kernel);
    known.set(source, verdict);
    // What is not the kernel's fault, such as a full memory, may go better next time.
    verdict.catch(() => known.delete(source));
  }
  return verdict;
}

async function check(device: GPUDevice, program: Program, problem: Problem, kernel: Kernel) {
  const executable = await Executable.create(device, program);
  try {
    return await runChecked(device, executable, problem, kernel.arithmetic(problem));
  } finally {
    executable.destroy();
  }
}

/**
 * The small problem that a candidate is checked with: the first that gives the candidate's own code, or else the first
 * that the kernel serves at all; null where there is none.
 */
export function checkedProblem(
  problem: Problem,
  profile: Profile,
  kernel: Kernel,
  params: Params,
): Problem | null {
  // A caller's expression has no float64 twin; whether it compiles is seen with the real program.
  const plain = { ...problem, epilogue: null };
  const source = sourceOf(kernel.build(plain, profile, params));
  const served = SIZES.map(size => shrink(plain, size)).filter(
    ({ m, n, k, batch }, index, all) =>
      m * n * Math.max(1, k) * batch <= BUDGET &&
      kernel.rejects(all[index], profile) === null &&
      brokenLimit(kernel.build(all[index], profile, params), profile) === null,
  );
  return served.find(small => sourceOf(kernel.build(small, profile, params)) === source) ?? served[0] ?? null;
}

const sourceOf = ({ passes }: Program) => passes.map(({ wgsl }) => wgsl).join();

/** The smallest sizes that large ones become, each up to 15 more; the first is enough for most kernels. */
const SIZES: readonly Box[] = [
  { m: 64, n: 64, k: 128, batch: 2 },
  { m: 64, n: 64, k: 2048, batch: 2 },
  { m: 512, n: 64, k: 128, batch: 2 },
  { m: 64, n: 512, k: 128, batch: 2 },
  { m: 64, n: 64, k: 64, batch: 64 },
  { m: 256, n: 256, k: 256, batch: 1 },
];

/** The same problem with small sizes of the same remainders by 16. */
function shrink(problem: Problem, to: Box): Problem {
  const smaller = (size: number, small: number, alike: number) =>
    size > small ? roundLike(small, size, alike) : size;
  const size = {
    m: smaller(problem.m, to.m, ALIKE),
    n: smaller(problem.n, to.n, ALIKE),
    // Kernels may leave out the guards at the end of K where it is whole steps.
    k: smaller(problem.k, to.k, 64),
    batch: Math.min(problem.batch, to.batch),
  };
  const { a, b, c } = problem;
  return resized(
    problem,
    size,
    layoutLike(a, a.trans ? [size.k, size.m] : [size.m, size.k]),
    layoutLike(b, b.trans ? [size.n, size.k] : [size.k, size.n]),
    layoutLike(c, [size.m, size.n]),
  );
}

/** A layout for fewer rows and columns that is aligned as the given one is. */
function layoutLike(like: Layout, [rows, cols]: [number, number]): Layout {
  const ld = Math.min(like.ld, roundLike(cols, like.ld));
  const stride = like.stride === 0 ? 0 : Math.min(like.stride, roundLike(rows * ld, like.stride));
  return { ld, stride, offset: like.offset % ALIKE };
}

const ALIKE = 16;

/** The smallest size from `least` on with the remainder of `like`. */
const roundLike = (least: number, like: number, alike = ALIKE) =>
  least + ((((like - least) % alike) + alike) % alike);

/**
 * Runs a program on random operands with a poisoned, fenced C; what is wrong with the result, or null.
 *
 * @param edit may change operands before they are used
 */
export async function runChecked(
  device: GPUDevice,
  executable: Executable,
  problem: Problem,
  arithmetic: Parameters<typeof verifyProblem>[3]['arithmetic'],
  edit: (host: HostOperands) => void = () => {},
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
  edit(host);
  const buffers: Record<string, GPUBuffer> = {};
  try {
    for (const [name] of requiredBytes(problem)) {
      const data = name === 'c' ? (image as HostArray) : host[name as keyof HostOperands];
      if (data) buffers[name] = await uploadBuffer(device, `self-check ${name}`, data);
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
    const fence = fenceFailure(found, isCell);
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
