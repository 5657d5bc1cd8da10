/**
 * Pictures of the page as it is built, to look at: three widths, light and dark.
 *
 *   npx tsx scripts/page-shots.ts FOLDER ROUTE…       such as: /tmp/shots ladder workbench?rung=4
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { build } from 'vite';
import { findChromium } from '../test/chromium.ts';
import { serve } from '../test/page-app/serve.ts';

const WIDTHS = [360, 768, 1440];
const [folder, ...routes] = process.argv.slice(2);
const launch = findChromium();
if (!folder || !launch)
  throw new Error('usage: page-shots.ts FOLDER ROUTE…, with a Chromium on this machine');

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
mkdirSync(folder, { recursive: true });
const built = mkdtempSync(join(tmpdir(), 'webgemm-page-'));
await build({ configFile: 'vite.config.ts', logLevel: 'warn', build: { outDir: built } });
const site = await serve(built);
const browser = await chromium.launch(launch);
for (const route of routes.length > 0 ? routes : ['ladder']) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: WIDTHS[0], height: 800 } });
    await page.goto(`${site.url}#/${route}`);
    await page.locator('.device-chip:not(:has-text("Looking"))').waitFor();
    await page.locator('h1').waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const name = `${route.replace(/\W+/g, '-')}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: join(folder, name), fullPage: true });
    }
    await page.close();
  }
}
await browser.close();
site.close();
rmSync(built, { recursive: true, force: true });
