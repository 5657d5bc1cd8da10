import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { main } from '../../src/node/cli/main.ts';
import { servePage } from '../../src/node/cli/page.ts';

async function served() {
  const { url, server } = await servePage(inject('site'));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return url;
}

test('serves the page with its types, isolated, and nothing beside it', async () => {
  const url = await served();
  const page = await fetch(url);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(page.headers.get('cross-origin-embedder-policy')).toBe('require-corp');
  const script = /src="\.\/([^"]+\.js)"/.exec(await page.text())?.[1];
  const answer = await fetch(url + script, { method: 'HEAD' });
  expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect((await fetch(`${url}..%2fpackage.json`)).status).toBe(404);
  expect((await fetch(url, { method: 'POST' })).status).toBe(405);
});

test.each([
  [['--port', '0'], /^webgemm: --port is "0"; .*\n$/],
  [['--port', 'x'], /^webgemm: --port is "x"; .*\n$/],
  [[], /^webgemm: the page was not built; .*npm run page:build.*\n$/],
])('page %j without a built page is bad input, in one line', async (args, message) => {
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => stderr.mockRestore());
  const code = await main(['page', '--no-open', ...args], { version: '0', page: '/nowhere' });
  expect(code).toBe(2);
  expect(stderr.mock.calls.join('')).toMatch(message);
});

test('a port that is taken is bad input', async () => {
  const { port } = new URL(await served());
  await expect(servePage(inject('site'), Number(port))).rejects.toMatchObject({
    code: 'invalid-argument',
    message: `port ${port} can't be used: something else listens there`,
  });
});
