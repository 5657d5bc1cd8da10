import { beforeAll, describe, expect, test } from 'vitest';
import { checkBuffers, requiredBytes } from '../../src/operands.ts';
import { normalize } from '../../src/problem.ts';

/** What the checks look at. */
const buffer = (size: number, usage = 0x80) => ({ size, usage }) as GPUBuffer;

beforeAll(() => {
  Object.assign(globalThis, { GPUBufferUsage: { STORAGE: 0x80 } });
});

const size = { m: 5, n: 3, k: 7 };

test('bytes from the start of each view up to the last element', () => {
  const problem = normalize({
    ...size,
    type: 'f16',
    offsetA: 9,
    ldc: 4,
    batch: 2,
    bias: 'column',
    residual: true,
  });
  expect(Object.fromEntries(requiredBytes(problem))).toEqual({
    a: (9 + 2 * 35) * 2,
    b: 2 * 21 * 2,
    c: (20 + 4 * 4 + 3) * 2,
    bias: 10,
    residual: (20 + 4 * 4 + 3) * 2,
  });
});

describe('views', () => {
  const problem = normalize({ ...size, type: 'i8' });

  test('are completed, in whole words', () => {
    const [a, b, c] = [36, 300, 60].map(bytes => buffer(bytes));
    expect(checkBuffers(problem, { a, b: { buffer: b, offset: 256 }, c }, 256)).toEqual({
      a: { buffer: a, offset: 0, size: 36 },
      b: { buffer: b, offset: 256, size: 24 },
      c: { buffer: c, offset: 0, size: 60 },
    });
  });

  test('are aligned as the device needs it', () => {
    const [a, b, c] = [36, 300, 60].map(bytes => buffer(bytes));
    const views = { a, b: { buffer: b, offset: 32 }, c };
    expect(() => checkBuffers(problem, views, 256)).toThrow(/b starts at byte 32/);
    expect(checkBuffers(problem, views, 32).b.offset).toBe(32);
  });

  test('of what is not used are left out', () => {
    const c = buffer(60);
    expect(checkBuffers(normalize({ ...size, k: 0 }), { c }, 256)).toEqual({
      c: { buffer: c, offset: 0, size: 60 },
    });
    expect(checkBuffers(normalize({ ...size, m: 0 }), {}, 256)).toEqual({});
  });

  test('of what is read may share a buffer, C may not', () => {
    const [one, two] = [buffer(1000), buffer(1000)];
    expect(() => checkBuffers(problem, { a: one, b: one, c: two }, 256)).not.toThrow();
    expect(() => checkBuffers(problem, { a: one, b: two, c: one }, 256)).toThrow(/a overlaps it/);
    expect(() => checkBuffers(problem, { a: one, b: two, c: { buffer: one, offset: 256 } }, 256)).toThrow(
      /a lies in the same buffer/,
    );
  });
});
