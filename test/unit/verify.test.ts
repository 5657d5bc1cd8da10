import { describe, expect, test } from 'vitest';
import { fromHalves, toHalves } from '../../src/float16.ts';
import { randomMatrix } from '../../src/measure/random.ts';
import type { Matrix } from '../../src/measure/reference.ts';
import { verify } from '../../src/measure/verify.ts';
import { multiplyF32, multiplyIntegers, narrowed, product, SUMS } from './products.ts';

const matrix = (rows: number, cols: number, seed: number): Matrix => ({
  rows,
  cols,
  data: randomMatrix(rows * cols, seed),
});

describe('one wrong cell in a million', () => {
  const side = 1000;
  const k = 32;
  const a = matrix(side, k, 1);
  const b = matrix(k, side, 2);
  const right = multiplyF32(a, b);
  // Two rows, the first and the last, are compared; only Freivalds' check sees the others.
  const budget = 2 * side * k;
  const cell = 500 * side + right.subarray(500 * side, 501 * side).findIndex(value => Math.abs(value) > 2);

  const withCell = (value: number) => {
    const c = right.slice();
    c[cell] = value;
    return verify(product(a, b, c), budget);
  };

  test('none is wrong: passes', () => {
    const { ok, worst, relErr, failure } = verify(product(a, b, right), budget);
    expect({ ok, failure }).toEqual({ ok: true, failure: null });
    expect(worst).toBeGreaterThan(0.01);
    expect(relErr).toBeLessThan(1e-6);
  });

  test.each([
    ['zero', 0],
    ["its neighbour's value", right[cell + 1]],
    ['the value one row below', right[cell + side]],
    ['off by 1 %', right[cell] * 1.01],
    ['off by 0.1 %', right[cell] * 0.999],
    ['its sign', -right[cell]],
    ['infinity', Number.POSITIVE_INFINITY],
    ['NaN', Number.NaN],
  ])('is found: %s', (_, value) => {
    const { ok, failure } = withCell(value);
    expect(ok).toBe(false);
    expect(failure).toContain(`C[500, ${cell % side}] is ${Math.fround(value)} where`);
  });

  test('two wrong cells of a row do not cancel each other', () => {
    const c = right.slice();
    c[cell] += 1;
    c[cell + 1] -= 1;
    expect(verify(product(a, b, c), budget).ok).toBe(false);
  });

  test('two swapped rows are found', () => {
    const c = right.slice();
    c.copyWithin(500 * side, 501 * side, 502 * side);
    c.set(right.subarray(500 * side, 501 * side), 501 * side);
    expect(verify(product(a, b, c), budget).ok).toBe(false);
  });

  test('a transposed result is found', () => {
    const c = right.map((_, index) => right[(index % side) * side + Math.floor(index / side)]);
    expect(verify(product(a, b, c), budget).ok).toBe(false);
  });
});

test('a transposed result of a small product is found', () => {
  const [a, b] = [matrix(9, 5, 1), matrix(5, 9, 2)];
  const c = multiplyF32(a, b);
  expect(verify(product(a, b, c)).ok).toBe(true);
  expect(
    verify(
      product(
        a,
        b,
        c.map((_, index) => c[(index % 9) * 9 + Math.floor(index / 9)]),
      ),
    ).ok,
  ).toBe(false);
});

