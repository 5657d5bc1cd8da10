/** Random problems as a caller might ask for them, with the kernel that the library chooses. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGemm } from '../../src/gemm.ts';
import type { ProblemOptions } from '../../src/problem.ts';
import { driver, halfFloats, useTestGpu } from './device.ts';
import { runProblem } from './gemm.ts';

const gpu = useTestGpu();

const size = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 2, 31, 32, 33, 64, 65, 127, 128, 129, 256) },
);
const pad = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 9 }));
const types = ['f32', 'i8', ...(halfFloats ? (['f16'] as const) : [])] as const;

/** The kinds vary little: each of them is code of its own, which takes a software GPU seconds to compile. */
const problems = fc
  .record({
    ...{ m: size, n: size, k: size, batch: fc.constantFrom(1, 1, 2, 5) },
    ...{ type: fc.constantFrom(...types), trans: fc.constantFrom('NN', 'TT'), plain: fc.boolean() },
    ...{ padA: pad, padB: pad, padC: pad, offsetA: pad, offsetB: pad, offsetC: pad },
    ...{ gapA: pad, gapC: pad, shareB: fc.boolean() },
  })
  // A product of the largest sizes, five at a time, would take the float64 reference half a minute.
  .filter(({ m, n, k, batch }) => m * n * k * batch < 1.2e7)
  .map(({ trans, plain, padA, padB, padC, gapA, gapC, shareB, type, ...rest }): ProblemOptions => {
    const { m, n, k, offsetA, offsetC } = rest;
    const transposed = trans === 'TT';
    const [lda, ldb, ldc] = [(transposed ? m : k) + padA, (transposed ? k : n) + padB, n + padC];
    return {
      ...{ ...rest, type, transA: transposed, transB: transposed },
      ...{ lda: Math.max(1, lda), ldb: Math.max(1, ldb), ldc: Math.max(1, ldc), offsetA, offsetC },
      strideA: (transposed ? k : m) * lda + gapA,
      strideB: shareB ? 0 : (transposed ? n : k) * ldb,
      strideC: m * ldc + gapC,
      ...(plain ? {} : { alpha: 2, beta: -1, bias: 'row', activation: 'relu', residual: true }),
    };
  });

test('any problem: sizes of 0 to 300, strides, offsets, batches', async () => {
  const { device, profile } = gpu();
  const gemm = await createGemm(device, { profile });
  const used = new Set<string | null>();
  await fc.assert(
    fc.asyncProperty(problems, async problem => {
      const { failure, plan } = await runProblem(gemm, problem);
      used.add(plan.explain().kernel);
      expect(failure, JSON.stringify(problem)).toBeNull();
    }),
    // Each is likely to be compiled anew, which SwiftShader takes a second for.
    { numRuns: driver === 'lavapipe-26' ? 60 : 25, seed: 2026 },
  );
  gemm.destroy();
  expect([...used].length).toBeGreaterThan(2);
});
