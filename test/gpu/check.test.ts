/** Kernels that are wrong on purpose: each fault is found on a real device, and the same kernel without it passes. */
import { describe, expect, test } from 'vitest';
import { naive } from '../../src/ladder/1-naive.ts';
import { climb } from '../../src/ladder/climb.ts';
import type { Rung, RungProgram } from '../../src/ladder/rung.ts';
import { useTestGpu } from './device.ts';
import { multiply, operandsOf } from './multiply.ts';

const gpu = useTestGpu();
const shape = { m: 20, n: 20, k: 64 };

const STORE = 'c[row * shape.n + col] = sum;';
const LEFT = 'a[row * K + k]';
const RIGHT = 'b[k * shape.n + col]';

/** The naive rung with a piece of its WGSL replaced. */
const faulty = (from: string, to: string): Rung => ({
  ...naive,
  build: (...given) => {
    const program = naive.build(...given);
    const [pass] = program.passes;
    expect(pass.wgsl).toContain(from);
    return { ...program, passes: [{ ...pass, wgsl: pass.wgsl.replace(from, to) }] };
  },
});

/** A float without the bits that an f16 has no place for. */
const narrow = (value: string) => `bitcast<f32>(bitcast<u32>(${value}) & 0xffffe000u)`;

const FAULTS: readonly (readonly [what: string, from: string, to: string, failure: RegExp])[] = [
  [
    'a cell that is not written',
    STORE,
    `if (row != 3 || col != 4) { ${STORE} }`,
    /^element 64 of C was never written$/,
  ],
  [
    'a write behind C',
    STORE,
    `${STORE} c[shape.m * shape.n + 5] = sum;`,
    /^element 405, which is outside C, was written$/,
  ],
  [
    'NaN',
    STORE,
    `if (row == 5 && col == 5) { sum = bitcast<f32>(0x7fc00000u + row); } ${STORE}`,
    /^C\[5, 5\] is NaN/,
  ],
  ['a transposed result', STORE, 'c[col * shape.n + row] = sum;', /times the allowed error$/],
  [
    'one cell from the wrong column',
    RIGHT,
    'b[k * shape.n + col + u32(row == 7 && col == 7)]',
    /^C\[7, 7\] is .* times/,
  ],
  ['the last step of k left out', 'k < K', 'k + 1 < K', /times the allowed error$/],
  ['A narrowed to f16', LEFT, narrow(LEFT), /times the allowed error$/],
  ['B narrowed to f16', RIGHT, narrow(RIGHT), /times the allowed error$/],
];

describe('a kernel with a fault is found out', () => {
  test('without one it passes', async () => {
    const { failure } = await multiply(gpu(), faulty(STORE, STORE), shape, ...operandsOf(shape));
    expect(failure).toBeNull();
  });

  test.each(FAULTS)('%s', async (_, from, to, expected) => {
    const { failure } = await multiply(gpu(), faulty(from, to), shape, ...operandsOf(shape));
    expect(failure).toMatch(expected);
  });
});

describe('a climb', () => {
  const climbWith = (rung: Rung) => {
    const { device, profile } = gpu();
    return climb(device, { shape, rungs: [rung], profile, minTime: 10 });
  };
  const unknown = { ms: null, spread: null, gflops: null };

  test('measures a rung that is right', async () => {
    const { timer, rungs } = await climbWith(naive);
    expect(timer.kind).toBe('gpu-timestamp');
    expect(timer.resolutionNs).toBeLessThanOrEqual(1000);
    const [{ status, reason, ms, gflops, relErr, worst, compileMs }] = rungs;
    expect({ status, reason }).toEqual({ status: 'ok', reason: null });
    expect(gflops).toBeCloseTo((2 * 20 * 20 * 64) / ms! / 1e6);
    for (const known of [ms, relErr, worst, compileMs]) expect(known).toBeGreaterThan(0);
  });

  test('times preparing passes beside a rung, or within it', async () => {
    const twice = (preparation: RungProgram['preparation']): Rung => ({
      ...naive,
      build: (...given) => {
        const program = naive.build(...given);
        return {
          ...program,
          preparation,
          passes: [{ ...program.passes[0], label: 'first' }, ...program.passes],
        };
      },
    });
    const passes = [{ label: 'first', ms: expect.any(Number) }];
    const [beside] = (await climbWith(twice('beside'))).rungs;
    expect(beside).toMatchObject({ status: 'ok', prepare: passes });
    expect(beside).not.toHaveProperty('within');
    const [within] = (await climbWith(twice('within'))).rungs;
    expect(within).toMatchObject({ status: 'ok', prepare: [], within: passes });
  });

  test('withholds the numbers of one that is wrong', async () => {
    const { rungs } = await climbWith(faulty(STORE, `if (row != 3) { ${STORE} }`));
    expect(rungs[0]).toMatchObject({
      status: 'wrong',
      reason: 'element 60 of C was never written',
      ...unknown,
    });
  });

  test('goes on past one that does not compile, and says where it does not', async () => {
    const { rungs } = await climbWith(faulty('var sum = 0.0;', 'var sum = nothing;'));
    expect(rungs[0]).toMatchObject({ status: 'failed', ...unknown, compileMs: null });
    expect(rungs[0].reason).toMatch(/^naive, line \d+: .*nothing.* — var sum = nothing;$/);
  });

  test('says what the device lacks', async () => {
    const { rungs } = await climbWith({ ...naive, missing: () => 'no such units' });
    expect(rungs[0]).toMatchObject({
      status: 'unsupported',
      reason: 'no such units',
      ...unknown,
      worst: null,
    });
  });

  test('ends when it is aborted', async () => {
    const { device, profile } = gpu();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(climb(device, { shape, rungs: [naive], profile, minTime: 10, signal })).rejects.toThrow(
      'enough',
    );
  });

  test.each([
    ['invalid-size', { ...shape, n: 0 }],
    ['invalid-size', { ...shape, k: 1.5 }],
    ['too-large', { ...shape, m: 2 ** 30 }],
  ])('refuses a shape with %s', async (code, bad) => {
    const { device, profile } = gpu();
    await expect(climb(device, { shape: bad, rungs: [naive], profile, minTime: 10 })).rejects.toMatchObject({
      code,
    });
  });
});
