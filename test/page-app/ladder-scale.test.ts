import { expect, test } from 'vitest';
import { scaleOf } from '../../src/page/components/scale.ts';

test.each([
  [[75_100], [0, 20_000, 40_000, 60_000, 80_000]],
  [[1], [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [
    [0.0411, 0.913],
    [0, 0.2, 0.4, 0.6, 0.8, 1],
  ],
  [
    [3, 0],
    [0, 1, 2, 3],
  ],
])('a linear scale of %j has round steps from 0', (values, ticks) => {
  const scale = scaleOf('linear', values);
  expect(scale.ticks).toEqual(ticks);
  expect(ticks.map(scale.share)).toEqual(ticks.map((_, i) => expect.closeTo(i / (ticks.length - 1), 9)));
});

test.each([
  [
    [0.2, 75_100],
    [0.1, 1, 10, 100, 1000, 10_000, 100_000],
  ],
  [[1], [0.1, 1]],
  [
    [100, 1000],
    [10, 100, 1000],
  ],
  [
    [183.5, 24_548],
    [100, 1000, 10_000, 100_000],
  ],
])('a logarithmic scale of %j goes by powers of ten from below the least value', (values, ticks) => {
  const scale = scaleOf('log', values);
  expect(scale.ticks).toEqual(ticks);
  expect(ticks.map(scale.share)).toEqual(ticks.map((_, i) => expect.closeTo(i / (ticks.length - 1), 9)));
  for (const value of values) expect(scale.share(value)).toBeGreaterThan(0);
});

test('nothing to show has no ticks, and a value of 0 no length', () => {
  expect(scaleOf('log', []).ticks).toEqual([]);
  expect(scaleOf('linear', [0]).ticks).toEqual([]);
  expect(scaleOf('log', [0, 5]).share(0)).toBe(0);
});
