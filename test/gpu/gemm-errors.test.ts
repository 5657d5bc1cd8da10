/** Bad input is refused before anything is encoded, each with one clear error. */
import { describe, expect, test } from 'vitest';
import { createGemm } from '../../src/gemm.ts';
import type { PlanBuffers } from '../../src/operands.ts';
import type { PlanOptions } from '../../src/plan.ts';
import type { ProblemOptions } from '../../src/problem.ts';
import { PLAIN } from '../unit/profiles.ts';
import { useTestGpu } from './device.ts';

const gpu = useTestGpu();
const newGemm = () => createGemm(gpu().device, { profile: gpu().profile });
const size = { m: 64, n: 64, k: 64 };
const STORAGE = 0x80;
const COPY_DST = 0x8;

describe('buffers', () => {
  type Make = (bytes: number, usage?: number) => GPUBuffer;
  const cases: [
    string,
    (good: Required<Pick<PlanBuffers, 'a' | 'b' | 'c'>>, make: Make) => PlanBuffers,
    string,
    RegExp,
  ][] = [
    ['missing', ({ a, b }) => ({ a, b }), 'invalid-argument', /the buffer c is missing/],
    [
      'too small',
      (good, make) => ({ ...good, b: make(16380) }),
      'shape-mismatch',
      /b has 16380 bytes.*16384/,
    ],
    ['without usage', (good, make) => ({ ...good, a: make(16384, COPY_DST) }), 'invalid-argument', /STORAGE/],
    [
      'misaligned',
      (good, make) => ({ ...good, a: { buffer: make(20000), offset: 4 } }),
      'invalid-argument',
      /a starts at byte 4/,
    ],
    [
      'a fractional offset',
      (good, make) => ({ ...good, a: { buffer: make(20000), offset: 0.5 } }),
      'invalid-argument',
      /a starts at byte 0.5/,
    ],
    [
      'a view past the end',
      (good, make) => ({ ...good, a: { buffer: make(16384), offset: 256, size: 16384 } }),
      'shape-mismatch',
      /outside its buffer/,
    ],
    [
      'a view that is too small',
      (good, make) => ({ ...good, a: { buffer: make(32768), size: 256 } }),
      'shape-mismatch',
      /a has 256 bytes/,
    ],
    ['C is A', ({ a, b }) => ({ a, b, c: a }), 'invalid-argument', /a overlaps it in memory/],
    ['C is B', ({ a, b }) => ({ a, b, c: b }), 'invalid-argument', /b overlaps it in memory/],
    [
      'C and A in one buffer',
      (good, make) => {
        const buffer = make(32768);
        return { ...good, a: { buffer, size: 16384 }, c: { buffer, offset: 16384 } };
      },
      'invalid-argument',
      /a lies in the same buffer/,
    ],
    [
      'a typed array',
      good => ({ ...good, a: new Float32Array(4096) as never }),
      'invalid-argument',
      /not a GPUBuffer/,
    ],
  ];
  test.each(cases)('%s', async (_, choose, code, message) => {
    const { device } = gpu();
    const gemm = await newGemm();
    const plan = await gemm.plan(size);
    const made: GPUBuffer[] = [];
    const make: Make = (bytes, usage = STORAGE) => {
      made.push(device.createBuffer({ size: bytes, usage }));
      return made[made.length - 1];
    };
    const buffers = choose({ a: make(16384), b: make(16384), c: make(16384) }, make);
    const expected = {
      name: 'GemmError',
      code,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/\w/),
    };
    const encoder = device.createCommandEncoder();
    expect(() => plan.encode(encoder, buffers)).toThrow(expect.objectContaining(expected));
    await expect(plan.run(buffers)).rejects.toMatchObject(expected);
    device.queue.submit([encoder.finish()]);
    for (const buffer of made) buffer.destroy();
    plan.destroy();
  });

  test('A and B may be one buffer', async () => {
    const { device } = gpu();
    const gemm = await newGemm();
    const plan = await gemm.plan(size);
    const [a, c] = [1, 2].map(() => device.createBuffer({ size: 16384, usage: STORAGE }));
    await plan.run({ a, b: a, c });
    a.destroy();
    c.destroy();
  });
});

describe('problems', () => {
  const cases: [string, ProblemOptions, PlanOptions, string][] = [
    ['a negative size', { ...size, m: -1 }, {}, 'invalid-size'],
    ['a fractional size', { ...size, n: 2.5 }, {}, 'invalid-size'],
    ['no number', { ...size, k: Number.NaN }, {}, 'invalid-size'],
    ['an infinite size', { ...size, k: Number.POSITIVE_INFINITY }, {}, 'invalid-size'],
    ['rows that overlap', { ...size, lda: 63 }, {}, 'shape-mismatch'],
    ['too many elements', { m: 70000, n: 1, k: 70000 }, {}, 'too-large'],
    ['an unknown kernel', size, { kernel: 'fastest' }, 'invalid-argument'],
    ['an unknown activation', { ...size, activation: 'softmax' as never }, {}, 'invalid-argument'],
  ];
  test.each(cases)('%s', async (_, problem, options, code) => {
    const gemm = await newGemm();
    await expect(gemm.plan(problem, options)).rejects.toMatchObject({ name: 'GemmError', code });
    expect(() => gemm.explain(problem, options)).toThrow(expect.objectContaining({ code }));
  });

  test('f16 without the feature', async () => {
    const gemm = await createGemm(gpu().device, { profile: PLAIN });
    await expect(gemm.plan({ ...size, type: 'f16' })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('shader-f16'),
    });
  });

  test('a Gemm that was destroyed', async () => {
    const gemm = await newGemm();
    const plan = await gemm.plan(size);
    gemm.destroy();
    await expect(gemm.plan(size)).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(plan.run({})).rejects.toMatchObject({ code: 'invalid-argument' });
    const one = new Float32Array(1);
    await expect(gemm.matmul(one, one, { m: 1, n: 1, k: 1 })).rejects.toMatchObject({
      code: 'invalid-argument',
    });
  });
});
