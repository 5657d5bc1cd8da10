import { describe, expect, test } from 'vitest';
import { describeProblem, normalize, type ProblemOptions } from '../../src/problem.ts';

const size = { m: 3, n: 4, k: 5 };

describe('what is left out', () => {
  test('is dense, plain f32', () => {
    const { a, b, c, ...rest } = normalize(size);
    expect(a).toEqual({ type: 'f32', trans: false, ld: 5, offset: 0, stride: 15, extent: 15 });
    expect(b).toEqual({ type: 'f32', trans: false, ld: 4, offset: 0, stride: 20, extent: 20 });
    expect(c).toEqual({ type: 'f32', ld: 4, offset: 0, stride: 12, extent: 12 });
    expect(rest).toEqual({
      ...{ ...size, batch: 1, alpha: 1, beta: 0, bias: 'none', activation: 'none', residual: false },
      ...{ epilogue: null, accuracy: 'f32' },
    });
  });

  test('follows the types', () => {
    expect(normalize({ ...size, type: 'f16' }).c.type).toBe('f16');
    expect(normalize({ ...size, type: 'i8' }).c.type).toBe('i32');
    expect(normalize({ ...size, type: 'f16', cType: 'f32' }).c.type).toBe('f32');
  });

  test('and transposes', () => {
    const { a, b } = normalize({ ...size, transA: true, transB: true });
    expect([a.ld, b.ld]).toEqual([3, 5]);
  });
});

test('extents reach up to the last element that is used', () => {
  const { a, b, c } = normalize({ ...size, batch: 3, lda: 7, offsetA: 11, strideA: 0, strideB: 100 });
  expect(a.extent).toBe(11 + 2 * 7 + 5);
  expect(b.extent).toBe(2 * 100 + 4 * 4 + 4);
  expect(c.extent).toBe(36);
});

test('nothing of A and B is used where k is 0, and nothing at all where C is empty', () => {
  const none = normalize({ ...size, k: 0 });
  expect([none.a.extent, none.b.extent, none.c.extent]).toEqual([0, 0, 12]);
  const empty = normalize({ ...size, m: 0 });
  expect([empty.a.extent, empty.b.extent, empty.c.extent]).toEqual([0, 0, 0]);
});

describe('refused', () => {
  const cases: [Partial<ProblemOptions>, string, RegExp][] = [
    [{ m: -1 }, 'invalid-size', /m is -1/],
    [{ n: 1.5 }, 'invalid-size', /n is 1.5/],
    [{ k: Number.NaN }, 'invalid-size', /k is NaN/],
    [{ k: '5' as never }, 'invalid-size', /k is 5/],
    [{ batch: Number.POSITIVE_INFINITY }, 'invalid-size', /batch is Infinity/],
    [{ lda: 4 }, 'shape-mismatch', /lda is 4, and a stored row of A has 5/],
    [{ transA: true, lda: 2 }, 'shape-mismatch', /lda is 2, and a stored row of A has 3/],
    [{ ldb: 3 }, 'shape-mismatch', /ldb is 3/],
    [{ ldc: 3 }, 'shape-mismatch', /ldc is 3/],
    [{ offsetA: -4 }, 'invalid-size', /offsetA is -4/],
    [{ batch: 2, strideC: 11 }, 'shape-mismatch', /strideC is 11, and one C takes 12/],
    [{ m: 2 ** 32 }, 'too-large', /m is 4294967296/],
    [{ m: 65537, k: 65536 }, 'too-large', /A.* 4295032832/],
    [{ batch: 2 ** 20, strideB: 4097 }, 'too-large', /B reaches/],
    [{ aType: 'f32', bType: 'i8' }, 'invalid-argument', /f32 times i8/],
    [{ type: 'i8', cType: 'f32' }, 'invalid-argument', /i8 times i8 into f32/],
    [{ type: 'f64' as never }, 'invalid-argument', /type is "f64"/],
    [{ alpha: Number.NaN }, 'invalid-argument', /alpha is NaN/],
    [{ type: 'i8', alpha: 0.5 }, 'invalid-argument', /alpha 0.5/],
    [{ type: 'u8', activation: 'gelu' }, 'invalid-argument', /gelu/],
    [{ activation: { clip: [2, 1] } }, 'invalid-argument', /clip from 2 to 1/],
    [{ bias: 'both' as never }, 'invalid-argument', /bias is "both"/],
    [{ accuracy: 'high' as never }, 'invalid-argument', /accuracy is "high"/],
  ];
  test.each(cases)('%o', (options, code, message) => {
    expect(() => normalize({ ...size, ...options })).toThrow(
      expect.objectContaining({ name: 'GemmError', code, message: expect.stringMatching(message) }),
    );
  });

  test('exactly past 2^32 elements', () => {
    expect(normalize({ m: 65535, n: 1, k: 65537, offsetA: 1 }).a.extent).toBe(2 ** 32);
    expect(() => normalize({ m: 65535, n: 1, k: 65537, offsetA: 2 })).toThrow(/element 4294967297/);
  });
});

test('in one line', () => {
  expect(describeProblem(normalize({ ...size, batch: 2, transB: true, aType: 'f16', bType: 'f32' }))).toBe(
    '2 × 3×4×5 f16×f32→f16 NT',
  );
});
