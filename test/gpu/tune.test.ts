/** Tuning on a real driver: what wins is what was fastest, and nothing that a candidate does ends it. */
import { describe, expect, test } from 'vitest';
import { createGemm, type Gemm, type GemmOptions } from '../../src/gemm.ts';
import type { Kernel, Params } from '../../src/kernels/kernel.ts';
import { plain } from '../../src/kernels/plain.ts';
import { registerTile } from '../../src/kernels/register-tile.ts';
import { memoryStore } from '../../src/tuning/store.ts';
import { hasIndexedDB, indexedDBStore } from '../../src/tuning/store-indexeddb.ts';
import type { TuneOptions, TuneResult } from '../../src/tuning/tune.ts';
import { driver, useTestGpu } from './device.ts';
import { runProblem } from './gemm.ts';
import { openTestGpu } from './open.ts';

const gpu = useTestGpu();
const newGemm = (options: GemmOptions = {}) =>
  createGemm(gpu().device, { profile: gpu().profile, tuning: [], ...options });
const problem = { m: 32, n: 32, k: 32 };

/** The plain kernel that computes everything `again` times over. */
const slowed = (times: readonly number[], more: Partial<Kernel> = {}): Kernel => ({
  ...plain,
  name: 'slowed',
  candidates: () => times.map(again => ({ again })),
  estimate: () => 1,
  build: (given, profile, { again }) =>
    changed(plain.build(given, profile, {}), wgsl =>
      wgsl
        .replace(
          'for (var start',
          `for (var again = 0u; again < ${again}u; again++) { sum = Sum();\n  for (var start`,
        )
        .replace('storeC(tile.batch, row, col, sum);', '}\n  storeC(tile.batch, row, col, sum);'),
    ),
  ...more,
});

const spoiled = (name: string, change: (wgsl: string) => string): Kernel => ({
  ...plain,
  name,
  build: (...args) => changed(plain.build(...args), change),
});

function changed(program: ReturnType<Kernel['build']>, change: (wgsl: string) => string) {
  return { ...program, passes: program.passes.map(pass => ({ ...pass, wgsl: change(pass.wgsl) })) };
}

async function tuneOne(gemm: Gemm, options: TuneOptions = {}) {
  const results: TuneResult[] = [];
  const record = await gemm.tune(problem, { ...options, onResult: result => results.push(result) });
  return { record, ...results[0] };
}

const statusOf = ({ tried }: TuneResult, kernel: string, params?: Params) =>
  tried.find(it => it.kernel === kernel && (!params || JSON.stringify(it.params) === JSON.stringify(params)));

