/** In a page, a test fails also where it leaves an error or a warning on the console. */
import { afterEach, beforeEach, expect } from 'vitest';
import { commands } from 'vitest/browser';

beforeEach(() => commands.takeConsole());
afterEach(async () => {
  expect(await commands.takeConsole(), 'on the console').toEqual([]);
});
