import { expect, test } from 'vitest';
import { Pace } from '../../src/pace.ts';

/** Portions of a long run on a device that does so many operations in a millisecond. */
function portions(pace: Pace, operations: number, rate: number): number[] {
  const times: number[] = [];
  for (let left = operations; left > 0; ) {
    const portion = Math.min(left, pace.portion('kernel'));
    const ms = 0.1 + portion / rate;
    pace.record('kernel', portion, ms);
    times.push(ms);
    left -= portion;
  }
  return times;
}

test.each([
  ['a phone', 2e7],
  ['a large GPU', 5e10],
])('on %s portions become about 50 ms long, and none is near 2 s', (_, rate) => {
  const times = portions(new Pace(false), rate * 2000, rate);
  expect(Math.max(...times)).toBeLessThan(100);
  expect(times.at(-2)).toBeGreaterThan(40);
  expect(times.length).toBeLessThan(60);
});

test('a software GPU starts small', () => {
  expect(Math.max(...portions(new Pace(true), 1e9, 2e5))).toBeLessThan(100);
});

test('a small product that took long for other reasons changes nothing', () => {
  const pace = new Pace(false);
  const before = pace.portion('kernel');
  pace.record('kernel', 1000, 30);
  expect(pace.portion('kernel')).toBe(before);
});

test('kernels have portions of their own', () => {
  const pace = new Pace(false);
  pace.record('fast', pace.portion('fast'), 1);
  expect(pace.portion('fast')).toBeGreaterThan(pace.portion('slow'));
});