describe.each([
  [64, 24],
  [512, 16],
  [4096, 8],
  [65536, 4],
])('K = %i', (k, side) => {
  const a = matrix(side, k, 3);
  const b = matrix(k, side, 4);

  test.each(Object.entries(SUMS))('an f32 sum passes: %s', (_, sum) => {
    const { ok, worst } = verify(product(a, b, multiplyF32(a, b, sum)));
    expect({ ok, worst }).toMatchObject({ ok: true });
  });

  test('inputs narrowed to f16 do not, where f32 is due', () => {
    const { ok, failure } = verify(product(a, b, multiplyF32(narrowed(a), narrowed(b), SUMS.pairwise)));
    expect(ok).toBe(false);
    expect(failure).toContain('times the allowed error');
  });

  test('one input narrowed to f16 does not either', () => {
    expect(verify(product(a, b, multiplyF32(narrowed(a), b, SUMS.pairwise))).ok).toBe(false);
  });

  test('f16 inputs pass where the narrowed numbers are what is multiplied', () => {
    const [left, right] = [narrowed(a), narrowed(b)];
    expect(verify(product(left, right, multiplyF32(left, right))).ok).toBe(true);
  });

  test('a result in f16 passes as f16 and not as f32', () => {
    const c = fromHalves(toHalves(multiplyF32(a, b, SUMS.pairwise)));
    expect(verify(product(a, b, c, { result: 'f16' })).ok).toBe(true);
    expect(verify(product(a, b, c)).ok).toBe(false);
  });

  test.each(Object.entries(SUMS))('positive data passes with the bound for any signs: %s', (_, sum) => {
    const [left, right] = [a, b].map(it => ({ ...it, data: Float32Array.from(it.data, Math.abs) }));
    expect(verify(product(left, right, multiplyF32(left, right, sum), { signs: 'any' })).ok).toBe(true);
  });
});

describe('NaN and infinity', () => {
  const [rows, inner, cols] = [3, 4, 3];
  const values = (f: (index: number) => number, length: number) =>
    Float32Array.from({ length }, (_, i) => f(i));
  const a: Matrix = {
    rows,
    cols: inner,
    data: values(i => (i === 5 ? Number.POSITIVE_INFINITY : i + 1), 12),
  };
  const b: Matrix = { rows: inner, cols, data: values(i => (i === 4 ? -2 : i === 5 ? 0 : i + 1), 12) };
  // Row 1 of A holds the infinity, row 1 of B is (4, -2, 0).
  const due = multiplyF32(a, b);
  const verdict = (index: number, value: number) => {
    const c = due.slice();
    c[index] = value;
    return verify(product(a, b, c));
  };

  test('pass where they are due', () => {
    expect([...due.subarray(3, 6)]).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]);
    expect(verify(product(a, b, due)).ok).toBe(true);
  });

  test.each([
    ['a number where infinity is due', 3, 1e30],
    ['infinity of the wrong sign', 4, Number.POSITIVE_INFINITY],
    ['NaN where infinity is due', 3, Number.NaN],
    ['a number where NaN is due', 5, 0],
    ['infinity where a number is due', 0, Number.POSITIVE_INFINITY],
    ['NaN where a number is due', 8, Number.NaN],
  ])('fail: %s', (_, index, value) => {
    const { ok, relErr, worst, failure } = verdict(index, value);
    expect({ ok, relErr, worst }).toEqual({ ok: false, relErr: null, worst: null });
    expect(failure).toContain(
      `C[${Math.floor(index / cols)}, ${index % cols}] is ${Math.fround(value)} where`,
    );
  });
});

test('a row of a large product that rightly holds NaN hides no wrong cell', () => {
  const [a, b] = [matrix(50, 8, 1), matrix(8, 50, 2)];
  const left = { ...a, data: Float32Array.from(a.data, (value, i) => (i === 25 * 8 ? Number.NaN : value)) };
  const c = multiplyF32(left, b);
  expect(verify(product(left, b, c), 1).ok).toBe(true);
  c[25 * 50 + 7] = 1;
  expect(verify(product(left, b, c), 1).failure).toContain('C[25, 7] is 1 where NaN is due');
});

