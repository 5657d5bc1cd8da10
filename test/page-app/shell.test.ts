import { gzipSync } from 'node:zlib';
import { describe, expect, inject, test } from 'vitest';
import { type OpenPage, openPage, settled, violations } from './browser.ts';

/** Kilobytes (1000 bytes) after gzip that the page may load before the first click. */
const FIRST_LOAD_LIMIT = 200;

describe.skipIf(!inject('chromium'))('the page', () => {
  test('loads without a complaint, from its own origin, and shows the GPU', async () => {
    const opened = await openPage();
    await settled(opened);
    const { page, complaints } = opened;
    expect(await page.locator('.device-chip').textContent()).toMatch(/swiftshader/i);
    expect(await page.locator('h1').textContent()).toBe('The matmul ladder');
    await expect.poll(() => page.title()).toBe('Ladder · webgemm');
    expect(complaints).toEqual([]);
  });

  test(`takes less than ${FIRST_LOAD_LIMIT} kB compressed before the first click`, async () => {
    const bodies = new Map<string, Promise<Buffer>>();
    const opened = await openPage({
      before: async page => {
        page.on('response', response => {
          if (/^http/.test(response.url())) bodies.set(response.url(), response.body());
        });
      },
    });
    await settled(opened);
    await opened.page.waitForLoadState('networkidle');
    const files = await Promise.all(bodies.values());
    const total = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).byteLength, 0) / 1000;
    expect(files.length).toBeGreaterThan(3);
    expect(total).toBeLessThan(FIRST_LOAD_LIMIT);
  });

  test('without WebGPU says what is missing and what to do, and still shows the rest', async () => {
    const opened = await openPage({ webgpu: false });
    await settled(opened);
    const { page } = opened;
    expect(await page.locator('.device-chip').textContent()).toContain('No WebGPU');
    const notice = page.locator('.notice-warn');
    expect(await notice.textContent()).toMatch(/shows no GPU|has no WebGPU/);
    expect(await notice.locator('li').count()).toBeGreaterThan(0);
    expect(await page.locator('h1').count()).toBe(1);
    expect(opened.complaints).toEqual([]);
  });

  test('the chip opens what is known of the GPU, and gives the focus back', async () => {
    const opened = await openPage();
    await settled(opened);
    const { page } = opened;
    await page.locator('.device-chip').click();
    const dialog = page.getByRole('dialog', { name: 'Your GPU' });
    expect(await dialog.textContent()).toMatch(/software GPU.*subgroups.*half floats.*GPU clock.*naiveruns/s);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toContain('device-chip');
  });

  test('a lost device is told, and a button brings the GPU back', async () => {
    const opened = await openPage();
    await settled(opened);
    const { page } = opened;
    await opened.crashGpu();
    await page.getByText('GPU lost').waitFor();
    await page.getByRole('button', { name: 'Restart the GPU' }).first().click();
    await page.locator('.device-chip', { hasText: /swiftshader/i }).waitFor();
  });

  test('the theme switch is kept', async () => {
    const opened = await openPage({ theme: 'light' });
    const { page } = opened;
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await paper();
    await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
    await expect.poll(paper).not.toBe(light);
    const dark = await paper();
    await page.reload();
    await page.locator('h1').waitFor();
    expect(await paper()).toBe(dark);
  });

  test('by keyboard: the skip link leads to the content, the navigation to the views', async () => {
    const { page, complaints } = await openPage();
    await page.locator('h1').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    await page.getByRole('link', { name: 'Results' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Results', level: 1 }).waitFor();
    expect(page.url()).toMatch(/\/some\/where\/#\/results$/);
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('main');
    expect(complaints).toEqual([]);
  });

  // Colours do not depend on the width, nor the layout on the theme.
  for (const [theme, width] of [
    ['light', 360],
    ['dark', 1280],
  ] as const) {
    test(`is accessible (WCAG AA) in ${theme} at ${width} px`, async () => {
      const opened = await openPage({ theme, width });
      await settled(opened);
      const { page } = opened;
      for (const view of ['ladder', 'workbench', 'gemm', 'race', 'results']) {
        await page.goto(`${page.url().split('#')[0]}#/${view}`);
        await page.locator('.app-nav a[aria-current]', { hasText: new RegExp(view, 'i') }).waitFor();
        await page.locator('h1').waitFor();
        expect(await violations(opened), view).toEqual([]);
      }
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, 'px wider than the window').toBeLessThanOrEqual(0);
      await page.locator('.device-chip').click();
      await page.getByRole('dialog').waitFor();
      expect(await violations(opened), 'device panel').toEqual([]);
    });
  }
});

const focused = (page: OpenPage['page']) => page.evaluate(() => document.activeElement?.textContent);
