import { readFileSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { speed } from '../../src/figures.ts';
import type { LadderRecord } from '../../src/ladder/record.ts';
import { RUNGS } from '../../src/ladder/rungs.ts';
import { parseRecords } from '../../src/page/state/read-record.ts';
import { WORDS } from '../../src/page/views/ladder/words.ts';
import { COMPUTED, type OpenOptions, type OpenPage, openPage, settled, violations } from './browser.ts';

const h200: LadderRecord = JSON.parse(
  readFileSync(new URL('../../bench/records/h200-ladder.json', import.meta.url), 'utf8'),
);
/** Rung 6 there, as the page writes it. */
const ON_H200 = speed(h200.rungs.find(({ id }) => id === 'unrolled')?.gflops ?? null);

test('every rung is explained', () => {
  expect(Object.keys(WORDS).sort()).toEqual(RUNGS.map(({ id }) => id).sort());
});

describe.skipIf(!inject('chromium'))('the ladder', () => {
  test('runs one rung, verified, and its record is what the command writes', async () => {
    const { page, complaints } = await ladder('ladder?size=64');
    await page.getByRole('button', { name: 'Run rung 2' }).click();
    await page.getByText('verified against float64. The record is under').waitFor({ timeout: COMPUTED });
    expect(await row(page, 'workgroups').textContent()).toMatch(
      /your GPU.*GFLOP\/s.* a product, verified: error \d\.\de-\d/,
    );
    expect(await row(page, 'naive').textContent()).not.toContain('verified');
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save it as JSON' }).click();
    const [record] = parseRecords(readFileSync(await (await waiting).path(), 'utf8'), 'download');
    expect(record).toMatchObject({
      schema: 'webgemm-ladder/1',
      problem: { m: 64, n: 64, k: 64 },
      runtime: { name: 'chrome' },
      rungs: [{ rung: '2', id: 'workgroups', status: 'ok', overBelow: null }],
    });
    expect(complaints).toEqual([]);
  });

  test('runs all rungs: the chart grows, gains are shown, what cannot run says why', async () => {
    const { page, complaints } = await ladder('ladder?size=64');
    await page.getByRole('button', { name: `Run all ${RUNGS.length} rungs` }).click();
    await page.locator('.ladder-panel progress').waitFor();
    await row(page, 'naive').getByText('verified: error').waitFor({ timeout: COMPUTED });
    expect(await page.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(true);
    await page.getByText(/Done: \d+ of \d+ rungs ran, verified/).waitFor({ timeout: COMPUTED });
    for (const { id } of RUNGS) {
      expect(await row(page, id).textContent()).toMatch(/verified: error|not on this GPU: .+/);
    }
    expect(await row(page, 'subgroup-matrix').textContent()).toContain(
      'the device has no chromium-experimental-subgroup-matrix',
    );
    expect(await row(page, 'workgroups').locator('.bars-line').first().textContent()).toMatch(
      /GFLOP\/s[\d.]+× the rung below/,
    );
    await expect.poll(() => page.getByRole('status').first().textContent()).toMatch(/The fastest is Rung/);
    await page.getByRole('link', { name: 'Results' }).first().click();
    await page.getByRole('heading', { name: 'Results', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Ladder', exact: true }).click();
    await row(page, 'naive').getByText('verified: error').waitFor({ timeout: COMPUTED });
    expect(complaints).toEqual([]);
  });

  test('is cancelled in the middle; the page is usable at once, and the next run works', async () => {
    const { page, complaints } = await ladder('ladder?size=64');
    await page.getByRole('button', { name: /^Run all/ }).click();
    await row(page, 'workgroups').getByText('verified: error').waitFor({ timeout: COMPUTED });
    const cancel = page.getByRole('button', { name: 'Cancel' });
    await cancel.focus();
    const frames = await cancel.evaluate(async button => {
      (button as HTMLButtonElement).click();
      let frames = 0;
      while (!/Cancelled\. What was measured of \d+ rungs stays/.test(document.body.textContent)) {
        await new Promise(requestAnimationFrame);
        frames++;
      }
      return frames;
    });
    expect(frames, 'frames until the page had left the run').toBeLessThan(10);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Run all/);
    await page.getByRole('button', { name: 'Run rung 1', exact: true }).click();
    await page.getByText('Done, verified against float64').waitFor({ timeout: COMPUTED });
    expect(await row(page, 'workgroups').textContent()).toContain('verified');
    expect(complaints).toEqual([]);
  });

  test('a link opens a rung at a size: words, picture, what is asked for, WGSL', async () => {
    const { page, complaints } = await ladder('ladder?rung=4&size=96');
    expect(await page.getByLabel('Size').inputValue()).toBe('96');
    const opened = page.getByRole('region', { name: /^Rung 4/ });
    await opened.getByText('What it does').waitFor();
    expect(await opened.textContent()).toMatch(/96×96×96.*|6 × 6/);
    expect(await opened.getByRole('table').textContent()).toMatch(/shared-memory6 × 62569,2162 KiB/);
    const code = opened.getByRole('region', { name: 'WGSL of rung 4, shared-memory' });
    await code.locator('.tok-keyword').first().waitFor();
    expect(await code.textContent()).toContain('workgroupBarrier()');
    await opened.locator('.picture svg').first().waitFor();
    expect(await opened.getByRole('link', { name: /workbench/ }).getAttribute('href')).toBe(
      '#/workbench?rung=4',
    );
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // It says so for a short time only.
    const copied = opened.getByText('Copied').waitFor();
    await opened.getByRole('button', { name: /^Copy the WGSL/ }).click();
    await copied;
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('@compute');
    expect(complaints).toEqual([]);
  });

  test('rows open and close by keyboard, and the address follows', async () => {
    const { page, complaints } = await ladder('ladder?size=64');
    const head = page.getByRole('button', { name: /^Rung 7/ });
    await head.focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: /^Rung 7/ })
      .getByText('Before it: transpose')
      .waitFor();
    await page.waitForURL(/#\/ladder\?rung=7&size=64$/);
    expect(await head.getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: /^Rung 7/ }).waitFor({ state: 'detached' });
    await page.waitForURL(/#\/ladder\?size=64$/);
    expect(complaints).toEqual([]);
  });

  test('every rung opens with words, picture and WGSL', async () => {
    const { page, complaints } = await ladder('ladder?size=64');
    for (const { rung, id } of RUNGS) {
      const head = row(page, id).locator('.ladder-head button');
      await head.click();
      const opened = page.getByRole('region', { name: new RegExp(`^Rung ${rung} `) });
      await opened.locator('.picture svg').first().waitFor();
      expect(await opened.getByRole('region', { name: /^WGSL/ }).last().textContent()).toContain('@compute');
      await head.click();
    }
    expect(complaints).toEqual([]);
  });

  test('a size that is none is refused at its field', async () => {
    const { page, complaints } = await ladder('ladder');
    const field = page.getByLabel('Size');
    const all = page.getByRole('button', { name: /^Run all/ });
    const whole = 'Type a whole number from 1 up.';
    const large = /needs \d+ bytes and this device binds at most \d+\. The largest square size here is \d+/;
    for (const [text, message] of [
      ['', whole],
      ['0', whole],
      ['12.5', whole],
      ['-3', whole],
      ['900000', large],
    ] as const) {
      await field.fill(text);
      await page.locator('.field-error', { hasText: message }).waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await all.isDisabled()).toBe(true);
    }
    await page.getByRole('button', { name: '64', exact: true }).click();
    expect(await all.isEnabled()).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('a software GPU gets a small size from the probe, and a warning about a large one', async () => {
    const { page } = await ladder('ladder');
    await expect.poll(() => page.getByLabel('Size').inputValue()).toMatch(/^(64|128)$/);
    await page.getByText('This is a software GPU').waitFor();
    await page.getByLabel('Size').fill('2048');
    await page.getByText(/Rung 1 may need .* s for one product/).waitFor();
  });

  test('what the probe finds does not take the place of what is being typed', async () => {
    let answer = () => {};
    const awaited = new Promise<void>(resolve => {
      answer = resolve;
    });
    const { page, complaints } = await ladder('ladder', {
      before: async page => {
        await page.route(/\/probe-[^/]+\.js$/, async route => {
          await awaited;
          await route.fulfill({
            contentType: 'text/javascript',
            body: 'export const probe = async () => ({ size: 32, ms: 9999 });',
          });
        });
      },
    });
    const field = page.getByLabel('Size');
    await expect.poll(() => field.inputValue()).toBe('64');
    await field.focus();
    await page.keyboard.press('Control+A');
    answer();
    // It found 64 too large: once the page says so, its answer is there.
    await page.getByText(/Rung 1 may need .* s for one product/).waitFor();
    await page.keyboard.type('96');
    expect(await field.inputValue()).toBe('96');
    expect(complaints).toEqual([]);
  });

  test('recorded ladders can be switched off, and the scale changed', async () => {
    const { page, complaints } = await ladder('ladder?size=64');
    const sixth = row(page, 'unrolled');
    await sixth.getByText(ON_H200).waitFor();
    expect(await sixth.textContent()).toContain('Apple M4: 1.07 TFLOP/s');
    const width = () =>
      sixth
        .locator('.bars-bar')
        .first()
        .evaluate(bar => bar.getBoundingClientRect().width);
    const logarithmic = await width();
    await page.getByRole('radio', { name: 'linear' }).check({ force: true });
    await expect.poll(width).toBeLessThan(logarithmic / 3);
    await page.getByRole('checkbox', { name: /H200/ }).uncheck();
    await page.getByRole('checkbox', { name: /M4/ }).uncheck();
    expect(await sixth.textContent()).not.toMatch(/M4|H200/);
    expect(complaints).toEqual([]);
  });

  test('a GPU that is lost while it runs is told, and after the button a run works', async () => {
    const opened = await ladder('ladder?size=64');
    const { page } = opened;
    await page.getByRole('button', { name: /^Run all/ }).click();
    await row(page, 'naive').getByText('verified: error').waitFor({ timeout: COMPUTED });
    await opened.crashGpu();
    await page.locator('.notice', { hasText: 'The GPU was lost' }).waitFor();
    await page.getByText('The run ended when the GPU was lost').waitFor();
    expect(await page.getByRole('button', { name: /^Run all/ }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Restart the GPU' }).first().click();
    await settled(opened);
    await page.getByRole('button', { name: 'Run rung 3', exact: true }).click();
    await page.getByText('Done, verified against float64').waitFor({ timeout: COMPUTED });
    expect(await row(page, 'naive').textContent()).toContain('verified');
  });

  test('without WebGPU recorded figures, explanations, pictures and kernels are there', async () => {
    const { page, complaints } = await ladder('ladder?rung=11', { webgpu: false });
    await page.getByText('Everything that needs no GPU is still here').waitFor();
    expect(await page.getByRole('button', { name: /^Run/ }).first().isDisabled()).toBe(true);
    await row(page, 'unrolled').getByText(ON_H200).waitFor();
    const opened = page.getByRole('region', { name: /^Rung 11/ });
    await opened.locator('.picture svg').first().waitFor();
    await opened.getByText('No GPU is open: this is for an example device.').waitFor();
    expect(await opened.getByRole('region', { name: /^WGSL/ }).last().textContent()).toContain(
      'subgroupMatrixMultiplyAccumulate',
    );
    expect(complaints).toEqual([]);
  });

  test('is accessible with results and an open rung, in both themes, on a phone too', async () => {
    const opened = await ladder('ladder?rung=4&size=64');
    const { page } = opened;
    await page.getByRole('button', { name: 'Run rung 4', exact: true }).click();
    await page.getByText('Done, verified against float64').waitFor({ timeout: COMPUTED });
    await page.locator('.picture svg').first().waitFor();
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      expect(await violations(opened), `${colorScheme} at ${width} px`).toEqual([]);
    }
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, 'px wider than the window').toBeLessThanOrEqual(0);
  });
});

async function ladder(route: string, options: OpenOptions = {}): Promise<OpenPage> {
  const opened = await openPage({ ...options, route });
  await settled(opened);
  await opened.page.getByRole('heading', { name: 'The rungs' }).waitFor();
  return opened;
}

/** A rung's row, by its id. */
const row = (page: OpenPage['page'], id: string) =>
  page
    .locator('.bars-item')
    .filter({ has: page.locator('.ladder-head code', { hasText: new RegExp(`^${id}$`) }) });
