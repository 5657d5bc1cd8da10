/** The programs in the documents that are for browsers: bundled as a user's bundler does it, and run in a page. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { useSamples } from './folder.ts';
import { patternOf, SAMPLES } from './samples.ts';

const path = inject('chromium');
const samples = SAMPLES.filter(({ where }) => where === 'browser');
const { root, folderOf } = useSamples(samples);
let browser: Browser;
let server: Server;

beforeAll(async () => {
  if (!path) return;
  const { executablePath, args } = path;
  browser = await chromium.launch({ executablePath, args });
  server = createServer(async ({ url = '/' }, response) => {
    if (url === '/favicon.ico') return response.writeHead(204).end();
    const page = !url.endsWith('.js');
    response.setHeader('Content-Type', page ? 'text/html' : 'text/javascript');
    const script = `<!doctype html><script type="module" src="${url}/main.js"></script>`;
    response.end(page ? script : await readFile(join(root, url)));
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  await browser?.close();
  server?.close();
});

test.for(samples)('$name', async (sample, { skip }) => {
  if (!path) return skip('there is no Chromium on this machine (`apt-get install chromium`)');
  const folder = folderOf(sample);
  const entryPoints = Object.keys(sample.files).map(file => join(folder, file));
  await build({ entryPoints, outdir: folder, bundle: true, format: 'esm', logLevel: 'warning' });
  const page = await browser.newPage();
  const lines: string[] = [];
  page.on('console', message => lines.push(message.text()));
  page.on('pageerror', error => lines.push(String(error)));
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${samples.indexOf(sample)}`);
  const pattern = patternOf(sample.output ?? '');
  await vi.waitFor(() => expect(lines.join('\n')).toMatch(pattern), { timeout: 60_000 });
  await page.close();
});
