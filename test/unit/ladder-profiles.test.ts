/** What rungs 8 and 8s make of devices that no machine here has. */
import { describe, expect, test } from 'vitest';
import { chooseMatrix, subgroupMatrix } from '../../src/ladder/8-subgroup-matrix.ts';
import { subgroupShuffle } from '../../src/ladder/8s-subgroup-shuffle.ts';
import { findRungs, RUNGS } from '../../src/ladder/rungs.ts';
import type { Profile } from '../../src/profile.ts';
import { brokenLimit } from '../../src/program.ts';
import { AMD_64, APPLE, deviceWith, INTEL, matrices, NVIDIA, NVIDIA_16K, PLAIN } from './profiles.ts';

const shape = { m: 100, n: 100, k: 100 };

const build = (profile: Profile) => {
  const program = subgroupMatrix.build(shape, profile);
  const { workgroups, threads, workgroupMemory } = program.passes[0];
  return { detail: program.detail, arithmetic: program.arithmetic, workgroups, threads, workgroupMemory };
};

describe('rung 8 takes its matrices from the device', () => {
  test.each([
    {
      name: 'Apple: f32 before f16',
      profile: APPLE,
      detail: 'f32→f32 8×8×8, 32 lanes',
      arithmetic: 'matrix-f32',
      workgroups: [4, 4, 1], // tiles of 32×32
      threads: 128,
      workgroupMemory: 3 * 32 * 32 * 4,
    },
    {
      name: 'NVIDIA: f32 results before f16, the largest matrix',
      profile: NVIDIA,
      detail: 'f16→f32 16×16×16, 32 lanes',
      arithmetic: 'matrix-f32',
      workgroups: [2, 2, 1], // tiles of 64×64
      threads: 128,
      workgroupMemory: 2 * 64 * 32 * 2 + 64 * 64 * 4,
    },
    {
      name: 'the same with 16 KiB of workgroup memory: the largest matrix that fits',
      profile: NVIDIA_16K,
      detail: 'f16→f32 16×8×16, 32 lanes',
      arithmetic: 'matrix-f32',
      workgroups: [4, 2, 1], // tiles of 64 rows × 32 columns
      threads: 128,
      workgroupMemory: (64 * 32 + 32 * 32) * 2 + 64 * 32 * 4,
    },
    {
      name: 'Intel: matrices that are not square, a pinned subgroup size',
      profile: INTEL,
      detail: 'f16→f32 8×16×16, 32 lanes',
      arithmetic: 'matrix-f32',
      workgroups: [2, 4, 1], // tiles of 32 rows × 64 columns
      threads: 128,
      workgroupMemory: (32 * 32 + 32 * 64) * 2 + 32 * 64 * 4,
    },
    {
      name: 'subgroups of 64',
      profile: AMD_64,
      detail: 'f16→f32 16×16×16, 64 lanes',
      arithmetic: 'matrix-f32',
      workgroups: [2, 2, 1],
      threads: 256,
      workgroupMemory: 2 * 64 * 32 * 2 + 64 * 64 * 4,
    },
    {
      name: 'subgroups of 16',
      profile: deviceWith({ lanes: 16, matrixConfigs: matrices('f16', 'f32', '8×16×16') }),
      detail: 'f16→f32 8×16×16, 16 lanes',
      arithmetic: 'matrix-f32',
      workgroups: [2, 4, 1],
      threads: 64,
      workgroupMemory: (32 * 32 + 32 * 64) * 2 + 32 * 64 * 4,
    },
    {
      name: 'subgroups of 4, f16 results only',
      profile: deviceWith({ lanes: 4, matrixConfigs: matrices('f16', 'f16', '8×8×8') }),
      detail: 'f16→f16 8×8×8, 4 lanes',
      arithmetic: 'f16',
      workgroups: [4, 4, 1],
      threads: 16,
      workgroupMemory: 3 * 32 * 32 * 2,
    },
    {
      name: 'a K of the matrix that is longer than the step: the step grows',
      profile: deviceWith({
        lanes: 32,
        matrixConfigs: matrices('f16', 'f32', '8×8×64'),
        workgroupMemory: 32768,
      }),
      detail: 'f16→f32 8×8×64, 32 lanes',
      arithmetic: 'matrix-f32',
      workgroups: [4, 4, 1],
      threads: 128,
      workgroupMemory: 2 * 32 * 64 * 2 + 32 * 32 * 4,
    },
  ])('$name', ({ name: _, profile, ...expected }) => {
    expect(subgroupMatrix.missing(profile)).toBeNull();
    expect(build(profile)).toEqual(expected);
    expect(expected.workgroupMemory).toBeLessThanOrEqual(profile.limits.maxComputeWorkgroupStorageSize);
    expect(brokenLimit(subgroupMatrix.build(shape, profile), profile)).toBeNull();
  });

  test('the subgroup size is pinned in the source only where the device offers a range', () => {
    const pinned = subgroupMatrix.build(shape, INTEL).passes[0].wgsl;
    expect(pinned).toContain('enable subgroup_size_control;');
    expect(pinned).toContain('@subgroup_size(32)');
    expect(subgroupMatrix.build(shape, NVIDIA).passes[0].wgsl).not.toContain('subgroup_size_control');
  });

  test('f32 matrices need no f16', () => {
    const profile = deviceWith({ lanes: 32, f16: false, matrixConfigs: APPLE.matrixConfigs });
    expect(build(profile).detail).toBe('f32→f32 8×8×8, 32 lanes');
    expect(subgroupMatrix.build(shape, profile).passes[0].wgsl).not.toContain('enable f16');
  });
});