describe('integers', () => {
  const a: Matrix = { rows: 2, cols: 2, data: [1, 2, 3, 4] };
  const b: Matrix = { rows: 2, cols: 2, data: [5, 6, 7, 8] };
  const exact = { arithmetic: 'exact', result: 'i32' } as const;
  const integers = (rows: number, cols: number, seed: number): Matrix => ({
    rows,
    cols,
    data: Int8Array.from(randomMatrix(rows * cols, seed), value => Math.floor(value * 128)),
  });

  test('have to be exact', () => {
    expect(verify(product(a, b, [19, 22, 43, 50], exact))).toMatchObject({ ok: true, worst: 0, relErr: 0 });
    expect(verify(product(a, b, [19, 22, 43, 51], exact))).toMatchObject({ ok: false, worst: null });
  });

  describe('512×512×512', () => {
    const side = 512;
    const [left, right] = [integers(side, side, 1), integers(side, side, 2)];
    const due = multiplyIntegers(left, right);
    // Two rows, the first and the last, are compared.
    const budget = 2 * side * side;

    test('pass where they are right', () => {
      expect(verify(product(left, right, due, exact), budget)).toEqual({
        ...{ ok: true, relErr: 0, worst: 0, failure: null },
      });
    });

    test.each([1, -1, 256, 2 ** 30])('one cell that is off by %i is found', error => {
      const c = due.slice();
      const [was, cell] = [c[300 * side + 17], 300 * side + 17];
      c[cell] += error;
      const { ok, failure } = verify(product(left, right, c, exact), budget);
      expect(ok).toBe(false);
      expect(failure).toBe(`C[300, 17] is ${c[cell]} where ${was} is due`);
    });
  });

  test('sums that wrap are due as they wrap', () => {
    const [rows, inner, cols] = [40, 40000, 3];
    const bytes = (rows: number, cols: number) => ({
      rows,
      cols,
      data: new Uint8Array(rows * cols).fill(255),
    });
    const [left, right] = [bytes(rows, inner), bytes(inner, cols)];
    const c = new Int32Array(rows * cols).fill(255 * 255 * inner);
    expect(c[0]).toBe(255 * 255 * inner - 2 ** 32);
    for (const budget of [undefined, 1]) {
      expect(verify(product(left, right, c, exact), budget).ok).toBe(true);
    }
    c[20 * cols + 1]++;
    expect(verify(product(left, right, c, exact), 1).failure).toContain('C[20, 1] is');
  });
});

describe('a large result that was rounded to f16', () => {
  const [rows, inner, cols] = [5000, 8, 128];
  const half = { arithmetic: 'matrix-f32', result: 'f16' } as const;
  // Of a product with two compared rows, all others are only seen by Freivalds' check.
  const budget = 2 * inner * cols;
  const given = (seed: number) => {
    const [a, b] = [narrowed(matrix(rows, inner, seed)), narrowed(matrix(inner, cols, seed + 1000))];
    return { a, b, c: fromHalves(toHalves(multiplyF32(a, b))) };
  };

  test.each([1, 2, 3, 4, 5, 6])('passes, although some of 5000 rows are far off by chance: seed %i', seed => {
    const { a, b, c } = given(seed);
    const { ok, worst, failure } = verify(product(a, b, c, half), budget);
    expect({ ok, failure }).toEqual({ ok: true, failure: null });
    expect(worst).toBeLessThanOrEqual(1);
  });

  test.each([2, 7, 16])('one cell of 640,000 that is off by %i % is found', percent => {
    const { a, b, c } = given(7);
    const cell = 3210 * cols + c.subarray(3210 * cols, 3211 * cols).findIndex(value => Math.abs(value) > 1);
    c[cell] *= 1 + percent / 100;
    const { ok, failure } = verify(product(a, b, c, half), budget);
    expect(ok).toBe(false);
    expect(failure).toContain(`C[3210, ${cell % cols}] is`);
  });

  test('errors everywhere that are too large for a cell are found', () => {
    const { a, b, c } = given(8);
    const off = c.map((value, i) => value * (1 + (i % 2 ? 1 : -1) * 2 ** -9));
    expect(verify(product(a, b, off, half), budget).ok).toBe(false);
  });
});

test('k = 0 leaves zeros, and nothing else', () => {
  const a: Matrix = { rows: 2, cols: 0, data: [] };
  const b: Matrix = { rows: 0, cols: 2, data: [] };
  expect(verify(product(a, b, [0, 0, 0, 0])).ok).toBe(true);
  expect(verify(product(a, b, [0, 0, 1e-3, 0])).ok).toBe(false);
});
