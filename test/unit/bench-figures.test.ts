import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readCublas } from '../../bench/cublas.ts';
import { comparisons, targets } from '../../scripts/bench-figures.ts';
import { type BenchRecord, type BenchResult, blankResult } from '../../src/bench/record.ts';
import { benchRows, speed } from '../../src/bench/table.ts';
import { parseShapes, SHAPE_SETS, type TrialShape } from '../../src/trial/shapes.ts';

type Given = Partial<BenchResult>;
const square = (size: number) => [size, size, size] as const;
const result = (group: BenchResult['group'], name: string, given: Given): BenchResult => ({
  ...blankResult(group, name),
  ...{ dtype: 'f32', shape: square(1024), relErr: 1e-6 },
  ...given,
});
const ours = (given: Given) =>
  result('ours', 'webgemm', { accuracy: 'f32', timer: 'gpu-timestamp', ...given });
const peer = (name: string, given: Given) => result('peer', name, { timer: 'wall-clock', ...given });
const cublas = (given: Given) => result('cublas', `cublas-${given.dtype ?? 'f32'}`, given);
const record = (...results: readonly BenchResult[]) => ({ results }) as unknown as BenchRecord;

test('a row holds ours by both clocks, and compares each other with the one that it was timed by', () => {
  const [row, strict, ...more] = benchRows([
    ours({ ms: 1 }),
    ours({ ms: 2, timer: 'wall-clock' }),
    peer('jax', { ms: 6 }),
    peer('tensorflow', { failure: 'it is not installed' }),
    cublas({ ms: 3 }),
    ours({ ms: 5, accuracy: 'strict' }),
  ]);
  expect(row).toMatchObject({ shape: '1024×1024×1024', ours: { ms: 1 }, oursByWallClock: { ms: 2 } });
  expect(row.others.map(({ result, faster }) => [result.name, faster])).toEqual([
    ['jax', 3],
    ['tensorflow', null],
    ['cublas-f32', 3],
  ]);
  expect(strict).toMatchObject({ ours: { ms: 5 }, others: [] });
  expect(more).toEqual([]);
});

test("a time of ours that belongs to a wrong result is nobody's figure", () => {
  const failure = 'C[1, 2] is 3 where 4 is due: 5.00 times the allowed error';
  const [row] = benchRows([
    ours({ ms: 1, tflops: 2, gbps: 3, spread: 0.1, failure }),
    ours({ ms: 1, tflops: 2, timer: 'wall-clock', failure }),
    peer('jax', { ms: 6 }),
    cublas({ ms: 3 }),
  ]);
  const none = { ms: null, tflops: null, gbps: null, spread: null, failure };
  expect(row.ours).toMatchObject(none);
  expect(row.oursByWallClock).toMatchObject({ ms: null, tflops: null, failure });
  expect(row.others.map(({ faster }) => faster)).toEqual([null, null]);
});

test('means are geometric, and the fastest peer is another one for each shape', () => {
  const shapes = [square(256), square(512)];
  const found = comparisons(
    record(
      ...shapes.map(shape => ours({ shape, ms: 1, timer: 'wall-clock' })),
      ...shapes.map((shape, i) => peer('jax', { shape, ms: [2, 8][i] })),
      ...shapes.map((shape, i) => peer('tensorflow', { shape, ms: [0.5, 32][i] })),
    ),
    'f32',
  );
  expect(found).toEqual([
    { name: 'jax', dtype: 'f32', products: 2, mean: 4, least: { shape: '256×256×256', faster: 2 } },
    { name: 'tensorflow', dtype: 'f32', products: 2, mean: 4, least: { shape: '256×256×256', faster: 0.5 } },
    {
      name: 'the fastest peer',
      dtype: 'f32',
      products: 2,
      mean: expect.closeTo(2, 9),
      least: { shape: '256×256×256', faster: 0.5 },
    },
  ]);
});

test('a target is reached, not reached, or not known', () => {
  const shape = square(4096);
  const found = targets(
    record(
      ours({ shape, ms: 1, tflops: 160, relErr: 2e-6 }),
      cublas({ shape, ms: 3, tflops: 50.84, relErr: 1e-6 }),
      ours({ shape, ms: 1, tflops: 300, dtype: 'f16' }),
      ours({ shape: [1, 4096, 14336], ms: 1, gbps: 3600 }),
      result('ceiling', 'copy', { shape: null, gbps: 4000 }),
    ),
  );
  const reached = (what: string) => found.find(it => it.what === what);
  expect(reached('f32, 4096×4096×4096')).toMatchObject({ measured: '160.0 TFLOP/s', reached: true });
  expect(reached('f32, 4096×4096×4096, error')).toMatchObject({ measured: '2.00e-6', reached: false });
  expect(reached('f32, 4096×4096×4096, strict')).toMatchObject({ target: '≥ 50.8 TFLOP/s', reached: null });
  expect(reached('f16, 4096×4096×4096')).toMatchObject({ reached: false });
  expect(reached("f32, 1×4096×14336, of a copy's bandwidth")).toMatchObject({
    measured: '90 %',
    reached: true,
  });
  expect(reached('i8, 4096×4096×4096')).toMatchObject({ measured: 'no figure', reached: null });
});

test('speeds have the unit that says most', () => {
  expect(speed(ours({ tflops: 162.34, gbps: 100 }))).toBe('162 TFLOP/s');
  expect(speed(ours({ tflops: 0.0123, gbps: 100 }))).toBe('12.3 GFLOP/s');
  expect(speed(ours({ tflops: 1206, dtype: 'i8' }))).toBe('1.21 POP/s');
  expect(speed(ours({ tflops: 2, gbps: 3952, shape: [1, 4096, 4096] }))).toBe('3.95 TB/s');
  expect(speed(ours({}))).toBe('–');
});

test("the vendor's lines become results, and other lines are passed over", () => {
  const lines = [
    'a warning',
    '{"shape":"2048x4096x1024:TN","dtype":"f16","ms":0.5,"tflops":1,"rel_err":2e-4}',
    '{"shape":"512x512x64x32","dtype":"f32","ms":1,"tflops":1,"rel_err":1e-6}',
  ];
  const [first, second, ...more] = readCublas(lines.join('\n'));
  expect(first).toMatchObject({
    ...{ group: 'cublas', name: 'cublas-f16', shape: [2048, 4096, 1024], transA: true, transB: false },
    ...{ batch: 1, ms: 0.5, relErr: 2e-4 },
  });
  expect(first.tflops).toBeCloseTo((2 * 2048 * 4096 * 1024) / 0.5e9, 9);
  expect(second).toMatchObject({
    name: 'cublas-f32',
    batch: 32,
    gbps: ((512 * 64 * 2 + 512 * 512) * 32 * 4) / 1e6,
  });
  expect(more).toEqual([]);
});

test("the vendor's library is timed on every shape of the table", () => {
  const words = readFileSync(new URL('../../bench/cublas-shapes.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const wordOf = ({ m, n, k, batch = 1, transA, transB }: TrialShape) => {
    const layout = transA || transB ? `:${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}` : '';
    return `${m}x${n}x${k}${batch > 1 ? `x${batch}` : ''}${layout}`;
  };
  expect(words).toEqual(SHAPE_SETS.all.map(wordOf));
  expect(() => parseShapes(words.filter(word => !word.includes(':')).join())).not.toThrow();
});
