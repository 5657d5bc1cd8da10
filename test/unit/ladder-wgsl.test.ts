/** The shaders that the ladder generates: pinned by snapshots, and compiled for devices that no machine here has. */
import { beforeAll, describe, expect, test } from 'vitest';
import { naive } from '../../src/ladder/1-naive.ts';
import { sharedMemory } from '../../src/ladder/4-shared-memory.ts';
import { subgroupMatrix } from '../../src/ladder/8-subgroup-matrix.ts';
import { RUNGS } from '../../src/ladder/rungs.ts';
import { expectToCompile, openNullDevice } from './null-device.ts';
import { AMD_64, APPLE, deviceWith, INTEL, matrices, NVIDIA, NVIDIA_16K, PLAIN } from './profiles.ts';

const even = { m: 128, n: 128, k: 128 };
const ragged = { m: 127, n: 127, k: 127 };

describe('the shaders that a user reads', () => {
  test.each([
    ['1-naive', naive, even, PLAIN],
    ['4-shared-memory', sharedMemory, ragged, PLAIN],
    ['8-subgroup-matrix-f32-8x8x8', subgroupMatrix, even, APPLE],
    ['8-subgroup-matrix-f16-f32-16x16x16', subgroupMatrix, ragged, NVIDIA],
  ])('%s', async (file, rung, shape, profile) => {
    await expect(rung.build(shape, profile).passes[0].wgsl).toMatchFileSnapshot(`wgsl/${file}.wgsl`);
  });
});

describe('every shader compiles for', () => {
  let open: Awaited<ReturnType<typeof openNullDevice>>; // has to stay reachable as long as its device is in use
  beforeAll(async () => {
    open = await openNullDevice([...APPLE.features, ...INTEL.features]);
  });

  const f16f16 = deviceWith({ lanes: 16, matrixConfigs: matrices('f16', 'f16', '8×8×8') });
  test.each([
    ['a device without features', PLAIN],
    ['Apple: f32 matrices of 8×8×8', APPLE],
    ['NVIDIA: matrices of 16×16×16', NVIDIA],
    ['NVIDIA with 16 KiB: matrices of 16×8×16', NVIDIA_16K],
    ['Intel: matrices of 8×16×16, a pinned subgroup size', INTEL],
    ['AMD: subgroups of 64', AMD_64],
    ['subgroups of 4', deviceWith({ lanes: 4 })],
    ['subgroups of 16, f16 results', f16f16],
  ])('%s', async (_, profile) => {
    const shaders = RUNGS.filter(rung => rung.missing(profile) === null).flatMap(rung =>
      [even, ragged].flatMap(shape => rung.build(shape, profile).passes.map(pass => pass.wgsl)),
    );
    for (const code of new Set(shaders)) await expectToCompile(open.device, code);
  });
});
