/** The built page in Chromium on the software GPU: one browser for a test file, a fresh profile for every page. */
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright';
import { afterAll, afterEach, inject } from 'vitest';
import { type Site, serve } from './serve.ts';

export interface OpenOptions {
  /** False: a browser without WebGPU's software adapter, as one that has none. */
  readonly webgpu?: boolean;
  /** Of the window, in CSS pixels. */
  readonly width?: number;
  readonly height?: number;
  /** What the system prefers. */
  readonly theme?: 'light' | 'dark';
  readonly reducedMotion?: boolean;
  /** What stands behind `#/`, such as `workbench?rung=4`. */
  readonly route?: string;
  /** Runs in the page and before its scripts, such as to take a feature away. Not in its workers. */
  readonly before?: (page: Page) => Promise<void>;
}

export interface OpenPage {
  readonly page: Page;
  /** Errors and warnings on the console, of the page and its workers; and requests that failed or left the origin. */
  readonly complaints: string[];
  /** Ends the GPU process, which every device of the browser is lost with. */
  crashGpu(): Promise<void>;
}

/** Milliseconds that the page may take to show something, and to finish what it computes: a busy machine takes its time. */
const SHOWN = 60_000;
export const COMPUTED = 240_000;

const browsers = new Map<boolean, Promise<Browser>>();
let site: Promise<Site> | undefined;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

afterAll(async () => {
  for (const browser of browsers.values()) await (await browser).close();
  browsers.clear();
  (await site)?.close();
  site = undefined;
});

/** Opens the page; it is closed after the test. */
export async function openPage(options: OpenOptions = {}): Promise<OpenPage> {
  const { webgpu = true, width = 1280, height = 900, theme = 'light', reducedMotion = true } = options;
  const browser = await browserFor(webgpu);
  const { url } = await siteUnderTest();
  const settings: BrowserContextOptions = {
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    acceptDownloads: true,
  };
  const context = await browser.newContext(settings);
  context.setDefaultTimeout(SHOWN);
  closing.push(() => context.close());
  const page = await context.newPage();
  const complaints = listen(page, new URL(url).origin);
  await options.before?.(page);
  await page.goto(`${url}#/${options.route ?? ''}`);
  const crashGpu = async () => {
    const session = await browser.newBrowserCDPSession();
    await session.send('Browser.crashGpuProcess').catch(() => {}); // the answer may be lost with the process
    await session.detach();
  };
  return { page, complaints, crashGpu };
}

/** Waits until the GPU is open, or was found to be missing. */
export async function settled({ page }: OpenPage): Promise<void> {
  await page.locator('.device-chip:not(:has-text("Looking"))').waitFor();
}

/**
 * Clicks a button in the very moment in which the page shows a text. The page does it by itself: when a click from outside
 * arrives, what was going on may be over.
 */
export function clickWhen({ page }: Pick<OpenPage, 'page'>, shown: RegExp, button: string): Promise<void> {
  return page.evaluate(
    ([pattern, label]) =>
      new Promise<void>(resolve => {
        const look = () => {
          if (!new RegExp(pattern).test(document.body.textContent)) return;
          const found = [...document.querySelectorAll('button')].find(it => it.textContent === label);
          if (!found) return;
          observer.disconnect();
          found.click();
          resolve();
        };
        const observer = new MutationObserver(look);
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        look();
      }),
    [shown.source, button] as const,
  );
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What breaks WCAG 2.2 A or AA on the page as it is: rule, and where. */
export async function violations({ page }: OpenPage): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.addScriptTag({ path: AXE });
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    // A change of theme or width is drawn first, and its transitions end: between two themes no contrast is right.
    for (let frame = 0; frame < 2; frame++) await new Promise(resolve => requestAnimationFrame(resolve));
    await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const found = await axe.run(document, { runOnly: { type: 'tag', values: tags } });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    );
  });
}

function listen(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('requestfailed', request => complaints.push(`${request.url()} failed`));
  page.on('response', response => {
    if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`);
  });
  page.on('request', request => {
    const { protocol, origin: other } = new URL(request.url());
    if (/^http/.test(protocol) && other !== origin) complaints.push(`${request.url()} is elsewhere`);
  });
  return complaints;
}

function siteUnderTest(): Promise<Site> {
  site ??= serve(inject('site'));
  return site;
}

function browserFor(webgpu: boolean): Promise<Browser> {
  let browser = browsers.get(webgpu);
  if (!browser) {
    const { executablePath, args } = inject('chromium')!;
    const chosen = webgpu ? args : args.filter(name => name !== '--enable-unsafe-webgpu');
    browser = chromium.launch({ executablePath, args: chosen, timeout: SHOWN });
    browsers.set(webgpu, browser);
  }
  return browser;
}
