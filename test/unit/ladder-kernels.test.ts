/** Rungs 9 to 11, which are kernels of the library: on devices that no machine here has, and how they are compared. */
import { describe, expect, test } from 'vitest';
import { splitF32 as splitKernel } from '../../src/kernels/split-f32.ts';
import { subgroupMatrix } from '../../src/kernels/subgroup-matrix.ts';
import { registerTile } from '../../src/ladder/9-register-tile.ts';
import { tensorF16 } from '../../src/ladder/10-tensor-f16.ts';
import { splitF32 } from '../../src/ladder/11-split-f32.ts';
import type { RungResult } from '../../src/ladder/climb.ts';
import { withGains } from '../../src/ladder/record.ts';
import { findRungs } from '../../src/ladder/rungs.ts';
import { normalize } from '../../src/problem.ts';
import type { Profile } from '../../src/profile.ts';
import { brokenLimit } from '../../src/program.ts';
import { AMD_64, APPLE, deviceWith, INTEL, matrices, NVIDIA, NVIDIA_16K, PLAIN } from './profiles.ts';

const shape = { m: 4096, n: 4096, k: 4096 };
const DEVICES: readonly (readonly [string, Profile])[] = [
  ['nothing but the standard', PLAIN],
  ['Apple', APPLE],
  ['NVIDIA', NVIDIA],
  ['NVIDIA with 16 KiB', NVIDIA_16K],
  ['Intel', INTEL],
  ['AMD', AMD_64],
];

describe.each(DEVICES)('%s', (_, profile) => {
  const runs = findRungs('9,10,11').filter(rung => rung.missing(profile) === null);
  test.each(runs.map(rung => [rung.id, rung] as const))('%s', (_, rung) => {
    const program = rung.build(shape, profile);
    expect(brokenLimit(program, profile)).toBeNull();
    expect(program).toMatchObject({ result: 'f32', preparation: 'within' });
    expect(program.detail).toMatch(/tiles of \d+×\d+×\d+/);
  });
});

describe('the rungs are the kernels as the library would run them', () => {
  test('rung 10', () => {
    const problem = normalize({ ...shape, type: 'f16', cType: 'f32' });
    const [params] = subgroupMatrix.candidates(problem, NVIDIA);
    const { passes, inputs, arithmetic } = tensorF16.build(shape, NVIDIA);
    expect(passes).toEqual(subgroupMatrix.build(problem, NVIDIA, params).passes);
    expect({ inputs, arithmetic }).toEqual({ inputs: 'f16', arithmetic: 'matrix-f32' });
  });

  test('rung 11', () => {
    const [params] = splitKernel.candidates(normalize(shape), NVIDIA);
    const { passes, inputs, arithmetic } = splitF32.build(shape, NVIDIA);
    expect(passes).toEqual(splitKernel.build(normalize(shape), NVIDIA, params).passes);
    expect({ inputs, arithmetic }).toEqual({ inputs: 'f32', arithmetic: 'f32' });
  });
});

describe('a rung says what it takes from the device', () => {
  test.each([
    ['rung 9', registerTile, /^tiles of \d+×\d+×\d+, \d+×\d+ cells a thread$/],
    ['rung 10', tensorF16, /^f16→f32 16×16×16, tiles of \d+×\d+×\d+, \d+×\d+ cells a subgroup, 32 lanes$/],
    ['rung 11', splitF32, /^f16→f32 16×16×16 thrice, tiles of .*, \d+×\d+ cells a subgroup, 32 lanes$/],
  ])('%s', (_, rung, detail) => expect(rung.build(shape, NVIDIA).detail).toMatch(detail));

  test('Apple multiplies f16 as f32', () => {
    expect(tensorF16.build(shape, APPLE).detail).toMatch(/^f32→f32 8×8×8, tiles of /);
  });
});