describe('the search', () => {
  test('finds the fastest, and plans use it from then on', async () => {
    // So far apart that what a dispatch costs on a busy machine does not level them.
    const gemm = await newGemm({ kernels: [slowed([32, 1, 24])] });
    const before = await gemm.plan(problem);
    expect(before.explain()).toMatchObject({ params: { again: 32 }, source: 'default' });
    const { record, tried, best, before: measuredBefore } = await tuneOne(gemm);
    expect(record).toMatchObject({
      schema: 'webgemm-tuning/1',
      adapter: { vendor: gpu().profile.vendor },
      entries: [{ ...problem, kernel: 'slowed', params: { again: 1 }, transA: false, accuracy: 'f32' }],
    });
    expect(measuredBefore?.params).toEqual({ again: 32 });
    const fastest = Math.min(...tried.map(({ ms }) => ms ?? Number.POSITIVE_INFINITY));
    expect(record.entries[0].ms).toBe(fastest);
    expect(best?.ms).toBe(fastest);
    expect(record.entries[0].relErr).toBeLessThan(1e-6);
    const { plan, failure } = await runProblem(gemm, problem);
    expect(failure).toBeNull();
    expect(plan.explain()).toMatchObject({ params: { again: 1 }, source: 'measured', expectedMs: fastest });
    expect(`${plan.explain()}`).toMatch(/tuned for 32×32×32 on this device[\s\S]*\(measured\)/);
    expect(gemm.explain({ m: 50, n: 40, k: 32 })).toMatchObject({
      ...{ params: { again: 1 }, source: 'near', tuning: 'tuned for 32×32×32 on this device' },
    });
    expect(gemm.explain({ m: 500, n: 32, k: 32 }).source).toBe('default');
    before.destroy();
    gemm.destroy();
  });

  test("tries every kernel's own space", async () => {
    const spacious = slowed([8], { space: () => [{ again: 8 }, { again: 1 }] });
    // The whole of its space is compiled for seconds a point on most drivers.
    const points = driver === 'lavapipe-26' ? Number.POSITIVE_INFINITY : 2;
    const real: Kernel = {
      ...registerTile,
      candidates: (...args) => registerTile.candidates(...args).slice(0, points),
      space: (...args) => registerTile.space!(...args).slice(0, points),
    };
    const gemm = await newGemm({ kernels: [spacious, plain, real] });
    const { tried, record } = await tuneOne(gemm);
    const names = new Set(tried.map(({ kernel }) => kernel));
    expect([...names].sort()).toEqual(['plain', 'register-tile', 'slowed']);
    expect(tried.filter(({ kernel }) => kernel === 'slowed')).toHaveLength(2);
    expect(tried.filter(({ status }) => status === 'fastest')).toMatchObject([
      { kernel: record.entries[0].kernel, params: record.entries[0].params },
    ]);
    gemm.destroy();
  });

  test('passes over what fails, with the reason', async () => {
    const kernels = [
      plain,
      spoiled('broken', wgsl => `${wgsl}\nfn broken() -> f32 { return nothing; }`),
      spoiled('wrong', wgsl => wgsl.replace('k < TILE;', 'k < TILE - 1;')),
      slowed([1, 2], {
        name: 'large',
        build: (...args) => {
          const program = plain.build(...args);
          return { ...program, passes: program.passes.map(pass => ({ ...pass, workgroupMemory: 2 ** 30 })) };
        },
      }),
      slowed([1], {
        name: 'hopeless',
        candidates: () => [{ again: 1 }, { again: 2 }],
        estimate: (_, __, { again }) => again ** 9,
      }),
      // Enough to be slow on a driver that takes milliseconds, and on one that takes microseconds.
      slowed([/swiftshader/i.test(gpu().profile.architecture) ? 500 : 5000]),
    ];
    const gemm = await newGemm({ kernels });
    const result = await tuneOne(gemm);
    expect(statusOf(result, 'broken')).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching('nothing'),
    });
    expect(statusOf(result, 'wrong')).toMatchObject({
      status: 'wrong',
      reason: expect.stringMatching(/C\[/),
    });
    expect(statusOf(result, 'large')).toMatchObject({
      ...{ status: 'over-limits', reason: expect.stringMatching('workgroup memory') },
    });
    expect(statusOf(result, 'hopeless', { again: 2 })).toMatchObject({ status: 'pruned' });
    expect(statusOf(result, 'slowed')).toMatchObject({
      status: 'slow',
      reason: expect.stringMatching(/ ms/),
    });
    expect(['plain', 'hopeless']).toContain(result.record.entries[0].kernel);
    gemm.destroy();
  });

  test('says where there is nothing to find', async () => {
    const gemm = await newGemm({
      kernels: [spoiled('wrong', wgsl => wgsl.replace('k < TILE;', 'k < TILE - 1;'))],
    });
    const results: TuneResult[] = [];
    const record = await gemm.tune([{ m: 0, n: 4, k: 4 }, problem], { onResult: it => results.push(it) });
    expect(record.entries).toEqual([]);
    expect(results.map(({ reason }) => reason)).toEqual([
      'there is nothing to multiply',
      'no candidate could be measured',
    ]);
    gemm.destroy();
  });
});

describe('tuning ends early', () => {
  const kernels = [slowed([2, 1, 3])];

  test('when it is aborted, with what was measured', async () => {
    const gemm = await newGemm({ kernels });
    const controller = new AbortController();
    const { record, reason } = await tuneOne(gemm, {
      signal: controller.signal,
      onProgress: ({ best }) => best && controller.abort(),
    });
    expect(reason).toBe('it was stopped');
    expect(record.entries).toHaveLength(1);
    expect(gemm.explain(problem).source).toBe('measured');
    const aborted = await gemm.tune(problem, { signal: AbortSignal.abort() });
    expect(aborted.entries).toEqual([]);
    gemm.destroy();
  });

  test('when its time is up, with what was measured', async () => {
    const gemm = await newGemm({ kernels });
    const result = await tuneOne(gemm, { budgetSeconds: 1e-3 });
    expect(result.reason).toBe('the time was up');
    expect(result.record.entries).toHaveLength(1);
    expect(statusOf(result, 'slowed', { again: 3 })).toMatchObject({ status: 'untried' });
    await expect(gemm.tune(problem, { budgetSeconds: 0 })).rejects.toMatchObject({
      code: 'invalid-argument',
    });
    gemm.destroy();
  });

  test('when the device is lost, with what was measured', async () => {
    const { device, profile, close } = await openTestGpu();
    const store = memoryStore();
    const gemm = await createGemm(device, { profile, kernels, tuning: store });
    const tuning = gemm.tune([problem, { m: 40, n: 40, k: 40 }], {
      onProgress: ({ index, phase }) => index === 1 && phase === 'measuring' && device.destroy(),
    });
    await expect(tuning).rejects.toMatchObject({ code: 'device-lost' });
    expect((await store.load(profile))?.entries).toMatchObject([problem]);
    close();
  });
});

