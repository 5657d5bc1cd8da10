import type { Page } from 'playwright';
import { describe, expect, inject, test } from 'vitest';
import { COMPUTED, type OpenOptions, openPage, settled, violations } from './browser.ts';

async function openBench(query = '', options: OpenOptions = {}) {
  const opened = await openPage({ route: `workbench${query}`, ...options });
  await settled(opened);
  await opened.page.locator('.cm-content').waitFor();
  return opened;
}

/** What the editor holds. Its lines on the page are those near the window only, which CodeMirror measures when it will. */
const editorText = (page: Page) =>
  page.locator('.cm-content').evaluate(content => {
    interface Shown {
      readonly cmTile: { readonly root: { readonly view: { readonly state: { readonly doc: object } } } };
    }
    return (content as unknown as Shown).cmTile.root.view.state.doc.toString();
  });

/** Replaces the first `before` by `after`, by keyboard and the editor's own search. */
async function edit(page: Page, before: string, after: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Control+f');
  await page.locator('.cm-search input[name=search]').fill(before);
  await page.locator('.cm-search input[name=replace]').fill(after);
  await page.locator('.cm-search [name=replaceAll]').click();
  await page.keyboard.press('Escape');
  await page.locator('.cm-search').waitFor({ state: 'detached' });
}

/** Waits until the page says how far the text is from the original. */
const head = (page: Page, text: string) => page.locator('.workbench-head', { hasText: text }).waitFor();

/** Waits until the editor shows it; the page has the text a moment before. */
const inEditor = (page: Page, text: string) => expect.poll(() => editorText(page)).toContain(text);

async function run(page: Page) {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  // A warning is no outcome: it says that the run is taking long.
  await page.locator('.workbench-run .notice:not(.notice-warn)').waitFor({ timeout: COMPUTED });
  return page.locator('.workbench-run');
}

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

