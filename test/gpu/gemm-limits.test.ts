/** Problems whose operands exceed a binding, and products that are cut into several submits. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createGemm } from '../../src/gemm.ts';
import type { ProblemOptions } from '../../src/problem.ts';
import { halfFloats, useTestGpu } from './device.ts';
import { operandsFor, runProblem } from './gemm.ts';

const gpu = useTestGpu();

/** A Gemm that may bind this many bytes at once. */
const gemmWith = (bytes: number) =>
  createGemm(gpu().device, { profile: gpu().profile, limits: { maxStorageBufferBindingSize: bytes } });

const half = halfFloats ? (['f16'] as const) : [];

const CASES: readonly (ProblemOptions & { readonly name: string; readonly pieces: number })[] = [
  { name: 'bands of M', m: 300, n: 21, k: 37, pieces: 3 },
  { name: 'bands of N, B transposed', m: 19, n: 300, k: 37, transB: true, pieces: 3 },
  { name: 'parts of K, B as it is', m: 20, n: 37, k: 301, pieces: 4 },
  { name: 'parts of K, A transposed', m: 33, n: 18, k: 301, transA: true, transB: true, pieces: 4 },
  { name: 'C alone is too large', m: 95, n: 95, k: 3, pieces: 2 },
  {
    name: 'parts of K with everything at the end',
    ...{ m: 20, n: 37, k: 301, alpha: 0.5, beta: 2, bias: 'column', activation: 'relu', residual: true },
    pieces: 4,
  },
  { name: 'a bias along bands of M', m: 300, n: 21, k: 37, bias: 'column', pieces: 3 },
  { name: 'a bias along bands of N', m: 19, n: 300, k: 37, transB: true, bias: 'row', pieces: 3 },
  { name: 'products of a batch', m: 20, n: 20, k: 20, batch: 30, pieces: 2 },
  { name: 'offsets and strides', m: 220, n: 21, k: 17, lda: 39, offsetA: 71, ldc: 45, offsetC: 3, pieces: 2 },
  { name: 'integers', type: 'i8', m: 100, n: 80, k: 500, pieces: 6 },
  ...half.map(type => ({ name: 'halves in parts of K', type, m: 20, n: 37, k: 701, pieces: 3, beta: 0.5 })),
];

describe('bindings of 32 KiB', () => {
  test.each(CASES)('$name', async ({ name: _, pieces, ...problem }) => {
    const gemm = await gemmWith(32768);
    const { failure, plan } = await runProblem(gemm, problem, { kernel: 'plain' });
    expect(failure).toBeNull();
    expect(plan.explain().pieces).toBe(pieces);
    expect(gemm.scratchBytes).toBe(0);
    gemm.destroy();
  });
});

test('any problem, any small binding', async () => {
  const size = fc.integer({ min: 1, max: 60 });
  const pad = fc.integer({ min: 0, max: 5 });
  const problems = fc.record({
    ...{ m: size, n: size, k: size, batch: fc.integer({ min: 1, max: 3 }) },
    // Few kinds, since each of them takes a software GPU seconds to compile.
    ...{ transA: fc.boolean(), transB: fc.boolean(), beta: fc.constant(0.5), residual: fc.constant(true) },
    ...{ type: fc.constantFrom('f32' as const, ...half), padA: pad, padB: pad, padC: pad },
    ...{ offsetA: fc.integer({ min: 0, max: 150 }), offsetB: pad, offsetC: pad },
  });
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(problems, fc.integer({ min: 300, max: 2000 }), async (options, words) => {
      const { padA, padB, padC, m, n, k, ...rest } = options;
      const problem = {
        ...{ ...rest, m, n, k },
        lda: (rest.transA ? m : k) + padA,
        ldb: (rest.transB ? k : n) + padB,
        ldc: n + padC,
      };
      const { failure, plan } = await runProblem(await gemmWith(words * 4), problem, { kernel: 'plain' });
      if (plan.explain().pieces > 1) cut++;
      expect(failure).toBeNull();
    }),
    { numRuns: 40, seed: 2026 },
  );
  expect(cut).toBeGreaterThan(15);
});

