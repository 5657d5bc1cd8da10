import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromHalf, fromHalves, toHalf, toHalves } from '../../src/float16.ts';

/** The value of a half float, read off the format's definition digit by digit. */
function definition(half: number): number {
  const digits = half.toString(2).padStart(16, '0');
  const sign = digits[0] === '1' ? -1 : 1;
  const exponent = Number.parseInt(digits.slice(1, 6), 2);
  const mantissa = Number.parseInt(digits.slice(6), 2) / 1024;
  if (exponent === 31) return mantissa ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return exponent ? sign * (1 + mantissa) * 2 ** (exponent - 15) : sign * mantissa * 2 ** -14;
}

const ALL = Uint16Array.from({ length: 65536 }, (_, half) => half);
const isNaNHalf = (half: number) => (half & 0x7fff) > 0x7c00;

describe('all 65536 half floats', () => {
  test('have the value that the format defines', () => {
    const values = fromHalves(ALL);
    for (const half of ALL) {
      const value = definition(half);
      if (!Object.is(fromHalf(half), value) || !Object.is(values[half], value)) {
        expect.fail(`${half.toString(16)} is ${fromHalf(half)}, ${values[half]} where ${value} is due`);
      }
    }
  });

  test('survive the way there and back, NaN as NaN', () => {
    const back = toHalves(fromHalves(ALL));
    const changed = ALL.filter(half => (isNaNHalf(half) ? !isNaNHalf(back[half]) : back[half] !== half));
    expect([...changed]).toEqual([]);
  });
});

describe('rounding', () => {
  /** The half nearest to a positive float, ties to the even one, found by trying: halves are ordered as their bits. */
  function nearest(value: number): number {
    let [low, high] = [0, 0x7c00];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (definition(middle) <= value) low = middle;
      else high = middle;
    }
    // As if the exponent went on: what infinity stands for is 2^16.
    const above = high === 0x7c00 ? 65536 : definition(high);
    const [down, up] = [value - definition(low), above - value];
    return down < up || (down === up && low % 2 === 0) ? low : high;
  }

  test('to the nearest, ties to even, as the definition says', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true }), value => {
        const sign = Object.is(Math.sign(value), -0) || value < 0 ? 0x8000 : 0;
        const expected = Math.abs(value) >= 65536 ? 0x7c00 : nearest(Math.abs(value));
        expect(toHalf(value)).toBe(sign | expected);
      }),
      { numRuns: 3000 },
    );
  });

  test('at and beside the middle between every two neighbours', () => {
    const float = new Float32Array(1);
    const bits = new Uint32Array(float.buffer);
    for (let half = 0; half < 0x7c00; half++) {
      const above = half === 0x7bff ? 65536 : definition(half + 1);
      float[0] = (definition(half) + above) / 2; // exact in f32
      const even = half % 2 ? half + 1 : half;
      bits[0] -= 1;
      const below = toHalf(float[0]);
      bits[0] += 1;
      const middle = toHalf(float[0]);
      bits[0] += 1;
      const beyond = toHalf(float[0]);
      if (below !== half || middle !== even || beyond !== half + 1) {
        expect.fail(`around ${half.toString(16)}: ${[below, middle, beyond].map(it => it.toString(16))}`);
      }
    }
  });

  test.each([
    ['zero', 0, 0],
    ['minus zero', -0, 0x8000],
    ['the largest half', 65504, 0x7bff],
    ['what still rounds down to it', 65519.996, 0x7bff],
    ['what rounds to infinity', 65520, 0x7c00],
    ['a large float', -1e30, 0xfc00],
    ['infinity', Number.NEGATIVE_INFINITY, 0xfc00],
    ['NaN', Number.NaN, 0x7e00],
    ['the smallest subnormal', 2 ** -24, 1],
    ['half of it', 2 ** -25, 0],
    ['a float subnormal', 1e-40, 0],
  ])('%s', (_, value, half) => expect(toHalf(value)).toBe(half));
});
