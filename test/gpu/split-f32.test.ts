/**
 * split-f32 on lines of very different sizes, with NaN and infinity among them: every way in which it gives a line its scale, takes
 * it off again, and adds up what it has split.
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
const TILE = { bm: 32, bn: 32, bk: 8, sm: 16, sn: 16, stages: 2, pack: 1, still: 0, apart: 0, slices: 1 };

/** The passes that it took. */
async function run(
  options: ProblemOptions,
  params: Params,
  edit: (host: HostOperands) => void,
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

/** The largest element of a line, and one that is put into it. No product of two overflows. */
const LINES: readonly (readonly [largest: number, one?: number])[] = [
  [1],
  [1e-30],
  [1e14],
  [500],
  [1, Number.NaN],
  [0.01],
  [0],
  [1e-6],
  [1, Number.POSITIVE_INFINITY],
  [1e5],
  [1e-3, Number.NEGATIVE_INFINITY],
];

interface Case {
  readonly what: string;
  readonly params: Params;
  readonly passes: readonly string[];
  readonly m?: number;
  readonly n?: number;
  readonly batch?: number;
  readonly transA?: boolean;
  readonly transB?: boolean;
}

// Other drivers have no matrices of f16.
describe.runIf(driver === 'lavapipe-26')('lines of many sizes', () => {
  // Neither rows nor columns are whole tiles, nor is K whole flushes.
  const [m, n, k] = [40, 72, 104];
  const both = ['split A and B', 'split-f32'];
  const onlyA = ['split A, scale B', 'split-f32'];
  // Each takes seconds to compile.
  const cases: readonly Case[] = [
    { what: 'flushes', params: { prefetch: 1, flush: 16 }, passes: both },
    {
      what: 'small products apart',
      params: { prefetch: 2, apart: 1, flush: 32 },
      passes: both,
      transA: true,
    },
    { what: 'the same, no flush', params: { prefetch: 2, apart: 1, flush: 0 }, passes: both },
    { what: 'ways', params: { prefetch: 2, ways: 2, apart: 1, flush: 16 }, passes: both, transB: true },
    { what: 'slices', params: { prefetch: 1, slices: 3, apart: 1 }, passes: [...both, 'reduce'] },
    { what: 'B split on its way', params: { prefetch: 2, pack: 2 }, passes: onlyA },
    { what: 'the same, slices', params: { prefetch: 1, pack: 2, slices: 2 }, passes: [...onlyA, 'reduce'] },
    {
      what: 'one stage',
      params: { stages: 1, bk: 16, prefetch: 1 },
      passes: both,
      transA: true,
      transB: true,
    },
    { what: 'few columns, few rows', params: { prefetch: 1 }, passes: both, m: 66, n: 33 },
    {
      what: 'few rows, whole columns',
      params: { prefetch: 2, apart: 1 },
      passes: both,
      m: 35,
      n: 96,
      transA: true,
    },
    {
      what: 'few of both, stored in fours',
      params: { prefetch: 2 },
      passes: both,
      m: 36,
      n: 68,
      transB: true,
    },
    {
      what: 'few of both, slices',
      params: { prefetch: 1, slices: 2 },
      passes: [...both, 'reduce'],
      m: 33,
      n: 67,
    },
    { what: 'few of both, a batch', params: { prefetch: 1 }, passes: both, m: 33, n: 33, batch: 3 },
  ];
  test.each(cases)('$what', async ({ params, passes, ...problem }) => {
    const { transA = false, transB = false, batch = 1 } = problem;
    const size = { m, n, k, ...problem };
    const fill = ({ a, b }: HostOperands) => {
      const lineOf = (line: number, put: (at: number, value: number) => void) => {
        const [largest, one] = LINES[line % LINES.length];
        // Neither all alike, nor all of one sign.
        for (let at = 0; at < k; at++) put(at, largest * (((at * 7 + line * 3) % 11) / 8 - 0.5));
        if (one !== undefined) put((line * 5) % k, one);
      };
      for (let copy = 0; copy < batch; copy++) {
        for (let row = 0; row < size.m; row++)
          lineOf(row + copy, (at, value) => {
            a[copy * size.m * k + (transA ? at * size.m + row : row * k + at)] = value;
          });
        // Columns stand in another order, so that a line meets others than its like.
        for (let col = 0; col < size.n; col++)
          lineOf(col * 4 + 3, (at, value) => {
            b[copy * k * size.n + (transB ? col * k + at : at * size.n + col)] = value;
          });
      }
    };
    expect(await run(size, { ...TILE, ...params }, fill)).toEqual(passes);
  });
});
