/** Commands of vitest's browser mode that run in Node, beside the browser: what the page's console says. */
import { defineBrowserCommand } from '@vitest/browser-playwright';
import type { Page } from 'playwright';

const heard = new WeakMap<Page, string[]>();

/** Errors and warnings on the console since the last call; the first call begins to listen. */
export const takeConsole = defineBrowserCommand<[]>(({ page }) => {
  const lines = heard.get(page) ?? [];
  if (!heard.has(page)) {
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) heard.get(page)?.push(message.text());
    });
    page.on('pageerror', error => heard.get(page)?.push(String(error)));
  }
  heard.set(page, []);
  return lines;
});

declare module 'vitest/browser' {
  interface BrowserCommands {
    takeConsole(): Promise<string[]>;
  }
}
