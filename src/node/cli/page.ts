/** `webgemm page`: serves the built page from this package to this machine's browser. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, sep } from 'node:path';
import { Command } from 'commander';
import { GemmError } from '../../errors.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** The two that isolate the page give it a finer clock, and memory that workers can share. */
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
};

const USUAL_PORT = 4680;

interface PageOptions {
  readonly port?: number;
  readonly open: boolean;
}

/** @param site the folder of the built page */
export function pageCommand(site: string): Command {
  return new Command('page')
    .description('Open the page: the ladder, a workbench and more, on the GPU of your browser.')
    .option('--port <n>', `serve on this port (default: ${USUAL_PORT}, or a free one)`, portOf)
    .option('--no-open', 'do not open the browser')
    .action(async ({ port, open }: PageOptions) => {
      const { url, server } = await servePage(site, port);
      process.stdout.write(`The page is on ${url} until Ctrl-C.\n`);
      if (open) openBrowser(url);
      await new Promise(resolve => server.once('close', resolve));
    });
}

/**
 * Serves the built page to this machine alone.
 *
 * @throws GemmError `invalid-file` where it was not built, `invalid-argument` where the port that was asked for is taken
 */
export async function servePage(site: string, port?: number): Promise<{ url: string; server: Server }> {
  const server = createServer(answer(site, filesOf(site)));
  return { url: await listen(server, port), server };
}

function portOf(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535) {
    throw new GemmError(
      'invalid-argument',
      `--port is "${text}"`,
      'Ports are whole numbers from 1 to 65535.',
    );
  }
  return port;
}

/** The paths that are served: only what lies there now, so no request can lead out of the folder. */
function filesOf(site: string): ReadonlySet<string> {
  const files = existsSync(site) ? readdirSync(site, { recursive: true, encoding: 'utf8' }) : [];
  const paths = new Set(files.map(file => file.split(sep).join('/')).filter(file => TYPES[extname(file)]));
  if (!paths.has('index.html')) {
    throw new GemmError(
      'invalid-file',
      'the page was not built',
      'In a checkout, `npm run page:build` makes it.',
    );
  }
  return paths;
}

const answer =
  (site: string, files: ReadonlySet<string>): RequestListener =>
  ({ method, url = '/' }, response) => {
    const path = url.split('?', 1)[0].slice(1) || 'index.html';
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    } else if (!files.has(path)) {
      response
        .writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' })
        .end('There is no such file.\n');
    } else {
      const content = readFileSync(join(site, path));
      const type = TYPES[extname(path)];
      response.writeHead(200, { ...HEADERS, 'Content-Type': type, 'Content-Length': content.byteLength });
      response.end(method === 'HEAD' ? undefined : content);
    }
  };

/** @returns the address for this machine's browser */
async function listen(server: Server, asked: number | undefined): Promise<string> {
  const attempt = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  try {
    await attempt(asked ?? USUAL_PORT);
  } catch (cause) {
    if (asked !== undefined) {
      const { code } = cause as NodeJS.ErrnoException;
      const reason = code === 'EADDRINUSE' ? 'something else listens there' : (cause as Error).message;
      const hint = 'Give another one, or leave --port out.';
      throw new GemmError('invalid-argument', `port ${asked} can't be used: ${reason}`, hint, { cause });
    }
    await attempt(0);
  }
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

/** Where there is no browser to open, the printed address has to do. */
function openBrowser(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '', url]
        : ['xdg-open', url];
  spawn(command, args, { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
