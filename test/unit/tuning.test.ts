/** Records, and what they say of other problems and other devices. Nothing here needs a GPU. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { choose } from '../../src/choose.ts';
import { KERNELS } from '../../src/kernels/index.ts';
import { fileStore, tuningFile } from '../../src/node/store-file.ts';
import { normalize, type ProblemOptions } from '../../src/problem.ts';
import { describeShape, parseShapes, SHAPE_SETS } from '../../src/trial/shapes.ts';
import { distance, lookup } from '../../src/tuning/lookup.ts';
import {
  adapterKey,
  extended,
  readTuningRecord,
  sameAdapter,
  sameProblem,
  type TuningEntry,
  type TuningRecord,
  tunedProblem,
} from '../../src/tuning/record.ts';
import { TABLES } from '../../src/tuning/shipped/index.ts';
import { shippedFor } from '../../src/tuning/shipped.ts';
import { startingPoints } from '../../src/tuning/starting-points.ts';
import { APPLE, NVIDIA } from './profiles.ts';

const H200 = { ...NVIDIA, vendor: 'nvidia', device: 'nvidia-h200', description: 'NVIDIA: 580' };

const entry = (options: ProblemOptions, more: Partial<TuningEntry> = {}): TuningEntry => ({
  ...tunedProblem(normalize(options)),
  ...{ kernel: 'plain', params: { tile: 16 }, ms: 1, spread: 0.01, tflops: 1, relErr: 1e-7 },
  ...more,
});

const record = (...entries: TuningEntry[]): TuningRecord => ({
  ...{ schema: 'webgemm-tuning/1', date: '2026-11-30T00:00:00.000Z', runtime: 'Node 22', entries },
  adapter: { vendor: 'nvidia', architecture: '', device: 'nvidia-h200', description: 'NVIDIA: 570' },
});

describe('a record', () => {
  const good = record(entry({ m: 4, n: 5, k: 6 }));

  test('is read again as it was written', () => {
    expect(readTuningRecord(JSON.parse(JSON.stringify(good)))).toEqual(good);
  });

  test.each([
    [null, /it is no object/],
    [[], /its schema is undefined/],
    [{ ...good, schema: 'webgemm-ladder/1' }, /its schema is "webgemm-ladder\/1", not "webgemm-tuning\/1"/],
    [{ ...good, date: 'today' }, /its date/],
    [{ ...good, runtime: 7 }, /its runtime/],
    [{ ...good, adapter: { vendor: 'x' } }, /its adapter has no architecture/],
    [{ ...good, entries: {} }, /it has no entries/],
    [{ ...good, entries: [null] }, /m of entry 0 is undefined/],
    [
      { ...good, entries: [entry({ m: 4, n: 5, k: 6 }), { ...good.entries[0], m: -1 }] },
      /m of entry 1 is -1/,
    ],
    [{ ...good, entries: [{ ...good.entries[0], aType: 'f64' }] }, /aType of entry 0 is "f64"/],
    [{ ...good, entries: [{ ...good.entries[0], params: { tile: '16' } }] }, /params of entry 0/],
    [{ ...good, entries: [{ ...good.entries[0], ms: null }] }, /ms of entry 0 is null/],
  ])('%#: what is none is refused with the field', (value, message) => {
    expect(() => readTuningRecord(value)).toThrow(
      expect.objectContaining({ code: 'invalid-file', message: expect.stringMatching(message) }),
    );
  });

  test('grows: for a problem that is in both, the newer entry counts', () => {
    const [x, y] = [entry({ m: 1, n: 2, k: 3 }), entry({ m: 2, n: 2, k: 3 })];
    const newer = { ...record({ ...x, ms: 0.5 }), date: '2026-12-01T00:00:00.000Z' };
    expect(extended(record(x, y), newer)).toEqual({ ...newer, entries: [y, { ...x, ms: 0.5 }] });
  });
});

describe('an adapter', () => {
  const { adapter } = record();

  test.each([
    ['with another driver', { description: 'NVIDIA: 580' }, true],
    ['in a browser, which tells no device', { device: '' }, true],
    ['of another architecture', { architecture: 'ampere' }, true],
    ['another device', { device: 'nvidia-a100' }, false],
    ['another vendor', { vendor: 'amd' }, false],
  ])('%s', (_, change, same) => {
    expect(sameAdapter(adapter, { ...adapter, ...change })).toBe(same);
  });

  test('without any name is like no other', () => {
    const nameless = { vendor: '', architecture: '', device: '', description: '' };
    expect(sameAdapter(nameless, nameless)).toBe(false);
    expect(adapterKey(nameless)).toBe('unknown');
    expect(adapterKey({ ...adapter, device: 'A/B (C)' })).toBe('nvidia-a-b-c');
  });
});

describe('a problem', () => {
  test('is dense or strided', () => {
    const layout = (options: ProblemOptions) => tunedProblem(normalize(options)).layout;
    expect(layout({ m: 4, n: 5, k: 6, transA: true, batch: 3 })).toBe('dense');
    expect(layout({ m: 4, n: 5, k: 6, lda: 8 })).toBe('strided');
    expect(layout({ m: 4, n: 5, k: 6, offsetB: 1 })).toBe('strided');
    expect(layout({ m: 4, n: 5, k: 6, batch: 3, strideB: 0 })).toBe('strided');
  });

  const between = (x: ProblemOptions, y: ProblemOptions) =>
    distance(tunedProblem(normalize(x)), tunedProblem(normalize(y)));

  test.each<[string, ProblemOptions, ProblemOptions, 'near' | 'far']>([
    ['one step larger', { m: 512, n: 512, k: 512 }, { m: 512, n: 768, k: 512 }, 'near'],
    ['a third larger in all', { m: 768, n: 768, k: 768 }, { m: 1024, n: 1024, k: 1024 }, 'near'],
    ['twice as large in all', { m: 512, n: 512, k: 512 }, { m: 1024, n: 1024, k: 1024 }, 'far'],
    ['three times as wide', { m: 512, n: 512, k: 512 }, { m: 512, n: 1536, k: 512 }, 'far'],
    ['one row and two', { m: 1, n: 512, k: 512 }, { m: 2, n: 512, k: 512 }, 'far'],
    ['few rows and more', { m: 16, n: 512, k: 512 }, { m: 20, n: 512, k: 512 }, 'far'],
    ['deep or not', { m: 64, n: 64, k: 1024 }, { m: 65, n: 64, k: 1024 }, 'far'],
    ['another type', { m: 512, n: 512, k: 512 }, { m: 512, n: 512, k: 512, type: 'f16' }, 'far'],
    ['transposed', { m: 512, n: 512, k: 512 }, { m: 512, n: 512, k: 512, transB: true }, 'far'],
    ['strict', { m: 512, n: 512, k: 512 }, { m: 512, n: 512, k: 512, accuracy: 'strict' }, 'far'],
    ['a batch or not', { m: 64, n: 64, k: 64 }, { m: 64, n: 64, k: 64, batch: 2 }, 'far'],
    ['a batch twice as large', { m: 64, n: 64, k: 64, batch: 8 }, { m: 64, n: 64, k: 64, batch: 16 }, 'near'],
  ])('%s', (_, x, y, expected) => {
    expect(between(x, y) === Number.POSITIVE_INFINITY ? 'far' : 'near').toBe(expected);
    expect(between(y, x) === Number.POSITIVE_INFINITY ? 'far' : 'near').toBe(expected);
    expect(between(x, x)).toBe(0);
  });

  test('of even rows is nearer to one of even rows', () => {
    const even = { m: 1024, n: 1024, k: 1024 };
    expect(between({ m: 1000, n: 1000, k: 1000 }, even)).toBeLessThan(
      between({ m: 1023, n: 1023, k: 1023 }, even),
    );
  });
});

describe('what is known', () => {
  const wanted = normalize({ m: 512, n: 512, k: 512 });

  test('is the problem itself first, then the nearest ones, each kernel once', () => {
    const known = record(
      entry({ m: 512, n: 512, k: 1024 }, { kernel: 'far' }),
      entry({ m: 512, n: 512, k: 768 }, { kernel: 'near', ms: 3 }),
      entry({ m: 512, n: 512, k: 512 }, { kernel: 'own', ms: 2 }),
      entry({ m: 512, n: 600, k: 512 }, { kernel: 'own' }),
      entry({ m: 1, n: 512, k: 512 }, { kernel: 'other' }),
    );
    const own = lookup(wanted, H200, [known]).filter(
      ({ source }) => source === 'measured' || source === 'near',
    );
    expect(own.map(({ kernel, source }) => `${kernel} ${source}`)).toEqual([
      'own measured',
      'near near',
      'far near',
    ]);
    expect(own[0]).toMatchObject({ ms: 2, note: 'tuned for 512×512×512 on this device' });
    // As long as the work is.
    expect(own[1].ms).toBeCloseTo(2);
  });

  test('of another device is nothing', () => {
    const known = record(entry({ m: 512, n: 512, k: 512 }));
    expect(lookup(wanted, { ...H200, vendor: 'amd', device: 'x' }, [known])).toEqual(
      startingPoints(wanted, { ...H200, vendor: 'amd' }),
    );
  });
});

describe('what is shipped', () => {
  test('is for GPUs of the family, and every entry is one that its kernel can take', () => {
    for (const { kinds, vendor } of TABLES) {
      expect(vendor).not.toBe('');
      for (const { rows } of kinds) {
        for (const [, , , , kernel] of rows) expect(KERNELS.map(({ name }) => name)).toContain(kernel);
      }
    }
    expect(shippedFor({ ...NVIDIA, vendor: 'nobody' })).toEqual([]);
  });

  test("of an H200 is what is chosen there for each entry's own problem", () => {
    const bytes = { maxBufferSize: 2 ** 31, maxStorageBufferBindingSize: 2 ** 31 };
    const threads = { maxComputeInvocationsPerWorkgroup: 1024, maxComputeWorkgroupSizeX: 1024 };
    const limits = { ...H200.limits, ...bytes, ...threads };
    const profile = { ...H200, limits };
    const entries = shippedFor(profile);
    expect(entries.length).toBeGreaterThan(30);
    for (const { kernel, params, ...problem } of entries) {
      const wanted = normalize(problem);
      const [first] = choose(wanted, profile, { suggested: lookup(wanted, profile, []) }).ranked;
      expect({ kernel: first.kernel.name, params: first.params }).toEqual({ kernel, params });
    }
  });
});

describe('starting points', () => {
  const large = normalize({ m: 1024, n: 1024, k: 1024 });

  test.each(['apple', 'amd', 'intel', 'qualcomm', 'arm'])('%s: a candidate has what is preferred', vendor => {
    const profile = { ...APPLE, vendor, architecture: 'xe-lpg' };
    const points = startingPoints(large, profile);
    expect(points.length).toBeGreaterThan(0);
    for (const { kernel: name, params, note } of points) {
      const kernel = KERNELS.find(it => it.name === name)!;
      const fitting = kernel
        .candidates(large, profile)
        .filter(candidate => Object.entries(params).every(([key, value]) => candidate[key] === value));
      expect(fitting, `${name} ${JSON.stringify(params)}`).not.toEqual([]);
      expect(note).toMatch(/https:\/\//);
    }
    const { ranked } = choose(large, profile, { suggested: points });
    const first = ranked.find(({ kernel }) => kernel.name === points[0].kernel)!;
    expect(first).toMatchObject({ source: 'suggested', params: points[0].params });
  });

  test('leave small problems and unknown GPUs alone', () => {
    expect(startingPoints(normalize({ m: 64, n: 64, k: 64 }), { ...APPLE, vendor: 'apple' })).toEqual([]);
    expect(startingPoints(large, H200)).toEqual([]);
  });
});

describe('shapes', () => {
  test('are sets, sizes and batches, each once', () => {
    const shapes = parseShapes('quick, 5x6x7,5×6×7,2x3x4x9');
    expect(shapes.slice(0, SHAPE_SETS.quick.length)).toEqual(SHAPE_SETS.quick);
    expect(shapes.slice(SHAPE_SETS.quick.length).map(describeShape)).toEqual(['5×6×7', '9 × 2×3×4']);
    expect(parseShapes('transposes').map(describeShape)).toEqual([
      '2048×4096×4096',
      '2048×4096×4096 NT',
      '2048×4096×4096 TN',
      '2048×4096×4096 TT',
    ]);
    expect(new Set(SHAPE_SETS.all.map(describeShape)).size).toBe(SHAPE_SETS.all.length);
    for (const shape of SHAPE_SETS.all) expect(sameProblem(entry(shape), entry(shape))).toBe(true);
  });

  test.each(['', 'cube', '1x2', '1x2x3x4x5', '0x1x1', '1x1x1.5', 'square,', '-1x2x3', 'toString'])(
    '%j is refused',
    text => {
      expect(() => parseShapes(text)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    },
  );
});

describe('a store in a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'webgemm-'));
  afterAll(() => rm(folder, { recursive: true }));

  test('keeps a record, and leaves no drafts', async () => {
    const file = join(folder, 'of', 'mine', 'tuned.json');
    const store = fileStore(file);
    const kept = record(entry({ m: 1, n: 2, k: 3 }));
    expect(await store.load(kept.adapter)).toBeNull();
    await Promise.all([store.save(kept), store.save(kept)]);
    expect(await store.load(kept.adapter)).toEqual(kept);
    expect(await readdir(join(folder, 'of', 'mine'))).toEqual(['tuned.json']);
    await writeFile(file, '{');
    await expect(store.load(kept.adapter)).rejects.toThrow();
    await expect(fileStore(join(file, 'below')).save(kept)).rejects.toThrow();
  });

  test('has a file for each GPU, if none is named', () => {
    expect(tuningFile(record().adapter)).toMatch(/webgemm.tuning-nvidia-nvidia-h200\.json$/);
  });
});