describe.skipIf(!inject('chromium'))('the workbench', () => {
  test('an edit that compiles and is right is verified, and timed beside the original', async () => {
    const { page, complaints } = await openBench('?rung=4&size=64');
    await edit(page, 'sum += ', 'sum = sum + ');
    await head(page, '1 line changed');
    const result = await run(page);
    const text = await result.textContent();
    expect(text).toMatch(/Right/);
    expect(text).toMatch(/[\d.]+× the original’s speed: [\d.]+ GFLOP\/s against [\d.]+ GFLOP\/s/);
    expect(text).toMatch(/Relative error[\d.]+e-\d/);
    await page.getByRole('button', { name: 'Back to the original' }).click();
    await inEditor(page, 'sum += ');
    await head(page, 'as in the original');
    expect(complaints).toEqual([]);
  });

  test('one that does not compile says so at its line, and a click leads there', async () => {
    const { page } = await openBench('?rung=1&size=64');
    await edit(page, 'sum += a', 'sum += nothing');
    const result = await run(page);
    const text = await editorText(page);
    const line = text.split('\n').findIndex(it => it.includes('nothing')) + 1;
    const column = text.split('\n')[line - 1].indexOf('nothing') + 1;
    const place = result.getByRole('button', { name: `line ${line}, column ${column}` });
    expect(await result.textContent()).toMatch(/does not compile.*error: .*nothing/s);
    expect(await result.locator('table').count()).toBe(0);
    await page.locator('.cm-lint-marker-error').waitFor();
    await place.click();
    await page.locator('.cm-activeLine', { hasText: 'sum += nothing' }).waitFor();
  });

  test('one that is wrong shows which cells are, and no time', async () => {
    const { page, complaints } = await openBench('?rung=1&size=64');
    await edit(
      page,
      'c[row * shape.n + col] = sum;',
      'if (col > 7) { c[row * shape.n + col] = sum + f32(row); }',
    );
    const result = await run(page);
    const text = await result.textContent();
    expect(text).toMatch(/The result is wrong/);
    // Columns 0 to 7 are never written, and all others but row 0 are off.
    expect(text).toMatch(/4,040 of 4,096 cells are wrong: from the first row and column to the last/);
    expect(text).toMatch(/512 never written/);
    expect(text).toMatch(/First wrong cellrow 0, column 0: never written, expected /);
    expect(text).not.toMatch(/GFLOP/);
    const shades = () =>
      page.locator('.cells canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      });
    await expect.poll(shades).toBeGreaterThanOrEqual(4);
    expect(complaints).toEqual([]);
  });

  test('a kernel of the library takes other parameters, and says which do not go together', async () => {
    const { page, complaints } = await openBench('?kernel=register-tile&size=64');
    await page.getByLabel('BM', { exact: true }).fill('33');
    await page.getByText('a 33×64×8 tile with 4×4 cells a thread').waitFor();
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
    await page.getByLabel('BM', { exact: true }).fill('x');
    await page.getByText('a whole number from 1 to 256').waitFor();
    await page.getByLabel('BM', { exact: true }).fill('32');
    await page.getByLabel('BN', { exact: true }).fill('32');
    expect(await (await run(page)).textContent()).toMatch(/Right/);
    await page.waitForURL(/kernel=register-tile.*bm=32&bn=32/);
    expect(complaints).toEqual([]);
  });

  test('a pass that prepares can be edited as well; a kernel for few rows is given few rows', async () => {
    const { page, complaints } = await openBench('?rung=7&size=64');
    await page.locator('.cm-content[aria-label="WGSL of vectorized"]').waitFor();
    await page.getByLabel('Pass', { exact: true }).selectOption('1 of 2: transpose B');
    await page.locator('.cm-content[aria-label="WGSL of transpose B"]').waitFor();
    await edit(page, 'tile[local.y][local.x] = 0.0;', '');
    const times = (await run(page)).locator('table');
    expect(await times.textContent()).toMatch(/all passes.*transpose B.*vectorized.*as it was/);
    await page.getByLabel('Start from').selectOption('kernel:gemv');
    await page.locator('.cm-content[aria-label="WGSL of gemv"]').waitFor();
    expect(await page.getByLabel('m', { exact: true }).inputValue()).toBe('1');
    expect(await (await run(page)).textContent()).toMatch(/Right: this is the original/);
    expect(complaints).toEqual([]);
  });

  test('a link holds the text, and opening it runs nothing', async () => {
    const { page, complaints } = await openBench('?rung=4&size=128');
    await edit(page, 'sum += ', 'sum = 2 * ');
    await page.getByRole('button', { name: 'Share by link' }).click();
    const link = await page.getByLabel('Link', { exact: true }).inputValue();
    expect(link).toMatch(/#\/workbench\?rung=4&size=128&wgsl0=[\w-]+$/);
    const edited = await editorText(page);
    const other = await openBench(link.slice(link.indexOf('?')));
    await other.page.getByText('1 line changed').waitFor();
    await expect.poll(() => editorText(other.page)).toBe(edited);
    expect(await other.page.getByLabel('Size').inputValue()).toBe('128');
    expect(await other.page.locator('.workbench-run .notice').count()).toBe(0);
    // Another link takes the place of what was edited since, which can be had back.
    await edit(other.page, 'sum = 2 * ', 'sum = 3 * ');
    await other.page.evaluate(
      hash => {
        location.hash = hash;
      },
      link.slice(link.indexOf('#')).replace('size=128', 'size=64'),
    );
    await inEditor(other.page, 'sum = 2 * ');
    await other.page.getByRole('button', { name: 'Back to your own text of rung 4' }).click();
    await inEditor(other.page, 'sum = 3 * ');
    expect([...complaints, ...other.complaints]).toEqual([]);
  });

  test.each([
    ['?rung=99', /This link is broken: there is no rung "99"\./],
    ['?rung=4&wgsl0=7VZNb', /This link is broken: its text is cut off or was changed\./],
    ['?kernel=nothing', /This link is broken: there is no kernel "nothing"\./],
  ])('a broken link %s says so in a line', async (query, message) => {
    const { page, complaints } = await openBench(query);
    await page.getByText(message).waitFor();
    await inEditor(page, 'fn main');
    expect(complaints).toEqual([]);
  });

  test('what was edited is still there after another view, and after the GPU was lost', async () => {
    const opened = await openBench('?rung=2&size=64');
    const { page } = opened;
    await edit(page, 'sum += ', 'sum = sum + ');
    await page.getByRole('link', { name: 'Results' }).click();
    await page.getByRole('heading', { name: 'Results', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Workbench' }).click();
    await page.getByText('1 line changed').waitFor();
    await page.waitForURL(/workbench\?rung=2&size=64$/);
    await opened.crashGpu();
    await page.getByText('GPU lost').waitFor();
    await page.getByRole('button', { name: 'Restart the GPU' }).first().click();
    await settled(opened);
    await inEditor(page, 'sum = sum + ');
    expect(await (await run(page)).textContent()).toMatch(/Right/);
  });

  test('what is typed faster than the page draws stays', async () => {
    const { page } = await openBench('?rung=1');
    await page.locator('.cm-content').focus();
    await page.keyboard.press('Control+Home');
    await page.evaluate(async () => {
      for (const letter of '// typed fast\n') {
        document.execCommand('insertText', false, letter);
        await new Promise(resolve => setTimeout(resolve));
      }
    });
    await inEditor(page, '// typed fast\n');
    await head(page, '1 line changed');
  });

  test('an edit is carried over to another size', async () => {
    const { page } = await openBench('?rung=1&size=64');
    await edit(page, 'sum += ', 'sum = sum + ');
    await page.getByLabel('Size').selectOption('128');
    await inEditor(page, 'const K = 128u;');
    expect(await editorText(page)).toContain('sum = sum + ');
    await head(page, '1 line changed');
  });

  test('what this GPU can not run is shown, and not run', async () => {
    const { page, complaints } = await openBench('?rung=8');
    await page.getByText('the device has no chromium-experimental-subgroup-matrix').waitFor();
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('by keyboard: Tab indents, after Escape it leaves the editor', async () => {
    const { page } = await openBench('?rung=1');
    await page.locator('.cm-content').focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Tab');
    await expect.poll(() => editorText(page)).toMatch(/^ {2}/);
    await page.locator('button:enabled', { hasText: 'Back to the original' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toBe('Back to the original');
  });

  test.each(['light', 'dark'] as const)('is accessible (WCAG AA) in %s, with a wrong result', async theme => {
    const opened = await openBench('?kernel=register-tile&size=64', { theme });
    const { page } = opened;
    await edit(page, 'fn main(', 'fn main( // changed');
    await page.getByRole('button', { name: 'Share by link' }).click();
    await page.getByLabel('Link', { exact: true }).waitFor();
    expect(await violations(opened)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await overflow(page), 'px wider than the window').toBeLessThanOrEqual(0);
    await page.getByLabel('Start from').selectOption('rung:7');
    await page.getByLabel('Pass', { exact: true }).waitFor();
    expect(await overflow(page), 'px wider than the window, with passes').toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByLabel('Start from').selectOption('rung:1');
    await edit(page, '= sum;', '= sum + 1;');
    await run(page);
    await page.locator('.cells canvas').waitFor();
    expect(await violations(opened)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await overflow(page), 'px wider than the window').toBeLessThanOrEqual(0);
  });
});
