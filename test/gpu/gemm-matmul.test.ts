/** Typed arrays in, typed arrays out; NumPy's shapes; and products that are larger than the memory they may take. */
import { afterAll, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { fromHalves, toHalves } from '../../src/float16.ts';
import { createGemm } from '../../src/gemm.ts';
import type { HostInput, Product } from '../../src/host.ts';
import { closeDefault, matmul } from '../../src/matmul.ts';
import { random } from '../../src/measure/random.ts';
import { randomArray } from '../../src/trial/operands.ts';
import { halfFloats, useTestGpu } from './device.ts';

const gpu = useTestGpu();
const NO_F16 = 'the driver has no `shader-f16`';
const newGemm = () => createGemm(gpu().device, { profile: gpu().profile });

const next = random(7);
const floats = (length: number) => randomArray('f32', length, next) as Float32Array<ArrayBuffer>;

/** A·B of dense row-major matrices. */
function product(a: ArrayLike<number>, b: ArrayLike<number>, m: number, n: number, k: number): number[] {
  return Array.from({ length: m * n }, (_, cell) => {
    let sum = 0;
    for (let i = 0; i < k; i++) sum += a[Math.floor(cell / n) * k + i] * b[i * n + (cell % n)];
    return sum;
  });
}

function expectClose(got: ArrayLike<number>, want: ArrayLike<number>, tolerance = 1e-4): void {
  expect(got.length).toBe(want.length);
  let worst = 0;
  for (let i = 0; i < want.length; i++) {
    const error = Math.abs(got[i] - want[i]);
    worst = Math.max(worst, error);
  }
  expect(worst).toBeLessThanOrEqual(tolerance);
}

test('the types say what comes back', async () => {
  const gemm = await newGemm();
  const halves = new Uint16Array(1);
  const multiplied = () => gemm.matmul(halves, halves, { m: 1, n: 1, k: 1, cType: 'f32' });
  expectTypeOf(multiplied).returns.resolves.toEqualTypeOf<Float32Array<ArrayBuffer>>();
  const bare = () => gemm.matmul(halves, halves, { m: 1, n: 1, k: 1, alpha: 2 });
  expectTypeOf(bare).returns.resolves.toEqualTypeOf<Uint16Array<ArrayBuffer>>();
  expectTypeOf<Product<Float32Array, 'f16'>>().toEqualTypeOf<Uint16Array<ArrayBuffer>>();
  expectTypeOf<Product<Float32Array>>().toEqualTypeOf<Float32Array<ArrayBuffer>>();
  expectTypeOf<Product<Uint8Array>>().toEqualTypeOf<Int32Array<ArrayBuffer>>();
  expectTypeOf<Product<Uint16Array>>().toEqualTypeOf<Uint16Array>();
  expectTypeOf<Product<{ data: Int8Array; shape: number[] }>>().toEqualTypeOf<{
    readonly data: Int32Array<ArrayBuffer>;
    readonly shape: readonly number[];
  }>();
});

describe('two arrays', () => {
  test('f32', async () => {
    const gemm = await newGemm();
    const [a, b] = [floats(33 * 17), floats(17 * 18)];
    const c = await gemm.matmul(a, b, { m: 33, n: 18, k: 17 });
    expect(c).toBeInstanceOf(Float32Array);
    expectClose(c, product(a, b, 33, 18, 17));
  });

  test('8-bit integers', async () => {
    const gemm = await newGemm();
    const a = randomArray('i8', 9 * 7, next) as Int8Array;
    const b = randomArray('i8', 7 * 5, next) as Int8Array;
    const c = await gemm.matmul(a, b, { m: 9, n: 5, k: 7 });
    expect(c).toBeInstanceOf(Int32Array);
    expect([...c]).toEqual(product(a, b, 9, 5, 7));
    const unsigned = await gemm.matmul(Uint8Array.of(200, 100), Uint8Array.of(255, 3), { m: 1, n: 1, k: 2 });
    expect([...unsigned]).toEqual([200 * 255 + 300]);
  });

  test('half floats, as bits', async ({ skip }) => {
    skip(!halfFloats, NO_F16);
    const gemm = await newGemm();
    const [a, b] = [toHalves(floats(6 * 8)), toHalves(floats(8 * 7))];
    const c = await gemm.matmul(a, b, { m: 6, n: 7, k: 8 });
    expect(c).toBeInstanceOf(Uint16Array);
    expectClose(fromHalves(c), product(fromHalves(a), fromHalves(b), 6, 7, 8), 2e-3);
  });

  test('half floats, where the runtime has an array for them', async ({ skip }) => {
    skip(!halfFloats, NO_F16);
    // A stand-in with what a Float16Array shows: Node 20 has none.
    class Float16Array {
      readonly BYTES_PER_ELEMENT = 2;
      readonly bits: Uint16Array;
      constructor(readonly buffer: ArrayBuffer) {
        this.bits = new Uint16Array(buffer);
      }
      readonly byteOffset = 0;
      get byteLength() {
        return this.bits.byteLength;
      }
      get length() {
        return this.bits.length;
      }
      get [Symbol.toStringTag]() {
        return 'Float16Array' as const;
      }
    }
    const gemm = await newGemm();
    const a = new Float16Array(toHalves([1, 2, 3, 4]).buffer);
    const c = await gemm.matmul(a, a, { m: 2, n: 2, k: 2 });
    expect(c).toBeInstanceOf(Float16Array);
    expect([...fromHalves((c as Float16Array).bits)]).toEqual([7, 10, 15, 22]);
  });

  test('everything a problem has', async () => {
    const gemm = await newGemm();
    const [m, n, k] = [5, 6, 7];
    const [a, b, c, bias, residual] = [k * m, n * k, m * n, n, m * n].map(floats);
    const options = { m, n, k, transA: true, transB: true, alpha: 2, beta: 3 };
    const got = await gemm.matmul(a, b, { ...options, c, bias, residual, activation: 'relu' });
    const want = Array.from({ length: m * n }, (_, cell) => {
      const [row, col] = [Math.floor(cell / n), cell % n];
      let sum = 0;
      for (let i = 0; i < k; i++) sum += a[i * m + row] * b[col * k + i];
      return Math.max(0, 2 * sum + 3 * c[cell] + bias[col]) + residual[cell];
    });
    expectClose(got, want);
  });

  test('shared memory, and views into larger arrays', async () => {
    const gemm = await newGemm();
    const shared = new Float32Array(new SharedArrayBuffer(24));
    shared.set([1, 2, 3, 4, 5, 6]);
    const view = Float32Array.of(9, 1, 0, 0, 1, 9).subarray(1, 5);
    expect([...(await gemm.matmul(shared, view, { m: 3, n: 2, k: 2 }))]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('nothing', async () => {
    const gemm = await newGemm();
    const none = new Float32Array(0);
    expect(await gemm.matmul(none, none, { m: 0, n: 0, k: 5 })).toEqual(none);
    expect(await gemm.matmul(none, none, { m: 2, n: 1, k: 0 })).toEqual(new Float32Array(2));
  });
});

describe('shapes, as NumPy has them', () => {
  const cases: readonly [number[], number[], number[]][] = [
    [
      [1, 33, 38],
      [38, 38],
      [1, 33, 38],
    ],
    [
      [2, 1, 3, 4],
      [3, 4, 5],
      [2, 3, 3, 5],
    ],
    [
      [3, 4],
      [2, 4, 5],
      [2, 3, 5],
    ],
    [
      [2, 3, 4, 5],
      [2, 3, 5, 6],
      [2, 3, 4, 6],
    ],
    [
      [2, 2, 1, 3, 4],
      [2, 1, 3, 4, 2],
      [2, 2, 3, 3, 2],
    ],
    [[4], [4], []],
    [[4], [4, 5], [5]],
    [[3, 4], [4], [3]],
    [[2, 3, 4], [4], [2, 3]],
    [[4], [2, 4, 5], [2, 5]],
    [
      [0, 4],
      [4, 5],
      [0, 5],
    ],
    [
      [2, 0],
      [0, 3],
      [2, 3],
    ],
    [
      [0, 2, 3],
      [3, 4],
      [0, 2, 4],
    ],
  ];
  test.each(cases)('%j times %j is %j', async (shapeA, shapeB, shape) => {
    const gemm = await newGemm();
    const size = (dims: number[]) => dims.reduce((x, y) => x * y, 1);
    const [a, b] = [floats(size(shapeA)), floats(size(shapeB))];
    const got = await gemm.matmul({ data: a, shape: shapeA }, { data: b, shape: shapeB });
    expect(got.shape).toEqual(shape);
    expectClose(got.data, numpy(a, shapeA, b, shapeB));
  });

  test.each([
    [[2, 3], [4, 5], 'inner dimensions 3 and 4'],
    [[2, 3, 4], [3, 4, 5], 'batch dimensions 2 and 3'],
    [[], [4, 5], 'single number'],
    [[2, 3.5], [4, 5], '3.5'],
  ])('%j times %j is refused', async (shapeA, shapeB, message) => {
    const gemm = await newGemm();
    const data = new Float32Array(64);
    await expect(gemm.matmul({ data, shape: shapeA }, { data, shape: shapeB })).rejects.toThrow(message);
  });
});

/** numpy.matmul by its definition. */
function numpy(a: Float32Array, shapeA: number[], b: Float32Array, shapeB: number[]): number[] {
  const [rowsA, rowsB] = [
    shapeA.length === 1 ? [1, ...shapeA] : shapeA,
    shapeB.length === 1 ? [...shapeB, 1] : shapeB,
  ];
  const [m, k] = rowsA.slice(-2);
  const n = rowsB[rowsB.length - 1];
  const rank = Math.max(rowsA.length, rowsB.length) - 2;
  const outer = (shape: number[]) =>
    [...Array(rank - shape.length + 2).fill(1), ...shape.slice(0, -2)] as number[];
  const [outerA, outerB] = [outer(rowsA), outer(rowsB)];
  const all = outerA.map((size, i) => (size === 1 ? outerB[i] : size));
  const count = all.reduce((x, y) => x * y, 1);
  const place = (index: number, dims: number[]) => {
    let [rest, at, step] = [index, 0, 1];
    for (let i = rank - 1; i >= 0; i--) {
      at += (dims[i] === 1 ? 0 : rest % all[i]) * step;
      rest = Math.floor(rest / all[i]);
      step *= dims[i];
    }
    return at;
  };
  return Array.from({ length: count }, (_, index) => {
    const [atA, atB] = [place(index, outerA) * m * k, place(index, outerB) * k * n];
    return product(a.subarray(atA), b.subarray(atB), m, n, k);
  }).flat();
}

describe('streamed in tiles', () => {
  const cases = [
    { name: 'tiles of M and N', m: 150, n: 140, k: 40, memory: 60_000 },
    { name: 'both transposed', m: 150, n: 140, k: 40, memory: 60_000, transA: true, transB: true },
    { name: 'parts of K', m: 9, n: 8, k: 3001, memory: 40_000 },
    { name: 'groups of a batch', m: 12, n: 13, k: 14, batch: 9, memory: 6_000 },
    { name: 'parts of the products of a batch', m: 90, n: 80, k: 20, batch: 2, memory: 40_000 },
  ];
  test.each(cases)('$name', async ({ name: _, ...options }) => {
    const gemm = await newGemm();
    const { m, n, k, batch = 1 } = options;
    const [a, b, residual] = [batch * m * k, batch * k * n, batch * m * n].map(floats);
    const bias = floats(m);
    const extra = { bias, biasAlong: 'column', residual, activation: 'relu', kernel: 'plain' } as const;
    const shares: number[] = [];
    const onProgress = (share: number) => shares.push(share);
    const whole = await gemm.matmul(a, b, { ...options, memory: 1e9, ...extra });
    const tiled = await gemm.matmul(a, b, { ...options, ...extra, onProgress });
    expectClose(tiled, whole, 2e-4);
    expect(shares.length).toBeGreaterThan(2);
    expect(shares.at(-1)).toBeCloseTo(1);
  });

  test('halves in parts of K are rounded once', async ({ skip }) => {
    skip(!halfFloats, NO_F16);
    const gemm = await newGemm();
    const [m, n, k] = [3, 4, 5000];
    const [a, b] = [toHalves(floats(m * k)), toHalves(floats(k * n))];
    const c = await gemm.matmul(a, b, { m, n, k, memory: 20_000, kernel: 'plain' });
    expectClose(fromHalves(c), product(fromHalves(a), fromHalves(b), m, n, k), 0.05);
  });

  test('stops when it is told to', async () => {
    const gemm = await newGemm();
    const abort = new AbortController();
    const data = floats(200 * 200);
    const run = gemm.matmul(data, data, {
      ...{ m: 200, n: 200, k: 200, memory: 100_000, signal: abort.signal },
      onProgress: () => abort.abort(),
    });
    await expect(run).rejects.toThrow('aborted');
  });

  test('not at all where nothing fits', async () => {
    const gemm = await newGemm();
    const data = floats(100);
    await expect(gemm.matmul(data, data, { m: 10, n: 10, k: 10, memory: 8 })).rejects.toMatchObject({
      code: 'too-large',
    });
  });
});

describe('bad arrays', () => {
  const size = { m: 4, n: 4, k: 4 };
  const ok = new Float32Array(16);
  const bad: [string, HostInput, HostInput, object, string][] = [
    ['A is too short', new Float32Array(15), ok, size, 'shape-mismatch'],
    ['B is too long', ok, new Float32Array(17), size, 'shape-mismatch'],
    ['A is of float64', new Float64Array(16) as never, ok, size, 'invalid-argument'],
    ['A is a list', Array(16).fill(0) as never, ok, size, 'invalid-argument'],
    ['integers times floats', new Int8Array(16), ok, size, 'invalid-argument'],
    ['k is missing', ok, ok, { m: 4, n: 4 }, 'invalid-argument'],
    ['beta without c', ok, ok, { ...size, beta: 1 }, 'invalid-argument'],
    ['c is too short', ok, ok, { ...size, beta: 1, c: new Float32Array(3) }, 'shape-mismatch'],
    ['the bias is too long', ok, ok, { ...size, bias: new Float32Array(5) }, 'shape-mismatch'],
    ['the residual is of integers', ok, ok, { ...size, residual: new Int32Array(16) }, 'invalid-argument'],
    ['only A has a shape', { data: ok, shape: [4, 4] } as never, ok, size, 'invalid-argument'],
  ];
  test.each(bad)('%s', async (_, a, b, options, code) => {
    const gemm = await newGemm();
    await expect(gemm.matmul(a, b, options)).rejects.toMatchObject({ name: 'GemmError', code });
  });
});

describe('matmul() opens a device itself', () => {
  afterAll(closeDefault);

  test('keeps it, and opens another one after it was given back', async () => {
    for (let i = 0; i < 2; i++) {
      expect([...(await matmul(Float32Array.of(2), Float32Array.of(3), { m: 1, n: 1, k: 1 }))]).toEqual([6]);
    }
    await closeDefault();
    await closeDefault();
    const { data } = await matmul(
      { data: Float32Array.of(1, 2), shape: [2] },
      { data: Float32Array.of(3, 4), shape: [2] },
    );
    expect([...data]).toEqual([11]);
  });

  test("takes the browser's GPU where there is one, and another device when that is lost", async () => {
    await closeDefault();
    const devices: GPUDevice[] = [];
    const requestAdapter = async () => {
      const adapter = await gpu().gpu.requestAdapter();
      const request = adapter!.requestDevice;
      adapter!.requestDevice = async descriptor => {
        devices.push(await Reflect.apply(request, adapter, [descriptor]));
        return devices[devices.length - 1];
      };
      return adapter;
    };
    const browser = { requestAdapter, wgslLanguageFeatures: gpu().gpu.wgslLanguageFeatures };
    vi.stubGlobal('navigator', { gpu: browser });
    const data = Float32Array.of(3);
    const size = { m: 1, n: 1, k: 1 };
    expect([...(await matmul(data, data, size))]).toEqual([9]);
    const pending = matmul(data, data, { ...size, activation: 'tanh' });
    devices[0].destroy();
    await expect(pending).rejects.toMatchObject({ code: 'device-lost' });
    expect([...(await matmul(data, data, size))]).toEqual([9]);
    expect(devices).toHaveLength(2);

    await closeDefault();
    vi.stubGlobal('navigator', { gpu: { requestAdapter: async () => null } });
    await expect(matmul(data, data, size)).rejects.toMatchObject({ code: 'no-gpu' });
    vi.unstubAllGlobals();
    expect([...(await matmul(data, data, size))]).toEqual([9]);
  });
});
