import { expect, test } from 'vitest';
import { broadcast } from '../../src/shapes.ts';

test('a shared B is one run with stride 0', () => {
  expect(broadcast([8, 512, 384], [384, 64])).toEqual({
    ...{ m: 512, n: 64, k: 384, batch: 8, strideA: 512 * 384, strideB: 0, shape: [8, 512, 64] },
    runs: [{ a: 0, b: 0, c: 0 }],
  });
});

test('two batch dimensions that both operands have are one batch', () => {
  const { batch, strideA, strideB, runs } = broadcast([2, 3, 4, 5], [2, 3, 5, 6]);
  expect({ batch, strideA, strideB, runs: runs.length }).toEqual({
    batch: 6,
    strideA: 20,
    strideB: 30,
    runs: 1,
  });
});

test('what no single stride can express takes several runs', () => {
  const { batch, strideA, strideB, runs, shape } = broadcast([2, 1, 3, 4], [3, 4, 5]);
  expect({ batch, strideA, strideB, shape }).toEqual({
    batch: 3,
    strideA: 0,
    strideB: 20,
    shape: [2, 3, 3, 5],
  });
  expect(runs).toEqual([
    { a: 0, b: 0, c: 0 },
    { a: 12, b: 0, c: 45 },
  ]);
});

test('vectors are a row on the left and a column on the right', () => {
  expect(broadcast([4], [4])).toMatchObject({ m: 1, n: 1, k: 4, shape: [] });
  expect(broadcast([4], [2, 4, 5])).toMatchObject({ m: 1, n: 5, k: 4, batch: 2, strideA: 0, shape: [2, 5] });
  expect(broadcast([2, 3, 4], [4])).toMatchObject({ m: 3, n: 1, k: 4, batch: 2, strideB: 0, shape: [2, 3] });
});

test.each([
  [[2, 3], [4, 5], 'shape-mismatch'],
  [[2, 3, 4], [3, 4, 5], 'shape-mismatch'],
  [[], [4], 'shape-mismatch'],
  [[2, -1], [4, 5], 'invalid-size'],
])('%j times %j is %s', (a, b, code) => {
  expect(() => broadcast(a, b)).toThrow(expect.objectContaining({ name: 'GemmError', code }));
});
