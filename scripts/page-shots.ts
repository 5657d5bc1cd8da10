/**
 * Pictures of the page as it is built.
 *
 *   npx tsx scripts/page-shots.ts FOLDER ROUTE…     to look at: three widths, light and dark; such as /tmp/shots ladder
 *   npx tsx scripts/page-shots.ts                   those of README.md, in docs/pictures, after runs on a software GPU
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright';
import { build } from 'vite';
import { findChromium } from '../test/chromium.ts';
import { serve } from '../test/page-app/serve.ts';

type Theme = 'light' | 'dark';

const WIDTHS = [360, 768, 1280];
const DESK = { width: 1280, height: 1000 };
const PHONE = { width: 390, height: 844 };

/** A picture of README.md: what is opened, and what is done there before it is taken. */
interface Scene {
  readonly route: string;
  readonly theme?: Theme;
  readonly size?: { readonly width: number; readonly height: number };
  readonly play: (page: Page) => Promise<void>;
}

const climb = async (page: Page) => {
  await page.getByRole('button', { name: /^Run all/ }).click();
  await page.getByText('verified against float64. The record is under').waitFor({ timeout: 120_000 });
};

/** Replaces a text in the editor by its own search. */
const edit = async (page: Page, before: string, after: string) => {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+f');
  await page.locator('.cm-search input[name=search]').fill(before);
  await page.locator('.cm-search input[name=replace]').fill(after);
  await page.locator('.cm-search [name=replaceAll]').click();
  await page.keyboard.press('Escape');
};

const SCENES: Readonly<Record<string, Scene>> = {
  'page-ladder-light': { route: 'ladder?size=64', size: { ...DESK, height: 1500 }, play: climb },
  'page-ladder-dark': {
    route: 'ladder?size=64&rung=4',
    theme: 'dark',
    play: async page => {
      const picture = page.locator('.picture');
      await picture.waitFor();
      for (let step = 0; step < 5; step++) await page.getByRole('button', { name: 'Next step' }).click();
      await picture.evaluate(it => scrollTo(0, it.getBoundingClientRect().top + scrollY - 56));
    },
  },
  'page-gemm': {
    route: 'gemm?m=4096&n=4096&k=4096&device=h200',
    play: page => page.getByRole('heading', { name: 'Every kernel of the library' }).waitFor(),
  },
  'page-workbench': {
    route: 'workbench?rung=4',
    size: { ...DESK, height: 1150 },
    play: async page => {
      await edit(page, 'TILE + local.x;', 'TILE + min(local.x, 13u);'); // two columns of each tile are left out
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.locator('.workbench-run .notice').waitFor({ timeout: 120_000 });
      await page.locator('.cm-scroller').evaluate(it => it.scrollTo(0, 0));
    },
  },
  'page-phone': {
    route: 'ladder?size=64',
    size: PHONE,
    play: async page => {
      await climb(page);
      await page.getByRole('heading', { name: 'The rungs' }).evaluate(it => it.scrollIntoView());
    },
  },
};

const [folder = 'docs/pictures', ...routes] = process.argv.slice(2);
const launch = findChromium();
if (!launch) throw new Error('there is no Chromium on this machine');

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
mkdirSync(folder, { recursive: true });
const built = mkdtempSync(join(tmpdir(), 'webgemm-page-'));
await build({ configFile: 'vite.config.ts', logLevel: 'warn', build: { outDir: built } });
const site = await serve(built);
const browser = await chromium.launch(launch);
if (process.argv.length > 2) for (const route of routes) await look(route);
else for (const [name, scene] of Object.entries(SCENES)) await take(name, scene);
await browser.close();
site.close();
rmSync(built, { recursive: true, force: true });

async function open(route: string, colorScheme: Theme, viewport: Scene['size'] = PHONE): Promise<Page> {
  const page = await browser.newPage({ colorScheme, viewport, reducedMotion: 'reduce' });
  await page.goto(`${site.url}#/${route}`);
  await page.locator('.device-chip:not(:has-text("Looking"))').waitFor();
  await page.locator('h1').waitFor();
  return page;
}

async function look(route: string): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    const page = await open(route, theme);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const name = `${route.replace(/\W+/g, '-')}-${width}-${theme}.png`;
      await page.screenshot({ path: join(folder, name), fullPage: true });
    }
    await page.close();
  }
}

async function take(name: string, { route, theme = 'light', size = DESK, play }: Scene): Promise<void> {
  const page = await open(route, theme, size);
  await play(page);
  await page.mouse.move(0, 0); // off the button
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}
