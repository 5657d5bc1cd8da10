import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { BenchRecord } from '../../src/bench/record.ts';
import { COMPUTED, clickWhen, type OpenPage, openPage, settled, violations } from './browser.ts';

/** What is loaded for a peer and for nothing else. */
const PEER_FILES = /\/(tensorflow|onnx-web|jax)-[^/]+\.js$|\.wasm$/;

/** Peers that this build of the page has. */
const built: object = inject('chromium')
  ? JSON.parse(readFileSync(join(inject('site'), 'peers.json'), 'utf8'))
  : {};

const installed = (name: string) => existsSync(new URL(`../../bench/node_modules/${name}`, import.meta.url));

async function race(route: string) {
  const requests: string[] = [];
  const opened = await openPage({
    route,
    before: async page => {
      page.on('request', request => requests.push(request.url()));
    },
  });
  await settled(opened);
  return { ...opened, requests };
}

const start = ({ page }: Pick<OpenPage, 'page'>) =>
  page.getByRole('button', { name: 'Start the race' }).click();

async function exported({ page }: Pick<OpenPage, 'page'>): Promise<BenchRecord> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  return JSON.parse(readFileSync(await (await download).path(), 'utf8'));
}

describe.skipIf(!inject('chromium'))('the race', () => {
  describe.each([
    ['tensorflow', 'TensorFlow.js', '@tensorflow/tfjs-core'],
    ['jax', 'jax-js', '@jax-js/jax'],
    ['onnx-web', 'ONNX Runtime Web', 'onnxruntime-web'],
  ])('against %s', (name, title, packageName) => {
    const why = installed(packageName) ? '' : ` (${packageName} is not installed in bench/)`;
    test.skipIf(!installed(packageName))(`runs, verifies and times both at 64³${why}`, async () => {
      const opened = await race('race?m=64&n=64&k=64');
      const { page, requests, complaints } = opened;
      const box = page.getByRole('checkbox', { name: title });
      await box.check();
      expect(await page.locator('label', { has: box }).textContent()).toMatch(/\d (kB|MB)/);
      await page.waitForLoadState('networkidle');
      expect(requests.filter(url => PEER_FILES.test(url))).toEqual([]);

      await start(opened);
      await page.getByRole('heading', { name: 'Race, 64×64×64 f32' }).waitFor({ timeout: COMPUTED });
      expect(requests.some(url => url.includes(`/${name}-`))).toBe(true);
      const row = page.getByRole('row', { name: new RegExp(`^${title}`) });
      expect(await row.textContent()).toMatch(/s.*FLOP\/s.*× as fast.*✓ right/);

      const record = await exported(opened);
      expect(record.schema).toBe('webgemm-bench/1');
      expect(record.versions).toMatchObject({ webgemm: expect.any(String), [name]: expect.any(String) });
      expect(record.results).toContainEqual(
        expect.objectContaining({
          name,
          group: 'peer',
          failure: null,
          timer: 'wall-clock',
          ms: expect.any(Number),
        }),
      );
      expect(record.results).toContainEqual(
        expect.objectContaining({
          name: 'webgemm',
          failure: null,
          timer: 'wall-clock',
          ms: expect.any(Number),
        }),
      );
      expect(record.results.every(({ relErr }) => relErr === null || relErr < 1e-5)).toBe(true);
      expect(complaints).toEqual([]);
    });
  });

  test('alone downloads no peer; a peer that is not asked for does not run', async () => {
    const opened = await race('race?m=64&n=32&k=16');
    const { page, requests, complaints } = opened;
    await start(opened);
    await page.getByRole('heading', { name: 'Bench, 64×32×16 f32' }).waitFor({ timeout: COMPUTED });
    expect(requests.filter(url => PEER_FILES.test(url))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('a build without peers says so, and how to get them', async () => {
    const opened = await openPage({
      route: 'race',
      before: async page => {
        await page.route('**/peers.json', route => route.fulfill({ json: {} }));
      },
    });
    await settled(opened);
    const { page } = opened;
    await page.getByText('This build of the page has no TensorFlow.js').waitFor();
    expect(await page.locator('.notice').textContent()).toContain('npm ci --prefix bench --ignore-scripts');
    expect(await page.getByRole('checkbox', { name: 'jax-js' }).isDisabled()).toBe(true);
  });

  test.skipIf(!('tensorflow' in built))('a peer that fails is a row with its reason', async () => {
    const opened = await openPage({
      route: 'race?m=64&n=64&k=64&peers=tensorflow',
      before: async page => {
        await page.route(/\/tensorflow-[^/]+\.js$/, route => route.abort());
      },
    });
    await settled(opened);
    const { page } = opened;
    await start(opened);
    const row = page.getByRole('row', { name: /^TensorFlow\.js/ });
    expect(await row.textContent({ timeout: COMPUTED })).toMatch(/–.*(fetch|import|load)/i);
    expect(await page.getByRole('row', { name: /^webgemm/ }).textContent()).toContain('✓ right');
  });

  test('can be cancelled, and started again', async () => {
    const opened = await race('race?m=256&n=256&k=256');
    const { page, complaints } = opened;
    const cancelled = clickWhen(opened, /webgemm: compiling/, 'Cancel');
    await start(opened);
    await cancelled;
    await page.getByRole('button', { name: 'Start the race' }).waitFor();
    expect(await page.locator('.notice-bad').count()).toBe(0);
    await page.getByRole('textbox', { name: 'm', exact: true }).fill('16');
    await page.getByRole('textbox', { name: 'n', exact: true }).fill('16');
    await page.getByRole('textbox', { name: 'k', exact: true }).fill('16');
    await start(opened);
    await page.getByRole('heading', { name: 'Bench, 16×16×16 f32' }).waitFor({ timeout: COMPUTED });
    expect(complaints).toEqual([]);
  });

  test('sizes that are none, or too large, are said before anything runs', async () => {
    const opened = await race('race?m=64&n=64&k=64');
    const { page } = opened;
    const m = page.getByRole('textbox', { name: 'm', exact: true });
    await m.fill('6.5');
    await page.getByText('A whole number from 1 up.').waitFor();
    const button = page.getByRole('button', { name: 'Start the race' });
    expect(await button.isDisabled()).toBe(true);
    await m.fill('9999999');
    await page.getByText(/^[AC] has .* GiB, and this GPU binds/).waitFor();
    expect(await button.isDisabled()).toBe(true);
    await m.fill('32');
    expect(await button.isEnabled()).toBe(true);
    await page.waitForURL(/m=32&/);
  });

  test('a type that the GPU lacks is refused, and nothing is downloaded', async ({ skip }) => {
    const opened = await race('race?m=64&n=64&k=64&type=f16&peers=tensorflow');
    const { page, requests, complaints } = opened;
    await page.getByLabel('Type', { exact: true }).waitFor();
    const hint = page.getByText('this GPU has no f16');
    skip((await hint.count()) === 0, 'this GPU has f16');
    await start(opened);
    await page.getByRole('alert').filter({ hasText: /f16/ }).waitFor();
    expect(requests.filter(url => PEER_FILES.test(url))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('is accessible in %s, with an outcome', async theme => {
    const opened = await openPage({ route: 'race?m=32&n=32&k=32', theme, width: 390 });
    await settled(opened);
    await start(opened);
    await opened.page.getByRole('heading', { level: 2 }).waitFor({ timeout: COMPUTED });
    expect(await violations(opened)).toEqual([]);
    const overflow = await opened.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, 'px wider than the window').toBeLessThanOrEqual(0);
  });
});
