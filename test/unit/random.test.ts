import { expect, test } from 'vitest';
import { random, randomMatrix } from '../../src/measure/random.ts';

const SIZE = 100_000;

test('the same seed gives the same numbers, on every machine', () => {
  expect([...randomMatrix(4, 1)]).toEqual([...randomMatrix(4, 1)]);
  expect([...randomMatrix(4, 1)]).toMatchInlineSnapshot(`
    [
      -0.8168609142303467,
      0.012395607307553291,
      0.7763856053352356,
      -0.025489632040262222,
    ]
  `);
});

test('another seed gives others', () => {
  const [one, two] = [randomMatrix(1000, 1), randomMatrix(1000, 2)];
  expect(one.filter((value, i) => value === two[i]).length).toBe(0);
});

test('numbers are spread evenly over [0, 1)', () => {
  const next = random(7);
  const bins = new Uint32Array(10);
  for (let i = 0; i < SIZE; i++) {
    const value = next();
    expect(value >= 0 && value < 1).toBe(true);
    bins[Math.floor(value * 10)]++;
  }
  // Five standard deviations of a bin's count.
  for (const count of bins) expect(Math.abs(count - SIZE / 10)).toBeLessThan(5 * Math.sqrt(SIZE * 0.09));
});

test('matrices are spread over [-1, 1), and neighbours and rows are not alike', () => {
  const values = randomMatrix(SIZE, 3);
  const correlation = (lag: number) => {
    let sum = 0;
    for (let i = lag; i < SIZE; i++) sum += values[i] * values[i - lag];
    return (3 * sum) / SIZE; // the variance is 1/3
  };
  for (const lag of [1, 2, 3, 4, 8, 64, 1000]) expect(Math.abs(correlation(lag))).toBeLessThan(0.02);
  expect(Math.abs(values.reduce((sum, value) => sum + value, 0) / SIZE)).toBeLessThan(0.01);
});
