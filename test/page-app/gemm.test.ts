/** The GEMM view: explained as it is typed, measured, under its roofs, tuned; on a device and without one. */
import { readFile } from 'node:fs/promises';
import { describe, expect, inject, test } from 'vitest';
import { COMPUTED, clickWhen, type OpenPage, openPage, settled, violations } from './browser.ts';

type Page = OpenPage['page'];

const choice = (page: Page) => page.getByRole('region', { name: 'What the library runs' });
const kernels = (page: Page) => page.getByRole('region', { name: 'Every kernel of the library' });
const onGpu = (page: Page) => page.getByRole('region', { name: 'On your GPU' });
const tuning = (page: Page) => page.getByRole('region', { name: 'Tune it here' });
const field = (page: Page, label: string) => page.getByRole('form').getByLabel(label, { exact: true });

async function open(route: string, options: Parameters<typeof openPage>[0] = {}): Promise<OpenPage> {
  const opened = await openPage({ ...options, route });
  await settled(opened);
  await opened.page.locator('.gemm-kernel').waitFor();
  return opened;
}

describe.skipIf(!inject('chromium'))('the GEMM view', () => {
  test('explains as fields change, with a reason for every kernel', async () => {
    const { page, complaints } = await open('gemm?m=96&n=80&k=64');
    await choice(page).getByText('96×80×64 f32→f32 NN').waitFor();
    expect(await kernels(page).getByRole('listitem').count()).toBe(8);
    await field(page, 'm, rows').fill('1');
    await page.getByText('1×80×64 f32→f32 NN').waitFor();
    expect(await page.locator('.gemm-kernel').textContent()).toBe('gemv');
    expect(await kernels(page).textContent()).toMatch(/dot-i8can’t serve.*i8 and u8 only/);

    await field(page, 'Type of A').selectOption('i8');
    await page.getByText('1×80×64 i8→i32 NN').waitFor();
    expect(await choice(page).textContent()).toMatch(/10.2 kOP/);
    await field(page, 'B is stored transposed').check();
    await page.getByText('1×80×64 i8→i32 NT').waitFor();
    await page.waitForURL(url => url.hash === '#/gemm?m=1&n=80&k=64&type=i8&transB=1');
    expect(complaints).toEqual([]);
  });

  test('shows the WGSL of each pass, with colours, and a forced kernel beside the choice', async () => {
    const { page, complaints } = await open('gemm?m=64&n=64&k=16384');
    await field(page, 'Kernel').selectOption('split-k');
    await page.getByText('forced', { exact: true }).first().waitFor();
    expect(await page.locator('.gemm-kernel').textContent()).toContain('split-k');
    expect(await choice(page).textContent()).toMatch(
      /The library would choose|the one that the library chooses/,
    );
    const sources = page.locator('summary', { hasText: 'WGSL of' });
    expect(await sources.count()).toBe(2);
    await sources.first().click();
    await page.locator('.code .tok-keyword').first().waitFor();
    expect(await page.locator('.code').textContent()).toContain('fn main');
    expect(complaints).toEqual([]);
  });

  test('what is wrong is refused at its field', async () => {
    const { page, complaints } = await open('gemm');
    const home = page.url().split('#')[0];
    for (const [params, label, message] of [
      ['m=-1', 'm, rows', /m is -1.*whole numbers/],
      ['n=4.5', 'n, columns', /n is 4.5/],
      ['k=', 'k, depth', /Give a number/],
      ['batch=two', 'Batch', /“two” is no number/],
      ['type=i8&bType=f32', 'Type of B', /i8 times f32/],
      ['type=f16', 'Type of A', /^f16 matrices, and the device has no shader-f16$/],
      ['kernel=gemv', 'Kernel', /up to 8 rows/],
      ['type=i8&alpha=0.5', 'alpha', /whole numbers/],
      ['activation=clip&clipMin=9', 'Clip from', /clip from 9 to 6/],
    ] as const) {
      await page.goto(`${home}#/gemm?${params}`);
      await page.locator('.field-error').getByText(message).waitFor();
      expect(await field(page, label).getAttribute('aria-invalid'), params).toBe('true');
      expect(await page.locator('[aria-invalid="true"]').count(), params).toBe(1);
    }
    expect(complaints).toEqual([]);
  });

  test('measures, verified, and shows the product under the roofs', async () => {
    const { page, complaints } = await open(
      'gemm?m=64&n=48&k=32&bias=row&activation=relu&epilogue=value+*+2.0',
    );
    await page.getByRole('button', { name: 'Measure', exact: true }).click();
    await page.getByRole('img', { name: /^Roofline/ }).waitFor({ timeout: COMPUTED });
    expect(await onGpu(page).textContent()).toMatch(
      /verified.*Measured.*Expected.*GB\/s.*relative to float64/s,
    );
    const text = await page.locator('figcaption').textContent();
    expect(text).toMatch(/FLOP for each byte.*bound by .*Measured: .*FLOP\/s, .* % of that/);
    expect(await page.locator('.gemm-now').count()).toBe(1);
    expect(await page.locator('.gemm-roof').count()).toBeGreaterThanOrEqual(2);

    await field(page, 'Kernel').selectOption('plain');
    await page.getByRole('button', { name: 'Measure', exact: true }).click();
    const visit = page.getByRole('table', { name: /Measured in this visit/ });
    await visit.waitFor({ timeout: COMPUTED });
    expect(await visit.getByRole('row').count()).toBe(3);
    expect(await page.locator('.gemm-earlier').count()).toBe(1);
    expect(await visit.textContent()).toMatch(/plainforced.*×/);
    expect(complaints).toEqual([]);
  });

  test('a wrong expression is told with its place, and measuring can be cancelled', async () => {
    const opened = await open('gemm?m=32&n=32&k=32&epilogue=value+%2B');
    const { page, complaints } = opened;
    const measure = page.getByRole('button', { name: 'Measure', exact: true });
    await measure.click();
    await page
      .locator('.field-error', { hasText: /the epilogue expression, line 1/ })
      .waitFor({ timeout: COMPUTED });
    await page.getByRole('textbox', { name: 'WGSL expression' }).fill('');
    await page.locator('.field-error').waitFor({ state: 'detached' });
    const cancelled = clickWhen(opened, /Compiling, and checking the kernel/, 'Cancel');
    await measure.click();
    await cancelled;
    await measure.waitFor();
    expect(await page.locator('.notice-bad').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('tunes, and knows it after a reload; exports, clears, imports', async () => {
    const { page, complaints } = await open('gemm?m=64&n=64&k=64');
    await tuning(page).getByLabel('Budget in seconds').fill('5');
    await tuning(page).getByRole('button', { name: 'Tune' }).click();
    const kept = page.getByRole('table', { name: /kept in this browser/ });
    await kept.waitFor({ timeout: COMPUTED });
    // The table is there a moment before the browser has saved what it shows.
    await tuning(page).getByRole('button', { name: 'Tune' }).waitFor();
    expect(await tuning(page).textContent()).toMatch(/beforeafter|before.*after/s);
    await page.getByText('Measured on this device, for this very product').waitFor();
    const chosen = await page.locator('.gemm-kernel').textContent();

    await page.reload();
    await page.getByText('Measured on this device, for this very product').waitFor();
    expect(await page.locator('.gemm-kernel').textContent()).toBe(chosen);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      tuning(page).getByRole('button', { name: 'Export' }).click(),
    ]);
    const path = await download.path();
    const record = JSON.parse(await readFile(path, 'utf8'));
    expect(record.schema).toBe('webgemm-tuning/1');
    expect(record.entries).toMatchObject([{ m: 64, n: 64, k: 64, kernel: chosen }]);

    await tuning(page).getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Nothing yet.').waitFor();
    expect(await choice(page).textContent()).not.toContain('Measured on this device');
    const file = page.getByLabel('A tuning record to import');
    await file.setInputFiles({ name: 'none.json', mimeType: 'application/json', buffer: Buffer.from('{}') });
    await page.getByText(/this is no tuning record/).waitFor();
    await file.setInputFiles(path);
    await page.getByText('Measured on this device, for this very product').waitFor();
    expect(await page.locator('.notice-bad').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('a tuning that is stopped keeps what was measured', async () => {
    const opened = await open('gemm?m=48&n=48&k=48');
    const { page, complaints } = opened;
    // Checking takes three fifths of it.
    await tuning(page).getByLabel('Budget in seconds').fill('8');
    const stopped = clickWhen(opened, /Measuring candidate (?!1 )|Deciding/, 'Stop and keep the best');
    await tuning(page).getByRole('button', { name: 'Tune' }).click();
    await stopped;
    await page.getByRole('table', { name: /kept in this browser/ }).waitFor({ timeout: COMPUTED });
    expect(await tuning(page).getByRole('status').textContent()).toMatch(/before.*after/s);
    expect(complaints).toEqual([]);
  });

  test('without WebGPU explains for another device', async () => {
    const { page, complaints } = await open('gemm?m=4096&n=4096&k=4096', { webgpu: false });
    expect(await choice(page).textContent()).toContain('NVIDIA H200');
    expect(await page.getByRole('button', { name: 'Measure', exact: true }).isDisabled()).toBe(true);
    await field(page, 'Explain for').selectOption('apple');
    await page.getByText('on Apple M series').waitFor();
    const apple = await kernels(page).textContent();
    await field(page, 'Explain for').selectOption('least');
    await page.getByText('on The least that WebGPU promises').waitFor();
    expect(await kernels(page).textContent()).not.toBe(apple);
    expect(complaints).toEqual([]);
  });

  test('a link holds every field', async () => {
    const route =
      'gemm?m=33&n=65&k=17&batch=3&cType=f16&accuracy=strict&transA=1&transB=1&alpha=0.5&beta=2&bias=column&activation=clip&clipMin=-1&clipMax=1&residual=1&epilogue=value+*+2.0&kernel=plain&device=apple';
    const { page } = await open(route);
    await choice(page).getByText('3 × 33×65×17 f32→f16 TT on Apple M series').waitFor();
    expect(new URL(page.url()).hash).toBe(`#/${route}`);
    expect(await field(page, 'Batch').inputValue()).toBe('3');
    expect(await field(page, 'Activation').inputValue()).toBe('clip');
    expect(await page.getByRole('textbox', { name: 'WGSL expression' }).inputValue()).toBe('value * 2.0');
    await page.getByRole('link', { name: 'Results' }).click();
    await page.getByRole('link', { name: 'GEMM', exact: true }).click();
    await page.locator('.gemm-kernel').waitFor();
    await page.waitForURL(url => url.hash === `#/${route}`);
  });

  for (const theme of ['light', 'dark'] as const) {
    test(`is accessible (WCAG AA) with everything open, in ${theme}`, async () => {
      const opened = await open('gemm?m=32&n=32&k=32&beta=1', { theme, width: 360 });
      const { page } = opened;
      await page.getByRole('button', { name: 'Measure', exact: true }).click();
      await page.getByRole('img', { name: /^Roofline/ }).waitFor({ timeout: COMPUTED });
      for (const summary of await page.locator('summary').all()) {
        const open = await summary.evaluate(it => (it.parentElement as HTMLDetailsElement).open);
        if (!open) await summary.click();
      }
      await field(page, 'k, depth').fill('-2');
      await page.locator('[aria-invalid="true"]').waitFor();
      expect(await violations(opened)).toEqual([]);
      await field(page, 'k, depth').fill('32');
      await page.locator('.gemm-kernel').waitFor();
      expect(await violations(opened)).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, 'px wider than the window').toBeLessThanOrEqual(0);
    });
  }
});