describe('rung 8 says why it cannot run', () => {
  const f16 = matrices('f16', 'f32', '16×16×16');
  test.each([
    ['no matrices', deviceWith({ lanes: 32 }), 'the device has no `chromium-experimental-subgroup-matrix`'],
    [
      'matrices without subgroups',
      { ...NVIDIA, features: NVIDIA.features.filter(name => name !== 'subgroups') },
      'the device has no `subgroups` feature',
    ],
    [
      'a range of subgroup sizes that cannot be pinned',
      deviceWith({ lanes: [8, 32], matrixConfigs: f16 }),
      'subgroups of 8 to 32 lanes, and no `subgroup-size-control` to fix the size',
    ],
    [
      'a subgroup size that the device does not tell',
      deviceWith({ lanes: 0, matrixConfigs: f16 }),
      'the device does not tell its subgroup size',
    ],
    [
      'integers only',
      deviceWith({ lanes: 32, matrixConfigs: matrices('i8', 'i32', '16×16×32', '16×8×32') }),
      'no f32 or f16 matrices among those the device offers (i8→i32)',
    ],
    [
      'f16 matrices without f16 in shaders',
      deviceWith({ lanes: 32, f16: false, matrixConfigs: f16 }),
      'the device has f16 matrices only, and no `shader-f16`',
    ],
    [
      'too little workgroup memory for any',
      deviceWith({ lanes: 32, matrixConfigs: f16, workgroupMemory: 16384 }),
      'the smallest matrix that the device offers needs 24576 bytes of workgroup memory, the device has 16384',
    ],
  ])('%s', (_, profile, reason) => {
    expect(chooseMatrix(profile)).toEqual({ missing: reason });
    expect(subgroupMatrix.missing(profile)).toBe(reason);
  });
});

describe('rung 8s takes the subgroup size from the device', () => {
  test.each([
    [4, { lanes: 4 }, [7, 4, 1]],
    [8, { lanes: 8 }, [4, 4, 1]],
    [16, { lanes: 16 }, [2, 4, 1]],
    [32, { lanes: 32 }, [1, 4, 1]],
    [64, { lanes: 64 }, [1, 4, 1]],
    [32, { lanes: [8, 32] as const, sizeControl: true }, [1, 4, 1]],
    [16, { lanes: [8, 16] as const, sizeControl: true }, [2, 4, 1]],
    [32, { lanes: [32, 64] as const, sizeControl: true }, [1, 4, 1]],
  ])('%s of %o', (lanes, traits, workgroups) => {
    const profile = deviceWith(traits);
    const program = subgroupShuffle.build(shape, profile);
    expect(program.detail).toBe(`${lanes} lanes`);
    expect(program.passes[0]).toMatchObject({ threads: 4 * lanes, workgroups, workgroupMemory: 0 });
    expect(program.passes[0].wgsl.includes(`@subgroup_size(${lanes})`)).toBe('sizeControl' in traits);
    expect(brokenLimit(program, profile)).toBeNull();
  });

  test.each([
    ['no subgroups', PLAIN, 'the device has no `subgroups` feature'],
    [
      'a range that cannot be pinned',
      deviceWith({ lanes: [8, 32] }),
      'subgroups of 8 to 32 lanes, and no `subgroup-size-control` to fix the size',
    ],
  ])('and says why it cannot: %s', (_, profile, reason) => {
    expect(subgroupShuffle.missing(profile)).toBe(reason);
  });

  test('subgroups of 128 would need more threads than the device allows', () => {
    const profile = deviceWith({ lanes: 128 });
    expect(brokenLimit(subgroupShuffle.build(shape, profile), profile)).toBe(
      'subgroup-shuffle needs 512 threads a workgroup, the device allows 256',
    );
  });
});

test('rungs 8 and 8s need the `subgroup_id` of WGSL, where it is known what WGSL has', () => {
  const old = { ...NVIDIA, wgslFeatures: ['packed_4x8_integer_dot_product'] };
  for (const rung of [subgroupMatrix, subgroupShuffle]) {
    expect(rung.missing(old)).toContain('`subgroup_id`');
    expect(rung.missing({ ...old, wgslFeatures: [...old.wgslFeatures, 'subgroup_id'] })).toBeNull();
    expect(rung.missing({ ...old, wgslFeatures: [] })).toBeNull();
  }
});

describe('rungs 1 to 7 and 9 run on a device that has only what the standard promises', () => {
  test.each(findRungs('1,2,3,4,5,6,7,9').map(rung => [rung.id, rung] as const))('%s', (_, rung) => {
    expect(rung.missing(PLAIN)).toBeNull();
    expect(brokenLimit(rung.build(shape, PLAIN), PLAIN)).toBeNull();
  });

  test('and a shape whose grid is too large is refused with the limit', () => {
    expect(brokenLimit(RUNGS[0].build({ m: 70000, n: 1, k: 1 }, PLAIN), PLAIN)).toBe(
      'naive needs 70000 workgroups in a dimension, the device allows 65535',
    );
  });
});
