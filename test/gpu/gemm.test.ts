/** What a caller does with a Gemm on their own device: plans, their own encoders and passes, their own memory. */
import { describe, expect, test } from 'vitest';
import { choose } from '../../src/choose.ts';
import { createGemm } from '../../src/gemm.ts';
import { KERNELS } from '../../src/kernels/index.ts';
import { normalize, type ProblemOptions } from '../../src/problem.ts';
import { checkedProblem } from '../../src/selfcheck.ts';
import { useTestGpu } from './device.ts';
import { operandsFor, runProblem } from './gemm.ts';

const gpu = useTestGpu();
const newGemm = () => createGemm(gpu().device, { profile: gpu().profile });
const small = { m: 33, n: 18, k: 17 };

describe('encode', () => {
  test("into the caller's encoder, which the caller submits", async () => {
    const { device } = gpu();
    const gemm = await newGemm();
    const plan = await gemm.plan(small);
    const operands = await operandsFor(device, small);
    const encoder = device.createCommandEncoder();
    plan.encode(encoder, operands.buffers);
    device.queue.submit([encoder.finish()]);
    expect(await operands.check()).toBeNull();
    operands.destroy();
    plan.destroy();
  });

  test("into the caller's pass, several in a row, one of which reads what another made", async () => {
    const { device } = gpu();
    const gemm = await newGemm();
    const square = { m: 20, n: 20, k: 20 };
    const plan = await gemm.plan(square);
    const first = await operandsFor(device, square, 1);
    const second = await operandsFor(device, square, 2);
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    plan.encode(pass, first.buffers);
    plan.encode(pass, { ...second.buffers, a: first.buffers.c });
    plan.encode(pass, second.buffers);
    pass.end();
    device.queue.submit([encoder.finish()]);
    expect(await first.check()).toBeNull();
    expect(await second.check()).toBeNull();
    first.destroy();
    second.destroy();
    plan.destroy();
  });

  test('submits nothing and makes nothing for buffers that it knows', async () => {
    const { device } = gpu();
    const gemm = await newGemm();
    const plan = await gemm.plan(small);
    const sets = await Promise.all([1, 2, 3].map(seed => operandsFor(device, small, seed)));
    const encoder = device.createCommandEncoder();
    for (const { buffers } of sets) plan.encode(encoder, buffers);
    const made: string[] = [];
    const watched = [
      'createBuffer',
      'createBindGroup',
      'createCommandEncoder',
      'createShaderModule',
    ] as const;
    const originals = watched.map(name => device[name]);
    for (const [index, name] of watched.entries()) {
      device[name] = ((...args: unknown[]) => {
        made.push(name);
        return Reflect.apply(originals[index], device, args);
      }) as never;
    }
    for (const { buffers } of sets) plan.encode(encoder, buffers);
    for (const name of watched) delete (device as unknown as Record<string, unknown>)[name];
    expect(made).toEqual([]);
    device.queue.submit([encoder.finish()]);
    for (const operands of sets) expect(await operands.check()).toBeNull();
    for (const operands of sets) operands.destroy();
  });
});

describe('nothing to compute', () => {
  test.each<ProblemOptions>([
    { m: 0, n: 5, k: 3 },
    { m: 5, n: 0, k: 3 },
    { m: 5, n: 5, k: 3, batch: 0 },
  ])('%o needs no buffers', async problem => {
    const gemm = await newGemm();
    const plan = await gemm.plan(problem);
    await plan.run({});
    plan.encode(gpu().device.createCommandEncoder(), {});
    expect(plan.explain().kernel).toBeNull();
    expect(plan.explain().toString()).toContain('nothing to compute');
  });

  test('k = 0 finishes C without A and B', async () => {
    const gemm = await newGemm();
    const problem = { m: 5, n: 7, k: 0, beta: 2, bias: 'row', activation: 'relu' } as const;
    const { failure } = await runProblem(gemm, problem);
    expect(failure).toBeNull();
  });
});

test.each(['plain', 'register-tile'])(
  'an expression is about one cell, also where %s stores four at once',
  async kernel => {
    const problem = { m: 34, n: 24, k: 9, batch: 2, epilogue: 'value + f32(100 * row + 10 * col + batch)' };
    const epilogue = (value: number, row: number, col: number, batch: number) =>
      value + 100 * row + 10 * col + batch;
    const { failure } = await runProblem(await newGemm(), problem, { kernel, epilogue });
    expect(failure).toBeNull();
  },
);

