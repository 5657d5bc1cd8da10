/**
 * split-f32 with operands that it splits on their way into workgroup memory, with scales that each workgroup finds: every
 * layout, and lines whose scale can't serve, or that tell little of it where they are looked at first.
 */
import { describe, expect, test } from 'vitest';
import { Executable } from '../../src/device/executable.ts';
import type { Params } from '../../src/kernels/kernel.ts';
import { splitF32 } from '../../src/kernels/split-f32.ts';
import type { HostOperands } from '../../src/measure/expected.ts';
import { normalize, type ProblemOptions } from '../../src/problem.ts';
import { runChecked } from '../../src/selfcheck.ts';
import { driver, useTestGpu } from './device.ts';

const gpu = useTestGpu();

/** Small enough to compile in seconds: tiles of 32×32, steps of one matrix of 8×8×8. */
const TILE = { bm: 32, bn: 32, bk: 8, sm: 16, sn: 16, stages: 2, pack: 0, still: 0 };

/** The passes that it took. */
async function run(
  options: ProblemOptions,
  params: Params,
  edit?: (host: HostOperands) => void,
): Promise<readonly string[]> {
  const { device, profile } = gpu();
  const problem = normalize({ ...options, type: 'f32' });
  const program = splitF32.build(problem, profile, params);
  const executable = await Executable.create(device, program);
  const failure = await runChecked(device, executable, problem, splitF32.arithmetic(problem), edit);
  executable.destroy();
  expect(failure).toBe(null);
  return program.passes.map(({ label }) => label);
}

// Other drivers have no matrices of f16.
describe.runIf(driver === 'lavapipe-26')('split-f32 splits operands as they lie', () => {
  const whole = { m: 64, n: 96, k: 128 };
  const ragged = { m: 40, n: 72, k: 104 }; // neither rows nor columns nor K are whole tiles
  const batched = { m: 48, n: 40, k: 72, batch: 2, strideB: 0 };
  // Each takes ten seconds to compile.
  const cases = [
    { transA: false, transB: false, size: batched, prefetch: 2, slices: 1, ways: 2 },
    { transA: false, transB: true, size: ragged, prefetch: 2, slices: 3 },
    { transA: true, transB: false, size: whole, prefetch: 1, slices: 1, stagger: 8 },
  ];
  test.each(cases)('%o', async ({ transA, transB, size, ...way }) => {
    const passes = await run({ ...size, transA, transB }, { ...TILE, ...way });
    expect(passes).toEqual(way.slices > 1 ? ['split-f32', 'reduce'] : ['split-f32']);
  });

  test('what does not lie in whole words is packed, with scales of its own', async () => {
    const params = { ...TILE, prefetch: 2, slices: 1 };
    expect(await run({ m: 40, n: 41, k: 48 }, params)).toEqual(['scale B', 'split B', 'split-f32']);
    expect(await run({ m: 40, n: 48, k: 44 }, { ...params, slices: 2 })).toEqual([
      'split A',
      'split-f32',
      'reduce',
    ]);
  });
});

/** Elements of a line: at its ends, where its scale is looked for, and between them. No product of two overflows. */
const LINES: readonly (readonly [ends: number, between: number])[] = [
  [0, 0],
  [0, 1],
  [0, 0.25],
  [0, 1e-6], // too small for the guess
  [0, 1e6], // too large for it
  [1, 500],
  [1, 1e5], // too large for the scale
  [1, 0.01],
  [1e-30, 1e-30],
  [1e14, 1e14],
  [Number.NaN, 1],
  [1, Number.NaN],
  [Number.POSITIVE_INFINITY, 1],
  [1, Number.NEGATIVE_INFINITY],
  [0, Number.NaN],
  [0, Number.POSITIVE_INFINITY],
  [1e20, 0],
  [0, 1e14],
];

describe.runIf(driver === 'lavapipe-26')('scales that do not serve are found out', () => {
  const [m, n, k] = [24, 32, 96];
  const layouts = [
    { slices: 1, transA: false, transB: false },
    { slices: 2, transA: true, transB: true },
  ];
  type Layout = (typeof layouts)[number];
  const runWith = ({ slices, ...layout }: Layout, edit: (host: HostOperands) => void) =>
    run({ m, n, k, ...layout }, { ...TILE, prefetch: 2, slices }, edit);
  const inA = ({ transA }: Layout, row: number, at: number) => (transA ? at * m + row : row * k + at);
  const inB = ({ transB }: Layout, at: number, col: number) => (transB ? col * k + at : at * n + col);

  test.each(layouts)('some elements are too large, %o', async layout => {
    await runWith(layout, ({ a, b }) => {
      for (const row of [2, 3, 23]) a[inA(layout, row, 27)] = 5000 * row;
      for (const col of [1, 7, 30]) b[inB(layout, 27, col)] = -3e5 * col;
      for (const at of [20, 21, 30, 70]) a[inA(layout, 5, at)] = 1e6 + at;
      b[inB(layout, 68, 9)] = Number.POSITIVE_INFINITY;
      b[inB(layout, 23, 10)] = Number.NaN;
      a[inA(layout, 7, 68)] = Number.NEGATIVE_INFINITY;
    });
  });

  test.each(layouts)('lines of many kinds, %o', async layout => {
    const { slices } = layout;
    const isBetween = (at: number) => {
      const inSlice = at % (k / slices);
      return inSlice >= 16 && inSlice < k / slices - 16;
    };
    await runWith(layout, ({ a, b }) => {
      for (const [line, [ends, between]] of LINES.entries()) {
        for (let at = 0; at < k; at++) {
          // Neither all alike, nor all of one sign.
          const factor = ((at * 7 + line * 3) % 11) / 8 - 0.5;
          const value = (isBetween(at) ? between : ends) * factor;
          a[inA(layout, line, at)] = value;
          // Columns stand in another order, so that a line meets others than its like.
          b[inB(layout, at, (line * 5 + 3) % n)] = value;
        }
      }
    });
  });
});
