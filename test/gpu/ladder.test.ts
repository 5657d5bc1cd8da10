/** Every rung on every shape, each with poison, canaries and a float64 reference; once on each driver. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { subgroupShuffle } from '../../src/ladder/8s-subgroup-shuffle.ts';
import type { Rung, Shape } from '../../src/ladder/rung.ts';
import { findRungs, RUNGS } from '../../src/ladder/rungs.ts';
import { driver, useTestGpu } from './device.ts';
import { multiply, operandsOf } from './multiply.ts';
import { SHAPES } from './shapes.ts';

const gpu = useTestGpu();

const NO_MATRICES = 'the device has no `chromium-experimental-subgroup-matrix`';
const NO_F16 = 'f16 matrices, and the device has no `shader-f16`';

/** What a driver cannot run, and exactly why. Every other rung has to run. */
const MISSING: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  swiftshader: { '8': NO_MATRICES, '10': NO_F16, '11': NO_MATRICES },
  'lavapipe-25': { '8': NO_MATRICES, '10': NO_MATRICES, '11': NO_MATRICES },
  'lavapipe-26': {},
  deno: {
    '8s': 'the device has no `subgroups` feature',
    '8': NO_MATRICES,
    '10': NO_MATRICES,
    '11': NO_MATRICES,
  },
};

const runs = RUNGS.filter(({ rung }) => !(rung in MISSING[driver]));

/** Rung 11 splits f32 into two f16, which is good enough in sums of 16 and more. */
const serves = ({ rung }: Rung, { k }: Shape) => rung !== '11' || k >= 16;
const shapesFor = (rung: Rung) => [...SHAPES].filter(([, shape]) => serves(rung, shape));

for (const rung of runs) {
  describe(`rung ${rung.rung} ${rung.id}`, () => {
    test('runs on this driver', () => expect(rung.missing(gpu().profile)).toBeNull());

    test.each(shapesFor(rung))('%s', async (_, shape) => {
      const verdict = await multiply(gpu(), rung, shape, ...operandsOf(shape));
      expect(verdict.failure).toBeNull();
      expect(verdict.worst).toBeLessThanOrEqual(1);
    });
  });
}

for (const [rung, reason] of Object.entries(MISSING[driver])) {
  test(`rung ${rung} cannot run here: ${reason}`, () => {
    expect(findRungs(rung)[0].missing(gpu().profile)).toBe(reason);
  });
}

const lanes = driver === 'swiftshader' ? 4 : 8;
const details = Object.entries({
  '8s': `${lanes} lanes`,
  '8': 'f16→f32 8×8×8, 8 lanes',
  '9': 'tiles of 64×64×8, 4×4 cells a thread',
  '10': 'f16→f32 8×8×8, tiles of 32×32×32, 16×16 cells a subgroup, 8 lanes',
  '11': 'f16→f32 8×8×8 thrice, tiles of 32×32×16, 16×16 cells a subgroup, 8 lanes',
});
test.each(details.filter(([rung]) => !(rung in MISSING[driver])))(
  'rung %s takes from the device: %s',
  (rung, detail) => {
    expect(findRungs(rung)[0].build({ m: 1, n: 1, k: 1 }, gpu().profile).detail).toBe(detail);
  },
);

test('rung 8s with a pinned subgroup size, as where the device offers a range', async ({ skip }) => {
  skip('8s' in MISSING[driver], MISSING[driver]['8s']);
  const { device, profile } = gpu();
  const range = { ...profile, subgroupMinSize: 2 };
  const shape = { m: 33, n: 18, k: 17 };
  expect(subgroupShuffle.build(shape, range).passes[0].wgsl).toContain('@subgroup_size');
  const verdict = await multiply({ device, profile: range }, subgroupShuffle, shape, ...operandsOf(shape));
  expect(verdict.failure).toBeNull();
});

describe('any rung, any shape', () => {
  const size = fc.integer({ min: 1, max: 70 });
  test('random shapes and seeds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...runs),
        fc.record({ m: size, n: size, k: size }),
        fc.integer(),
        async (rung, shape, seed) => {
          fc.pre(serves(rung, shape));
          const verdict = await multiply(gpu(), rung, shape, ...operandsOf(shape, seed));
          expect(verdict.failure).toBeNull();
        },
      ),
      { numRuns: 60, seed: 2026 },
    );
  });
});

describe('NaN and infinity in A and B reach exactly the cells that they should', () => {
  const shape = { m: 33, n: 18, k: 17 };
  const plain = runs.filter(({ rung }) => rung !== '8');
  test.each(plain.map(rung => [rung.id, rung] as const))('%s', async (_, rung) => {
    const [a, b] = operandsOf(shape);
    a[0] = Number.NaN;
    b[0] = Number.POSITIVE_INFINITY;
    a[3 * shape.k + 5] = Number.NaN;
    a[20 * shape.k + 16] = Number.POSITIVE_INFINITY;
    b[2 * shape.n + 17] = Number.NEGATIVE_INFINITY;
    const verdict = await multiply(gpu(), rung, shape, a, b);
    expect(verdict.failure).toBeNull();
  });
});
