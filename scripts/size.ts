/**
 * What the library adds to a page: the bundle of an import, minified and compressed, against the limits in size.json.
 *
 *   npm run size      prints the table; fails over a limit, or where README.md states another one
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

interface Entry {
  readonly name: string;
  /** The page's code. */
  readonly code: string;
  /** Kilobytes (1000 bytes) after gzip that it may take. */
  readonly limit: number;
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const entries = JSON.parse(readFileSync('size.json', 'utf8')) as Entry[];
const readme = readFileSync('README.md', 'utf8');

const columns = (cells: readonly string[]) =>
  cells.map((cell, i) => (i === 0 ? cell.padEnd(12) : cell.padStart(12))).join('');
console.log(columns(['import', 'minified', 'gzip', 'brotli', 'limit, gzip']));
for (const { name, code, limit } of entries) {
  const contents = await bundle(code);
  const gzip = gzipSync(contents, { level: 9 }).byteLength;
  const sizes = [contents.byteLength, gzip, brotliCompressSync(contents).byteLength, limit * 1000];
  console.log(columns([name, ...sizes.map(bytes => `${(bytes / 1000).toFixed(1)} kB`)]));
  if (gzip > limit * 1000) fail(`${name} takes more than size.json allows`);
  const statement = `<!-- size:${name} -->${limit} kB<!-- /size -->`;
  if (!readme.includes(statement)) fail(`README.md does not state the limit of size.json: ${statement}`);
}

/** What a page loads at once: the entry and the chunks it imports, without those that it imports when it needs them. */
async function bundle(code: string): Promise<Uint8Array> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: process.cwd(), loader: 'ts' },
    alias: { webgemm: './src/index.ts' },
    ...{ bundle: true, minify: true, format: 'esm', target: 'es2023', write: false },
    ...{ splitting: true, outdir: 'out', metafile: true },
  });
  const loaded = new Set(['out/stdin.js']);
  for (const name of loaded) {
    for (const { kind, path } of metafile.outputs[name].imports) {
      if (kind === 'import-statement') loaded.add(path);
    }
  }
  const chunks = outputFiles.filter(({ path }) => loaded.has(relative(process.cwd(), path)));
  return Buffer.concat(chunks.map(({ contents }) => contents));
}

function fail(why: string): void {
  console.error(why);
  process.exitCode = 1;
}
