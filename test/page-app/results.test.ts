import { readFileSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { COMPUTED, type OpenPage, openPage, settled, violations } from './browser.ts';

const RECORDS = new URL('../../bench/records/', import.meta.url);
const file = (name: string) => ({
  name,
  mimeType: 'application/json',
  buffer: readFileSync(new URL(name, RECORDS)),
});
const madeUp = (name: string, content: string) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(content),
});

const H200 = 'h200-ladder.json';
const SWIFTSHADER = 'swiftshader-ladder.json';
const TUNING = 'tuning-swiftshader.json';

/** Opens the view, and files in it. */
async function results(files: readonly ReturnType<typeof file>[] = [], options = {}) {
  const opened = await openPage({ route: 'results', ...options });
  await settled(opened);
  await choose(opened, files);
  return opened;
}

/** Opens files, and waits until all of them were read: then the page forgets the choice. */
async function choose({ page }: OpenPage, files: readonly ReturnType<typeof file>[]) {
  const input = page.locator('input[type=file]');
  await input.setInputFiles([...files]);
  await expect.poll(() => input.evaluate((it: HTMLInputElement) => it.files?.length)).toBe(0);
}

/** What a button downloads. */
async function downloaded({ page }: OpenPage, button: string | RegExp, exact = false) {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button, exact }).click();
  const done = await download;
  return { name: done.suggestedFilename(), content: readFileSync(await done.path()) };
}

const items = ({ page }: OpenPage) => page.locator('.results-item');

