/** Tiles of few rows or columns, which plain sums make, of f16 on matrix units; split-f32.test.ts has them of f32. */
import { describe, expect, test } from 'vitest';
import { Executable } from '../../src/device/executable.ts';
import { subgroupMatrix } from '../../src/kernels/subgroup-matrix.ts';
import { normalize, type ProblemOptions } from '../../src/problem.ts';
import { runChecked } from '../../src/selfcheck.ts';
import { driver, useTestGpu } from './device.ts';

const gpu = useTestGpu();

/** Both packed, in steps of one matrix of 8×8×8; 4 subgroups. */
const TILE = {
  bm: 32,
  bn: 32,
  bk: 8,
  sm: 16,
  sn: 16,
  stages: 2,
  prefetch: 1,
  pack: 1,
  still: 0,
  config: 0,
  slices: 1,
};

const EDGES = /tile\.(row|col) \+ B[MN] > params/g;

// Other drivers have no matrices of f16.
describe.runIf(driver === 'lavapipe-26')('few rows or columns', () => {
  const cases: readonly {
    what: string;
    params?: object;
    problem: Partial<ProblemOptions>;
    few: number;
    software?: boolean;
  }[] = [
    { what: 'columns', problem: { m: 40, n: 65 }, few: 1 },
    { what: 'four rows', problem: { m: 36, n: 72, transB: true }, few: 1 },
    { what: 'both, in ways', params: { ways: 2 }, problem: { m: 34, n: 35, transA: true }, few: 2 },
    {
      what: 'both, in slices, of a batch',
      params: { slices: 2 },
      problem: { m: 33, n: 36, batch: 2 },
      few: 2,
    },
    { what: 'two words of a thread', params: { sm: 32 }, problem: { m: 33, n: 34 }, few: 2 },
    {
      what: 'steps written out, and some left over',
      software: false,
      problem: { m: 34, n: 33, k: 205 },
      few: 2,
    },
    { what: 'five of them', problem: { m: 37, n: 69 }, few: 0 },
  ];
  test.each(cases)('$what', async ({ params, problem: options, few, software = true }) => {
    const { device, profile } = gpu();
    const problem = normalize({ m: 0, n: 0, k: 51, type: 'f16', cType: 'f16', ...options });
    const program = subgroupMatrix.build(problem, { ...profile, software }, { ...TILE, ...params });
    const own = program.passes.find(({ label }) => label === 'subgroup-matrix');
    expect(own?.wgsl.match(EDGES)?.length ?? 0).toBe(few);
    const executable = await Executable.create(device, program);
    const failure = await runChecked(device, executable, problem, subgroupMatrix.arithmetic(problem));
    executable.destroy();
    expect(failure).toBe(null);
  });
});
