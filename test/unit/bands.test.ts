import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BandLimits, halve, type Piece, split, sumsBytes } from '../../src/bands.ts';
import { BYTES, normalize, type Problem, type ProblemOptions } from '../../src/problem.ts';

const limits = (binding: number): BandLimits => ({
  maxStorageBufferBindingSize: binding,
  maxBufferSize: 2 ** 40,
  minStorageBufferOffsetAlignment: 256,
});
const MIB = 2 ** 20;

/** A piece in a line: its step, and sizes at its start. */
const line = ({ step, start, size }: Piece) =>
  `${step} ${size.m}×${size.n}×${size.k} at ${start.m},${start.n},${start.k}` +
  (size.batch > 1 || start.batch > 0 ? ` of ${size.batch} from ${start.batch}` : '');

const pieces = (options: ProblemOptions, binding: number) =>
  split(normalize(options), limits(binding)).map(line);

describe('which dimension is cut', () => {
  test('none, where everything fits', () => {
    expect(pieces({ m: 4096, n: 4096, k: 4096 }, 128 * MIB)).toEqual(['multiply 4096×4096×4096 at 0,0,0']);
    expect(pieces({ m: 0, n: 5, k: 5 }, 128 * MIB)).toEqual([]);
  });

  test('M for A and C', () => {
    expect(pieces({ m: 20000, n: 100, k: 4096 }, 128 * MIB)).toEqual([
      'multiply 6784×100×4096 at 0,0,0',
      'multiply 6784×100×4096 at 6784,0,0',
      'multiply 6432×100×4096 at 13568,0,0',
    ]);
  });

  test('N for a transposed B', () => {
    expect(pieces({ m: 10, n: 50000, k: 1000, transB: true }, 128 * MIB)).toEqual([
      'multiply 10×25088×1000 at 0,0,0',
      'multiply 10×24912×1000 at 0,25088,0',
    ]);
  });

  test('K for B, and sums that are finished in the end', () => {
    const problem = normalize({ m: 10, n: 1000, k: 50000, beta: 1, bias: 'row' });
    const parts = split(problem, limits(128 * MIB));
    expect(parts.map(line)).toEqual([
      'accumulate 10×1000×25088 at 0,0,0',
      'accumulate 10×1000×24912 at 0,0,25088',
      'finish 10×1000×50000 at 0,0,0',
    ]);
    expect(sumsBytes(parts)).toBe(40000);
    expect(parts.map(({ problem: part }) => [part.beta, part.bias])).toEqual([
      [0, 'none'],
      [1, 'none'],
      [1, 'row'],
    ]);
  });

  test('a batch first', () => {
    expect(pieces({ m: 100, n: 100, k: 100, batch: 5000 }, 128 * MIB)).toEqual([
      'multiply 100×100×100 at 0,0,0 of 3355 from 0',
      'multiply 100×100×100 at 0,0,0 of 1645 from 3355',
    ]);
  });

  test('in bindings of 2 GiB − 4 bytes, with sizes that 32 bits can just hold', () => {
    const all = split(normalize({ m: 65536, n: 32, k: 65535 }), limits(2 ** 31 - 4));
    expect(all.length).toBe(8);
    for (const { windows } of all) {
      for (const { offset, size } of Object.values(windows)) {
        expect(offset % 256).toBe(0);
        expect(size).toBeLessThan(2 ** 31);
      }
    }
    expect(all.at(-1)?.windows.a.offset).toBeGreaterThan(2 ** 33);
  });
});

test('what cannot be cut is too large: a bias is bound at multiples of 256 bytes', () => {
  expect(() => pieces({ m: 1000, n: 2, k: 20000, bias: 'column' }, 65536)).toThrow(/A can't be cut/);
});

/** Elements of each operand that a piece touches, in the caller's buffer. */
function touched(
  problem: Problem,
  { problem: part, windows, size }: Piece,
  name: 'a' | 'b' | 'c',
): Set<number> {
  const layout = part[name];
  const base = (windows[name]?.offset ?? 0) / BYTES[problem[name].type];
  const trans = name !== 'c' && part[name].trans;
  const [rows, cols] = { a: [size.m, size.k], b: [size.k, size.n], c: [size.m, size.n] }[name];
  const found = new Set<number>();
  for (let batch = 0; batch < size.batch; batch++) {
    for (let row = 0; row < rows; row++) {
      for (let col = 0; col < cols; col++) {
        const [y, x] = trans ? [col, row] : [row, col];
        const element = layout.offset + batch * layout.stride + y * layout.ld + x;
        if ((element + 1) * BYTES[problem[name].type] > windows[name].size)
          throw new Error('outside its window');
        found.add(base + element);
      }
    }
  }
  return found;
}

test('any problem: windows are aligned and small enough, and every product term is there once', () => {
  const dimension = fc.integer({ min: 1, max: 40 });
  const some = fc.integer({ min: 0, max: 9 });
  const problems = fc.record({
    ...{ m: dimension, n: dimension, k: dimension, batch: fc.integer({ min: 1, max: 3 }) },
    ...{ transA: fc.boolean(), transB: fc.boolean(), type: fc.constantFrom('f32' as const, 'i8' as const) },
    ...{ padA: some, padB: some, padC: some, offsetA: fc.integer({ min: 0, max: 200 }), offsetC: some },
  });
  fc.assert(
    fc.property(problems, fc.integer({ min: 600, max: 3000 }), ({ padA, padB, padC, ...options }, room) => {
      const binding = room - (room % 4);
      const problem = normalize({
        ...options,
        lda: (options.transA ? options.m : options.k) + padA,
        ldb: (options.transB ? options.k : options.n) + padB,
        ldc: options.n + padC,
      });
      const align = 256;
      // Every piece twice: as it is, and cut further.
      const parts = split(problem, limits(binding)).flatMap(piece => halve(problem, piece, align) ?? [piece]);
      const terms = new Map<string, number>();
      for (const part of parts) {
        for (const { offset, size } of Object.values(part.windows)) {
          expect(offset % align).toBe(0);
          expect(size).toBeLessThanOrEqual(binding);
        }
        if (part.step === 'finish') continue;
        const { start, size } = part;
        for (let batch = 0; batch < size.batch; batch++) {
          const key = (m: number, n: number, k: number) => `${start.batch + batch} ${m} ${n} ${k}`;
          for (let m = start.m; m < start.m + size.m; m++) {
            for (let n = start.n; n < start.n + size.n; n++) {
              for (const k of [start.k, start.k + size.k - 1]) {
                const at = key(m, n, k);
                terms.set(at, (terms.get(at) ?? 0) + (size.k === 1 ? 0.5 : 1));
              }
            }
          }
        }
        const firstA = problem.a.offset + start.batch * problem.a.stride;
        const [rowA, colA] = problem.a.trans ? [start.k, start.m] : [start.m, start.k];
        const a = touched(problem, part, 'a');
        expect(a.has(firstA + rowA * problem.a.ld + colA)).toBe(true);
        touched(problem, part, 'b');
        if (part.step === 'multiply') {
          const c = touched(problem, part, 'c');
          expect(
            c.has(problem.c.offset + start.batch * problem.c.stride + start.m * problem.c.ld + start.n),
          ).toBe(true);
        }
      }
      expect([...terms.values()].every(count => count === 1)).toBe(true);
      const cells = new Set([...terms.keys()].map(key => key.split(' ').slice(0, 3).join(' ')));
      expect(cells.size).toBe(problem.batch * problem.m * problem.n);
    }),
    { numRuns: 150, seed: 2026 },
  );
});