test('an expression counts rows, columns and products of the whole problem', async () => {
  const gemm = await gemmWith(32768);
  const problem = {
    m: 300,
    n: 21,
    k: 37,
    batch: 2,
    epilogue: 'value + f32(row) - 2 * f32(col) + f32(batch)',
  };
  const epilogue = (value: number, row: number, col: number, batch: number) => value + row - 2 * col + batch;
  const { failure } = await runProblem(gemm, problem, { kernel: 'plain', epilogue });
  expect(failure).toBeNull();
});

test('what cannot be cut is refused, with the limit', async () => {
  const gemm = await gemmWith(32768);
  await expect(gemm.plan({ m: 10000, n: 2, k: 20000, bias: 'column' })).rejects.toMatchObject({
    code: 'too-large',
    message: expect.stringContaining('maxStorageBufferBindingSize'),
  });
});

test('plans that cut K run side by side without touching each other', async () => {
  const gemm = await gemmWith(32768);
  const problem = { m: 20, n: 37, k: 701, beta: 1 };
  const plans = await Promise.all([1, 2].map(() => gemm.plan(problem, { kernel: 'plain' })));
  const operands = await Promise.all([1, 2, 3].map(seed => operandsFor(gpu().device, problem, seed)));
  await Promise.all(operands.map(({ buffers }, index) => plans[index % 2].run(buffers)));
  for (const each of operands) {
    expect(await each.check()).toBeNull();
    each.destroy();
  }
  expect(gemm.scratchBytes).toBe(2 * plans[0].explain().scratchBytes);
  for (const plan of plans) plan.destroy();
  expect(gemm.scratchBytes).toBe(0);
});

test('the kernels that are chosen serve the pieces', async () => {
  const gemm = await gemmWith(32768);
  const { failure } = await runProblem(gemm, { m: 300, n: 40, k: 64 });
  expect(failure).toBeNull();
});

describe('long products', () => {
  // On a software GPU a submit starts with 2^24 operations.
  const long = { m: 200, n: 300, k: 301, bias: 'row', transA: true } as const;

  test('are cut into submits, and tell how far they are', async () => {
    const gemm = await createGemm(gpu().device, { profile: gpu().profile });
    const shares: number[] = [];
    const { failure, plan } = await runProblem(gemm, long, { onProgress: share => shares.push(share) });
    expect(failure).toBeNull();
    expect(plan.explain().pieces).toBe(1);
    expect(shares.length).toBeGreaterThan(1);
    expect(shares).toEqual([...shares].sort((x, y) => x - y));
    expect(shares.at(-1)).toBe(1);
  });

  test('are cut in M and N also where parts of K are added up', async () => {
    const gemm = await gemmWith(800 * 1024);
    const shares: number[] = [];
    const problem = { m: 190, n: 210, k: 1024, bias: 'row', activation: 'relu' } as const;
    const onProgress = (share: number) => shares.push(share);
    const { failure, plan } = await runProblem(gemm, problem, { kernel: 'plain', onProgress });
    expect(failure).toBeNull();
    expect(plan.explain().passes).toEqual(['plain', 'plain', 'reduce']);
    expect(shares.length).toBeGreaterThan(3);
  });

  test('stop when they are told to', async () => {
    const gemm = await createGemm(gpu().device, { profile: gpu().profile });
    const abort = new AbortController();
    const reason = new Error('changed my mind');
    const running = runProblem(gemm, long, { signal: abort.signal, onProgress: () => abort.abort(reason) });
    await expect(running).rejects.toBe(reason);
    expect(gemm.scratchBytes).toBe(0);
  });

  test('do not start when they were told to stop before', async () => {
    const gemm = await createGemm(gpu().device, { profile: gpu().profile });
    await expect(runProblem(gemm, { m: 2, n: 2, k: 2 }, { signal: AbortSignal.abort() })).rejects.toThrow(
      'aborted',
    );
  });
});

test.for(['plain', 'gemv', 'small-batched', 'register-tile'])(
  'more workgroups than a dimension of the grid may have: %s',
  async (kernel, { skip }) => {
    const { device, profile } = gpu();
    if (profile.architecture === 'swiftshader') skip('SwiftShader takes minutes for so many workgroups');
    const gemm = await createGemm(device, { profile });
    const { failure } = await runProblem(gemm, { m: 2, n: 2, k: 3, batch: 70001 }, { kernel });
    expect(failure).toBeNull();
    gemm.destroy();
  },
);
