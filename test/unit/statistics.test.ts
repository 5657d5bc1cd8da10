import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { geometricMean, isSteady, median, quantile, spread } from '../../src/measure/statistics.ts';

const series = (length: number, f: (index: number) => number) => Array.from({ length }, (_, i) => f(i));

describe('quantiles', () => {
  test('of few samples', () => {
    expect(median([3])).toBe(3);
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(quantile([4, 1, 3, 2, 5], 0.25)).toBe(2);
    expect(quantile([10, 20], 0.25)).toBe(12.5);
  });

  test('of none are an error', () => expect(() => median([])).toThrow(RangeError));

  test('lie within the samples, grow, and leave the samples as they were', () => {
    const samples = fc.array(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(samples, values => {
        const before = [...values];
        const found = [0, 0.25, 0.5, 0.75, 1].map(q => quantile(values, q));
        expect(values).toEqual(before);
        expect([found[0], found[4]]).toEqual([Math.min(...values), Math.max(...values)]);
        for (let i = 1; i < 5; i++) expect(found[i]).toBeGreaterThanOrEqual(found[i - 1] * (1 - 1e-12));
      }),
    );
  });
});

test('the spread is the middle half over the median', () => {
  expect(spread([2, 2, 2])).toBe(0);
  expect(spread([1, 2, 3, 4, 5])).toBeCloseTo(2 / 3);
  expect(spread([10, 20, 30, 40, 50])).toBeCloseTo(2 / 3);
  expect(spread([0, 0])).toBe(0);
});

describe('a clock is steady', () => {
  test.each([
    ['when nothing changes', series(10, () => 1)],
    ['with noise of 1 %', series(20, i => 1 + 0.01 * Math.sin(7 * i))],
    ['with one outlier', [...series(9, () => 1), 4]],
    ['when a ramp is over', [...series(20, i => 4 - i * 0.15), ...series(10, () => 1)]],
  ])('%s', (_, samples) => expect(isSteady(samples)).toBe(true));

  test.each([
    ['before there are enough samples', series(9, () => 1)],
    ['while it ramps fast', series(20, i => 0.9 ** i)],
    ['while it ramps so slowly that neighbours agree', series(30, i => 0.992 ** i)],
    ['just after a step', [...series(10, () => 2), ...series(5, () => 1)]],
    ['while some samples are slower', [1, 1, 1, 1, 1, 1, 1, 1, 1.5, 1.5]],
    ['while some samples are faster', [1, 1, 1, 1, 1, 1, 1, 1, 0.5, 0.5]],
    ['while it jumps between two states', series(20, i => (i % 2 ? 1 : 1.5))],
  ])('but not %s', (_, samples) => expect(isSteady(samples)).toBe(false));
});

test('the geometric mean', () => {
  expect(geometricMean([2, 8])).toBeCloseTo(4);
  expect(geometricMean([5])).toBeCloseTo(5);
});