describe('a record', () => {
  const kernels = [slowed([16, 1])];
  const tuned = async () => {
    const gemm = await newGemm({ kernels });
    const record = await gemm.tune(problem);
    gemm.destroy();
    return record;
  };

  test('as JSON, and every store, makes another Gemm choose what was found', async () => {
    const record = JSON.parse(JSON.stringify(await tuned()));
    const stores = [memoryStore(), ...(hasIndexedDB() ? [indexedDBStore()] : [])];
    // Node has none; in a page it must be there, and newer Denos have it.
    if (driver === 'chromium') expect(stores).toHaveLength(2);
    for (const store of stores) {
      expect(await store.load({ ...record.adapter, vendor: 'nobody' })).toBeNull();
      await store.save(record);
      expect(await store.load(record.adapter)).toEqual(record);
    }
    for (const tuning of [record, ...stores, [memoryStore(), record]]) {
      const gemm = await newGemm({ kernels, tuning });
      expect(gemm.explain(problem)).toMatchObject({ source: 'measured', params: { again: 1 } });
      expect(gemm.ignoredTuning).toEqual([]);
      gemm.destroy();
    }
  });

  test('grows with what is tuned later, in the store', async () => {
    const store = memoryStore();
    for (const m of [24, 32, 24]) {
      const gemm = await newGemm({ kernels, tuning: store });
      await gemm.tune({ ...problem, m }, { budgetSeconds: 1 });
      gemm.destroy();
    }
    const record = await store.load(gpu().profile);
    expect(record?.entries.map(({ m }) => m)).toEqual([32, 24]);
  });

  test('of another GPU, and what a store holds that is none, are left out with the reason', async () => {
    const record = await tuned();
    const broken = { ...memoryStore(), load: async () => ({ schema: 'nothing' }) as never };
    const failing = {
      load: () => Promise.reject(new Error('private window')),
      save: () => Promise.reject(new Error('private window')),
    };
    const foreign = { ...record, adapter: { ...record.adapter, vendor: 'nobody', device: 'x1' } };
    const gemm = await newGemm({ kernels, tuning: [failing, foreign, broken] });
    expect(gemm.explain(problem).source).toBe('default');
    expect(gemm.ignoredTuning).toEqual([
      expect.stringContaining('private window'),
      expect.stringContaining('another GPU, x1'),
      expect.stringContaining('schema'),
    ]);
    // And what is tuned now is used, although it can't be kept.
    await gemm.tune(problem, { budgetSeconds: 1 });
    expect(gemm.explain(problem).source).toBe('measured');
    expect(gemm.ignoredTuning.at(-1)).toMatch("can't be kept: private window");
    gemm.destroy();
  });

  test('that is none is refused', async () => {
    const record = await tuned();
    const tuning = { ...record, entries: [{ ...record.entries[0], m: 'many' }] };
    await expect(newGemm({ tuning: tuning as never })).rejects.toMatchObject({ code: 'invalid-file' });
  });

  test('with parameters that no longer fit is no obstacle', async () => {
    const record = await tuned();
    const entries = [
      { ...record.entries[0], kernel: 'gone' },
      { ...record.entries[0], kernel: 'plain', params: { tile: 16, more: 1 } },
    ];
    const gemm = await newGemm({ tuning: { ...record, entries } });
    const { failure, plan } = await runProblem(gemm, problem);
    expect(failure).toBeNull();
    expect(plan.explain().source).not.toBe('measured');
    gemm.destroy();
  });
});
