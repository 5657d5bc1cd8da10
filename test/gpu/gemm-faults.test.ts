/** Lost devices, kernels that fail, full memory, wrong expressions: a clear error or another kernel, and nothing hangs. */
import { describe, expect, test } from 'vitest';
import { readBuffer } from '../../src/device/buffers.ts';
import { createGemm, type GemmOptions } from '../../src/gemm.ts';
import type { Kernel } from '../../src/kernels/kernel.ts';
import { plain } from '../../src/kernels/plain.ts';
import { useTestGpu } from './device.ts';
import { operandsFor, runProblem } from './gemm.ts';
import { openTestGpu } from './open.ts';

const gpu = useTestGpu();
const newGemm = (options: GemmOptions = {}) =>
  createGemm(gpu().device, { profile: gpu().profile, ...options });
const small = { m: 33, n: 18, k: 17 };

/** The plain kernel with its WGSL changed, which seems to be the fastest of all. */
const spoiled = (name: string, change: (wgsl: string) => string): Kernel => ({
  ...plain,
  name,
  estimate: () => 0,
  build(...args) {
    const program = plain.build(...args);
    return { ...program, passes: program.passes.map(pass => ({ ...pass, wgsl: change(pass.wgsl) })) };
  },
});

describe('a kernel is set aside, and the next best one used', () => {
  test.each([
    ['does not compile', (wgsl: string) => `${wgsl}\nfn broken() -> f32 { return nothing; }`, /nothing/],
    [
      'computes wrong results',
      (wgsl: string) => wgsl.replace('k < TILE;', 'k < TILE - 1;'),
      /C\[.*is .* where .* is due/,
    ],
    [
      'leaves cells out',
      (wgsl: string) => wgsl.replace('row < params.m &&', 'row + 1 < params.m &&'),
      /never written/,
    ],
    [
      'writes beside C',
      (wgsl: string) => wgsl.replace('row < params.m &&', 'row <= params.m &&'),
      /outside C, was written/,
    ],
  ])('that %s', async (name, change, reason) => {
    const gemm = await newGemm({ kernels: [spoiled(name, change), plain] });
    const { failure, plan } = await runProblem(gemm, small);
    expect(failure).toBeNull();
    expect(plan.explain().kernel).toBe('plain');
    expect(plan.explain().passedOver).toEqual([{ kernel: name, reason: expect.stringMatching(reason) }]);
    expect(plan.explain().toString()).toContain(`passed over  ${name}: set aside on this device`);
    // And it is not tried again.
    const again = await gemm.plan({ ...small, m: 34 });
    expect(again.explain().passedOver).toHaveLength(1);
    again.destroy();
  });

  test('unless it was forced, or is the only one', async () => {
    const wrong = spoiled('wrong', wgsl => wgsl.replace('k < TILE;', 'k < TILE - 1;'));
    const gemm = await newGemm({ kernels: [wrong, plain] });
    await expect(gemm.plan(small, { kernel: 'wrong' })).rejects.toMatchObject({ code: 'unsupported' });
    const without = await newGemm({ kernels: [wrong] });
    await expect(without.plan(small)).rejects.toMatchObject({ code: 'unsupported' });
  });
});

describe("a caller's expression", () => {
  test('runs', async () => {
    const gemm = await newGemm();
    const problem = {
      ...small,
      activation: 'relu',
      epilogue: 'select(value, 0.0, row == col) * 2.0',
    } as const;
    const epilogue = (value: number, row: number, col: number) => (row === col ? 0 : value) * 2;
    const { failure } = await runProblem(gemm, problem, { epilogue });
    expect(failure).toBeNull();
  });

  test.each([
    ['value +', 1, 'value \\+'],
    ['value * nothing', 1, 'nothing'],
    ['max(value,\n  0.0) +\n  unknown(row)', 3, 'unknown'],
    ['value > 0.0', 1, 'return type'],
    ['params.alpha', 1, 'params'],
  ])('%j is refused with the compiler’s line', async (epilogue, line, part) => {
    const gemm = await newGemm();
    await expect(gemm.plan({ ...small, epilogue })).rejects.toMatchObject({
      code: 'compilation-failed',
      message: expect.stringMatching(new RegExp(`^the epilogue expression, line ${line}: .*${part}`)),
    });
    // The kernels are not to blame.
    const plan = await gemm.plan(small);
    expect(plan.explain().passedOver.filter(({ reason }) => reason.includes('set aside'))).toEqual([]);
    plan.destroy();
  });
});

describe('out of memory', () => {
  /** A device that has no room for buffers whose label contains a word. */
  function withoutRoomFor(device: GPUDevice, word: string): () => void {
    const [create, pop] = [device.createBuffer, device.popErrorScope];
    let refused = false;
    device.createBuffer = descriptor => {
      refused = descriptor.label?.includes(word) ?? false;
      return Reflect.apply(create, device, [descriptor]) as GPUBuffer;
    };
    device.popErrorScope = async () => {
      const now = refused;
      refused = false;
      const error = await Reflect.apply(pop, device, []);
      return now ? new GPUOutOfMemoryError('no room') : error;
    };
    return () => {
      for (const name of ['createBuffer', 'popErrorScope'])
        delete (device as unknown as Record<string, unknown>)[name];
    };
  }

  test('for scratch memory is an error, and nothing stays', async () => {
    const gemm = await newGemm();
    const problem = { m: 64, n: 64, k: 1024 };
    const restore = withoutRoomFor(gpu().device, 'scratch: partial');
    await expect(gemm.plan(problem, { kernel: 'split-k' })).rejects.toMatchObject({ code: 'out-of-memory' });
    restore();
    expect(gemm.scratchBytes).toBe(0);
    const { failure } = await runProblem(gemm, problem, { kernel: 'split-k' });
    expect(failure).toBeNull();
  });

  test('for operands of matmul is an error after smaller tiles were tried', async () => {
    const gemm = await newGemm();
    const restore = withoutRoomFor(gpu().device, 'webgemm a');
    const product = gemm.matmul(new Float32Array(600 * 600), new Float32Array(600), { m: 600, n: 1, k: 600 });
    await expect(product).rejects.toMatchObject({ code: 'out-of-memory' });
    restore();
  });
});

describe('a lost device', () => {
  const open = async () => {
    const { device, profile } = await openTestGpu();
    return { device, gemm: await createGemm(device, { profile }) };
  };
  const lost = { code: 'device-lost', name: 'GemmError' };

  test('rejects what is pending, and what comes after', async () => {
    const { device, gemm } = await open();
    // Long enough to be under way when the device goes.
    const square = { m: 200, n: 200, k: 400 };
    const plan = await gemm.plan(square);
    const operands = await operandsFor(device, square);
    const data = new Float32Array(200 * 400);
    const pending = Promise.allSettled([
      plan.run(operands.buffers),
      gemm.plan({ ...square, activation: 'silu' }),
      gemm.plan({ ...square, activation: 'gelu' }),
      gemm.matmul(data, data, { ...square, activation: 'sigmoid' }),
    ]);
    await new Promise(resolve => setTimeout(resolve, 1));
    device.destroy();
    for (const outcome of await pending) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: lost });
    }
    await expect(plan.run(operands.buffers)).rejects.toMatchObject(lost);
    expect(() => plan.encode(device.createCommandEncoder(), operands.buffers)).toThrow(
      expect.objectContaining(lost),
    );
    plan.destroy();
    gemm.destroy();
  });

  test('is told also where it was destroyed just before the call', async () => {
    const { device, gemm } = await open();
    const plan = await gemm.plan(small);
    const operands = await operandsFor(device, small);
    device.destroy();
    await expect(plan.run(operands.buffers)).rejects.toMatchObject(lost);
    await expect(gemm.plan(small)).rejects.toMatchObject(lost);
    await expect(createGemm(device)).rejects.toMatchObject(lost);
  });

  test('rejects what is cut into submits, and runs that wait for their turn', async () => {
    const { device } = await open();
    const { profile } = gpu();
    const limits = { ...profile.limits, maxStorageBufferBindingSize: 32768 };
    const gemm = await createGemm(device, { profile, limits });
    const problem = { m: 20, n: 37, k: 1001 };
    const plan = await gemm.plan(problem, { kernel: 'plain' });
    const operands = await operandsFor(device, problem);
    const runs = [1, 2, 3].map(() => plan.run(operands.buffers, { onProgress: () => device.destroy() }));
    for (const run of runs) await expect(run).rejects.toMatchObject(lost);
  });

  test('does not keep a new Gemm on a new device from working', async () => {
    const first = await open();
    first.device.destroy();
    const second = await open();
    const { failure } = await runProblem(second.gemm, small);
    expect(failure).toBeNull();
    second.device.destroy();
  });
});

describe('buffers that WebGPU refuses', () => {
  test("another device's", async () => {
    const other = await openTestGpu();
    const gemm = await newGemm();
    const plan = await gemm.plan(small);
    const operands = await operandsFor(gpu().device, small);
    const foreign = await operandsFor(other.device, small);
    const before = await readBuffer(gpu().device, operands.buffers.c);
    const mixed = { ...operands.buffers, b: foreign.buffers.b };
    await expect(plan.run(mixed)).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(plan.run(mixed)).rejects.toMatchObject({ code: 'invalid-argument' });
    expect(await readBuffer(gpu().device, operands.buffers.c)).toEqual(before);
    await plan.run(operands.buffers);
    expect(await operands.check()).toBeNull();
    other.close();
    operands.destroy();
    plan.destroy();
  });

  test('destroyed ones', async () => {
    const gemm = await newGemm();
    const plan = await gemm.plan(small);
    const operands = await operandsFor(gpu().device, small);
    operands.buffers.a.destroy();
    await expect(plan.run(operands.buffers)).rejects.toMatchObject({ code: 'invalid-argument' });
    operands.destroy();
    plan.destroy();
  });
});