describe.skipIf(!inject('chromium'))('results', () => {
  test("the command's records open, and export as they were, alone and together", async () => {
    const opened = await results([file(H200), file(SWIFTSHADER), file(TUNING)]);
    const { page, complaints } = opened;
    await page.getByText('3 results are open below.').waitFor();
    expect(await items(opened).count()).toBe(3);

    const all = await downloaded(opened, 'Export all');
    const originals = [H200, SWIFTSHADER, TUNING].map(name => readFileSync(new URL(name, RECORDS), 'utf8'));
    expect(JSON.parse(all.content.toString())).toEqual(originals.map(text => JSON.parse(text)));
    const one = await downloaded(opened, 'Export Ladder, 4096×4096×4096');
    expect(JSON.parse(one.content.toString())).toEqual(JSON.parse(originals[0]));
    expect(one.name).toMatch(/^webgemm-ladder-nvidia-h200-\d{4}-\d\d-\d\d\.json$/);

    // What was exported opens again, and is known to be here already.
    await choose(opened, [madeUp('again.json', all.content.toString())]);
    await page.getByText('3 results are open below.').waitFor();
    expect(await items(opened).count()).toBe(3);
    expect(complaints).toEqual([]);
  });

  test('what was measured on this page is exported and opens again, the same', async () => {
    const opened = await openPage({ route: 'race?m=16&n=16&k=16' });
    await settled(opened);
    const { page } = opened;
    await page.getByRole('button', { name: 'Start the race' }).click();
    await page.getByRole('heading', { level: 2 }).waitFor({ timeout: COMPUTED });
    await page.getByRole('link', { name: 'Results', exact: true }).click();
    expect(await items(opened).textContent()).toContain('measured here');
    const first = await downloaded(opened, /^Export Bench/);
    await page.getByRole('button', { name: /^Remove Bench/ }).click();
    await choose(opened, [madeUp('mine.json', first.content.toString())]);
    await page.getByText('opened from a file').waitFor();
    const second = await downloaded(opened, /^Export Bench/);
    expect(second.content.equals(first.content)).toBe(true);
  });

  test('stay in this browser until they are removed, which can be undone', async () => {
    const opened = await results([file(H200), file(SWIFTSHADER)]);
    const { page } = opened;
    await items(opened).nth(1).waitFor();
    await page.reload();
    await items(opened).nth(1).waitFor();
    await page.getByRole('button', { name: 'Remove Ladder, 4096×4096×4096' }).click();
    await expect.poll(() => items(opened).count()).toBe(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => items(opened).count()).toBe(2);
    await page.getByRole('button', { name: 'Remove all' }).click();
    await page.getByText('There is nothing here yet.').waitFor();
    await page.reload();
    await page.getByText('There is nothing here yet.').waitFor();
  });

  test('a browser without room keeps them for the visit, and says so', async () => {
    const opened = await results([], {
      before: (page: OpenPage['page']) =>
        page.addInitScript(() => {
          Storage.prototype.setItem = () => {
            throw new DOMException('full', 'QuotaExceededError');
          };
        }),
    });
    await choose(opened, [file(H200)]);
    await opened.page.getByText('This browser has no more room for results').waitFor();
    expect(await items(opened).count()).toBe(1);
  });

  test('files that are none say so in a line each, and the others open', async () => {
    const opened = await results([
      madeUp('broken.json', '{"schema": "webgemm-l'),
      madeUp('foreign.json', '{"name": "something", "version": "1.0"}'),
      file(SWIFTSHADER),
    ]);
    const { page, complaints } = opened;
    await page.getByText('broken.json is not JSON').waitFor();
    await page.getByText("foreign.json can't be read: schema is missing").waitFor();
    expect(await page.getByRole('alert').count()).toBe(2);
    expect(await items(opened).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  test('files can be dropped on the page', async () => {
    const opened = await results();
    const { page } = opened;
    const text = readFileSync(new URL(SWIFTSHADER, RECORDS), 'utf8');
    const data = await page.evaluateHandle(content => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], 'dropped.json', { type: 'application/json' }));
      return transfer;
    }, text);
    await page.dispatchEvent('main', 'dragover', { dataTransfer: data });
    await page.getByText('Let go to open them').waitFor();
    await page.dispatchEvent('main', 'drop', { dataTransfer: data });
    await items(opened).waitFor();
  });

  test('a result opens with its figures, and stands beside another one', async () => {
    const opened = await results([file(H200), file(SWIFTSHADER)]);
    const { page, complaints } = opened;
    await page.getByRole('link', { name: /^Ladder, 4096/ }).click();
    await page.getByRole('heading', { name: 'Ladder, 4096×4096×4096', level: 1 }).waitFor();
    expect(await page.getByRole('table').textContent()).toContain('✓ right');
    await page.getByLabel('Compare with').selectOption({ index: 2 });
    await page.getByText(/^These are not the same problems/).waitFor();
    expect(await page.getByRole('columnheader').allTextContents()).toEqual([
      'Rung',
      'nvidia-h200',
      expect.stringContaining('software GPU'),
      'Ratio',
    ]);
    await page.getByLabel('Compare with').selectOption('h200');
    const same = page.getByRole('row', { name: /^1 .*1\.00×/ });
    await same.waitFor();
    await page.reload();
    await same.waitFor();
    expect(complaints).toEqual([]);
  });

  test('a picture downloads as a PNG of 1200 × 675, and as an SVG', async () => {
    const opened = await results([file(H200)]);
    const { page, complaints } = opened;
    await page.getByRole('link', { name: /^Ladder, / }).click();
    await page.getByRole('button', { name: 'Picture …' }).click();
    await page.getByRole('img', { name: /verified against float64/ }).waitFor();
    const png = await downloaded(opened, 'Download PNG');
    expect(png.name).toMatch(/\.png$/);
    expect(png.content.subarray(1, 4).toString()).toBe('PNG');
    expect([png.content.readUInt32BE(16), png.content.readUInt32BE(20)]).toEqual([1200, 675]);
    await page.getByText('The PNG is in your downloads.').waitFor();
    const svg = (await downloaded(opened, 'Download SVG')).content.toString();
    expect(svg).toMatch(/^<svg .*Ladder, 4096×4096×4096.*nvidia-h200.*GFLOP\/s.*verified against float64/s);
    expect(new Set(svg.match(/fill="[^"]+"/g)).size, 'colours').toBeGreaterThan(3);
    await page.getByLabel('Colours of the picture').selectOption('dark');
    const dark = (await downloaded(opened, 'Download SVG')).content.toString();
    expect(dark).not.toBe(svg);
    expect(complaints).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('are accessible in %s: list, one, two, picture', async theme => {
    const opened = await results([file(H200), file(SWIFTSHADER), madeUp('x.json', '{')], {
      theme,
      width: 390,
    });
    const { page } = opened;
    await items(opened).nth(1).waitFor();
    expect(await violations(opened), 'list').toEqual([]);
    await page.getByRole('link', { name: /^Ladder, 4096/ }).click();
    await page.getByRole('table').waitFor();
    expect(await violations(opened), 'one').toEqual([]);
    await page.getByLabel('Compare with').selectOption({ index: 2 });
    await page.getByRole('columnheader', { name: 'Ratio' }).waitFor();
    expect(await violations(opened), 'two').toEqual([]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, 'px wider than the window').toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Picture …' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await violations(opened), 'picture').toEqual([]);
  });
});