describe('plans', () => {
  test('of the same kind share pipelines, also when they are made at the same time', async () => {
    const { device } = gpu();
    const gemm = await newGemm();
    (await gemm.plan({ m: 30, n: 30, k: 30 }, { kernel: 'plain' })).destroy();
    const original = device.createComputePipelineAsync;
    let compiled = 0;
    device.createComputePipelineAsync = (...args) => {
      compiled++;
      return Reflect.apply(original, device, args);
    };
    const plans = await Promise.all(
      [31, 47, 300].map(m => gemm.plan({ m, n: 30, k: 30 }, { kernel: 'plain' })),
    );
    delete (device as unknown as Record<string, unknown>).createComputePipelineAsync;
    expect(compiled).toBe(0);
    for (const plan of plans) plan.destroy();
  });

  test.each(['plain', 'split-k', 'register-tile'])(
    'of a new kind compile each pass of %s once, the first-use check included',
    async kernel => {
      const { device } = gpu();
      const gemm = await newGemm();
      const original = device.createComputePipelineAsync;
      let compiled = 0;
      device.createComputePipelineAsync = (...args) => {
        compiled++;
        return Reflect.apply(original, device, args);
      };
      const problem = { m: 130, n: 140, k: 1100, activation: { clip: [-1, 1] } } as const;
      const plan = await gemm.plan(problem, { kernel });
      delete (device as unknown as Record<string, unknown>).createComputePipelineAsync;
      expect(compiled).toBe(plan.wgsl().length);
      plan.destroy();
    },
  );

  test('the same plan gives the same bits every time', async () => {
    const { device } = gpu();
    const gemm = await newGemm();
    const plan = await gemm.plan(small);
    const operands = await operandsFor(device, small);
    await plan.run(operands.buffers);
    expect(await operands.check()).toBeNull();
    for (let i = 0; i < 20; i++) await plan.run(operands.buffers);
    expect(await operands.check()).toBeNull();
    operands.destroy();
    plan.destroy();
    await expect(plan.run(operands.buffers)).rejects.toMatchObject({ code: 'invalid-argument' });
  });

  test('show their WGSL', async () => {
    const gemm = await newGemm();
    const plan = await gemm.plan(small, { kernel: 'plain' });
    expect(plan.wgsl()).toEqual([{ label: 'plain', wgsl: expect.stringContaining('@compute') }]);
    plan.destroy();
  });
});

describe('scratch memory', () => {
  const problem = { m: 64, n: 64, k: 1024 };
  const kernel = 'split-k';

  test("is the Gemm's, shared, and freed with the last plan", async () => {
    const gemm = await newGemm();
    const plans = [await gemm.plan(problem, { kernel }), await gemm.plan(problem, { kernel })];
    const { scratchBytes, scratch } = plans[0].explain();
    expect(scratch).toEqual({ partial: scratchBytes });
    expect(gemm.scratchBytes).toBe(scratchBytes);
    plans[0].destroy();
    expect(gemm.scratchBytes).toBe(scratchBytes);
    plans[1].destroy();
    expect(gemm.scratchBytes).toBe(0);
  });

  test("can be the caller's own, by the sizes that explain() gives", async () => {
    const { device } = gpu();
    const gemm = await newGemm();
    const { scratch } = gemm.explain(problem, { kernel });
    const buffer = device.createBuffer({ size: scratch.partial + 256, usage: GPUBufferUsage.STORAGE });
    const own = { partial: { buffer, offset: 256 } };
    const { failure } = await runProblem(gemm, problem, { kernel, scratch: own });
    expect(failure).toBeNull();
    const plan = await gemm.plan(problem, { kernel, scratch: own });
    expect(gemm.scratchBytes).toBe(0);
    plan.destroy();
    await expect(
      gemm.plan(problem, { kernel, scratch: { partial: { buffer, offset: 512 } } }),
    ).rejects.toMatchObject({ code: 'shape-mismatch' });
    buffer.destroy();
  });
});

/** These write K and row strides into their code, and are checked on a sibling with a small K. */
const OWN_CODE = ['subgroup-matrix', 'split-f32'];

describe('the first-use check runs the real code of', () => {
  const kinds: readonly ProblemOptions[] = [
    { m: 1000, n: 1000, k: 1000 },
    { m: 1024, n: 512, k: 4096, transB: true },
    { m: 777, n: 333, k: 555, transA: true },
    { m: 1, n: 5000, k: 3000 },
    { m: 4096, n: 3, k: 1000 },
    { m: 64, n: 64, k: 100000 },
    { m: 24, n: 24, k: 24, batch: 1000 },
    { m: 512, n: 512, k: 512, type: 'f16' },
    { m: 130, n: 65, k: 200, type: 'i8' },
    { m: 256, n: 256, k: 256, type: 'u8', transB: true },
  ];
  test.each(
    KERNELS.filter(({ name }) => !OWN_CODE.includes(name)).map(kernel => [kernel.name, kernel] as const),
  )('%s', (name, kernel) => {
    const { profile } = gpu();
    for (const options of kinds) {
      const problem = normalize(options);
      if (kernel.rejects(problem, profile) !== null) continue;
      const { params, program } = choose(problem, profile, { force: name }).ranked[0];
      const checked = checkedProblem(problem, profile, kernel, params);
      const source = checked && kernel.build(checked, profile, params).passes.map(({ wgsl }) => wgsl);
      expect(source, JSON.stringify(options)).toEqual(program.passes.map(({ wgsl }) => wgsl));
    }
  });
});

describe('f32 inputs on f16 matrix units', () => {
  const product = { m: 70, n: 50, k: 90 };

  test('are narrowed where the caller allows it, and checked as that', async ({ skip }) => {
    const { device, profile } = gpu();
    const halves = profile.matrixConfigs.some(({ componentType }) => componentType === 'f16');
    if (!halves) skip('the device has no matrices of f16');
    const gemm = await createGemm(device, { profile });
    const plan = await gemm.plan({ ...product, accuracy: 'f16' }, { kernel: 'subgroup-matrix' });
    expect(plan.explain().kernel).toBe('subgroup-matrix');
    plan.destroy();
    gemm.destroy();
  });

  test.each(['f32', 'strict'] as const)('are never narrowed with accuracy %s', async accuracy => {
    const { device, profile } = gpu();
    const gemm = await createGemm(device, { profile });
    const refused = expect.objectContaining({ code: 'unsupported' });
    await expect(gemm.plan({ ...product, accuracy }, { kernel: 'subgroup-matrix' })).rejects.toEqual(refused);
    gemm.destroy();
  });
});
