import { describe, expect, test } from 'vitest';
import { fenceFailure, poisoned, poisonedWhere } from '../../src/measure/fence.ts';

describe.each([4, 2] as const)('cells of %i bytes', bytes => {
  const cells = 21;
  const isCell = (element: number) => element < cells;
  /** C as a right kernel leaves it. */
  const written = () =>
    poisoned(cells, bytes).map((word, i) => (isCell(i) ? 0x3c00 + i : word)) as Uint32Array<ArrayBuffer>;

  test('a run that writes all of C and nothing else passes', () => {
    expect(fenceFailure(written(), isCell)).toBeNull();
  });

  test('the poison is NaN, so that what reads it is found too', () => {
    const word = poisoned(1, bytes)[0];
    const exponent = bytes === 4 ? 0x7f800000 : 0x7c00;
    expect(word & exponent).toBe(exponent);
    expect(word & ~exponent).not.toBe(0);
  });

  test.each([0, 7, cells - 1])('cell %i that was not written is found', cell => {
    const c = written();
    c[cell] = poisoned(cells, bytes)[cell];
    for (const dense of [0, cells]) {
      expect(fenceFailure(c, isCell, dense)).toBe(`element ${cell} of C was never written`);
    }
  });

  test.each([cells, cells + 1, cells + 63])('a write at element %i, behind C, is found', element => {
    const c = written();
    c[element] = 0;
    for (const dense of [0, cells]) {
      expect(fenceFailure(c, isCell, dense)).toBe(`element ${element}, which is outside C, was written`);
    }
  });

  test('a write between the rows of a C with a row stride is found', () => {
    const inRows = (element: number) => element % 8 < 5;
    const c = poisonedWhere(24, bytes, inRows).map((word, i) => (inRows(i) ? 0x3c00 : word));
    expect(fenceFailure(c, inRows)).toBeNull();
    c[13] = 0x3c00;
    expect(fenceFailure(c, inRows)).toBe('element 13, which is outside C, was written');
  });
});