describe('a rung says what the device lacks', () => {
  const NO_MATRICES = 'the device has no `chromium-experimental-subgroup-matrix`';
  const f16 = matrices('f16', 'f32', '16×16×16');
  test.each([
    ['10 without matrices', tensorF16, deviceWith({ lanes: 32 }), NO_MATRICES],
    ['11 without matrices', splitF32, deviceWith({ lanes: 32 }), NO_MATRICES],
    [
      '10 without f16 in shaders',
      tensorF16,
      deviceWith({ lanes: 32, f16: false, matrixConfigs: f16 }),
      'f16 matrices, and the device has no `shader-f16`',
    ],
    [
      '11 without f16 in shaders',
      splitF32,
      deviceWith({ lanes: 32, f16: false, matrixConfigs: f16 }),
      'the device has no `shader-f16`',
    ],
    [
      '10 with f16 sums only',
      tensorF16,
      deviceWith({ lanes: 32, matrixConfigs: matrices('f16', 'f16', '8×8×8') }),
      'no matrices for f16 times f16 with results that lose nothing',
    ],
    ['11 on Apple', splitF32, APPLE, 'the device has no matrices of f16 with f32 results'],
    [
      '11 with subgroups of a size that varies',
      splitF32,
      deviceWith({ lanes: [8, 32], matrixConfigs: f16 }),
      'subgroups of 8 to 32 lanes, and no `subgroup-size-control` to fix the size',
    ],
    [
      '10 with matrices that no tile is a multiple of',
      tensorF16,
      deviceWith({ lanes: 32, matrixConfigs: matrices('f16', 'f32', '48×48×48') }),
      'no tile fits the matrices of the device',
    ],
  ])('%s', (_, rung, profile, reason) => expect(rung.missing(profile)).toBe(reason));

  test.each([1, 15])('11 in sums of %s', k => {
    expect(splitF32.missing(NVIDIA, { m: 64, n: 64, k })).toMatch(new RegExp(`^k is ${k}: below 16`));
    expect(splitF32.missing(NVIDIA, { m: 64, n: 64, k: 16 })).toBeNull();
  });

  test('and a device with too little workgroup memory for any tile is told the limit', () => {
    const profile = { ...NVIDIA, limits: { ...NVIDIA.limits, maxComputeWorkgroupStorageSize: 1024 } };
    expect(brokenLimit(registerTile.build(shape, profile), profile)).toMatch(
      /^register-tile needs \d+ bytes of workgroup memory, the device has 1024$/,
    );
  });
});

describe('the rung below', () => {
  const result = (rung: string, gflops: number | null): RungResult => ({
    ...{ rung, id: rung, reason: null, detail: null, prepare: [], status: gflops ? 'ok' : 'unsupported' },
    ...{ gflops, ms: null, spread: null, relErr: null, worst: null, compileMs: null },
  });
  const gains = (...results: RungResult[]) =>
    Object.fromEntries(withGains(results).map(({ rung, overBelow }) => [rung, overBelow]));

  test('8 and 8s stand on 7, 9 on the faster of them', () => {
    expect(gains(result('7', 10), result('8s', 40), result('8', 20), result('9', 80))).toEqual({
      '7': null,
      '8s': 4,
      '8': 2,
      '9': 2,
    });
  });

  test('9 stands on the one that runs', () => {
    expect(gains(result('7', 10), result('8s', 40), result('8', null), result('9', 80))['9']).toBe(2);
    expect(gains(result('7', 10), result('8s', null), result('8', 20), result('9', 80))['9']).toBe(4);
    expect(gains(result('7', 10), result('8s', null), result('8', null), result('9', 80))['9']).toBeNull();
  });

  test('10 and 11 come after 9, not after 1', () => {
    expect(gains(result('1', 1), result('9', 80), result('10', 160), result('11', 120))).toEqual({
      '1': null,
      '9': 80,
      '10': 2,
      '11': 0.75,
    });
  });
});
