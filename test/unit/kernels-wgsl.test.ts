/** The library's shaders on devices that no machine here has: they compile, and a change to them is seen. */
import { beforeAll, describe, expect, test } from 'vitest';
import { KERNELS } from '../../src/kernels/index.ts';
import { normalize, type ProblemOptions } from '../../src/problem.ts';
import type { Profile } from '../../src/profile.ts';
import { brokenLimit } from '../../src/program.ts';
import { expectToCompile, openNullDevice } from './null-device.ts';
import { AMD_64, APPLE, INTEL, NVIDIA, NVIDIA_16K, PLAIN } from './profiles.ts';

const PROBLEMS: readonly ProblemOptions[] = (['f32', 'f16', 'i8'] as const).flatMap(type => [
  { m: 512, n: 512, k: 512, type },
  { m: 256, n: 512, k: 128, type, transA: true },
  { m: 256, n: 512, k: 128, type, transB: true },
  {
    m: 301,
    n: 203,
    k: 407,
    type,
    transA: true,
    transB: true,
    bias: 'row',
    activation: 'relu',
    beta: 1,
    residual: true,
  },
  { m: 3, n: 512, k: 512, type, batch: 2 },
]);

describe('every candidate of every kernel compiles for', () => {
  let open: Awaited<ReturnType<typeof openNullDevice>>; // has to stay reachable as long as its device is in use
  beforeAll(async () => {
    open = await openNullDevice([...APPLE.features, ...INTEL.features]);
  });

  test.each<[string, Profile]>([
    ['a device without features', PLAIN],
    ['Apple: f32 matrices of 8×8×8', APPLE],
    ['NVIDIA', NVIDIA],
    ['NVIDIA with 16 KiB', NVIDIA_16K],
    ['Intel: matrices of 8×16×16, a pinned subgroup size', INTEL],
    ['AMD: subgroups of 64', AMD_64],
  ])('%s', async (_, profile) => {
    const seen = new Set<string>();
    for (const options of PROBLEMS) {
      const problem = normalize(options);
      for (const kernel of KERNELS.filter(({ rejects }) => rejects(problem, profile) === null)) {
        // What only the tuner tries: operands that split-f32 splits as they lie.
        const tried = (kernel.space?.(problem, profile) ?? []).filter(
          ({ pack, slices }) => pack === 0 && slices < 4,
        );
        const further = kernel.name === 'split-f32' ? tried : [];
        for (const params of [...kernel.candidates(problem, profile), ...further]) {
          const program = kernel.build(problem, profile, params);
          if (brokenLimit(program, profile) !== null) continue;
          for (const { wgsl } of program.passes) {
            if (seen.has(wgsl)) continue;
            seen.add(wgsl);
            const label = `${kernel.name} ${JSON.stringify(params)} for ${JSON.stringify(options)}`;
            await expectToCompile(open.device, wgsl, label);
          }
        }
      }
    }
    expect(seen.size).toBeGreaterThan(5);
  });
});

describe('the WGSL of', () => {
  test.each([
    ['register-tile', '', { m: 512, n: 512, k: 512 }, { bm: 64, bn: 64, bk: 16, tm: 4, tn: 4, slices: 1 }],
    [
      'subgroup-matrix',
      '',
      { m: 512, n: 512, k: 512, type: 'f16' },
      { bm: 64, bn: 64, bk: 32, sm: 32, sn: 32, prefetch: 0, slices: 1, pack: 0, config: 0 },
    ],
    [
      'split-f32',
      '',
      { m: 512, n: 512, k: 512 },
      { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, prefetch: 0, slices: 1, pack: 1 },
    ],
    [
      'split-f32',
      '-pipeline',
      { m: 512, n: 512, k: 512 },
      { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, slices: 1, pack: 2 },
    ],
    [
      'split-f32',
      '-apart',
      { m: 512, n: 512, k: 512 },
      { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, slices: 1, pack: 1, apart: 1 },
    ],
    [
      'subgroup-matrix',
      '-few',
      { m: 513, n: 514, k: 512, type: 'f16' },
      { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, slices: 1, pack: 1, config: 0 },
    ],
    ['gemv', '', { m: 1, n: 512, k: 512 }, { lanes: 8, slices: 1 }],
  ] as const)('%s%s', async (name, variant, options, params) => {
    const kernel = KERNELS.find(candidate => candidate.name === name)!;
    const { wgsl } = kernel
      .build(normalize(options), NVIDIA, params)
      .passes.find(({ label }) => label === name)!;
    await expect(wgsl).toMatchFileSnapshot(`wgsl/kernel-${name}${variant}.wgsl`);
  });
});
