/**
 * Builds dist/: what package.json exports, as one readable .js and .d.ts for each source file, and the command, as a
 * bundle. The package has no run-time dependencies, so the few packages that the code for Node uses are bundled into it.
 * The page is built beside them, in dist/page, without the peers of its race.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { build as buildPage } from 'vite';
import peers from '../bench/package.json' with { type: 'json' };
import { PACKAGE_MODE } from './page-peers.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
rmSync('dist', { recursive: true, force: true });

execFileSync(
  process.execPath,
  [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json'],
  {
    stdio: 'inherit',
  },
);

const bundled: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // What the user installs beside webgemm, if at all.
  external: ['webgpu', '@sparticuz/chromium', ...Object.keys(peers.devDependencies)],
  // Some of the bundled packages are CommonJS and ask for Node's modules with require().
  banner: {
    js: "import { createRequire as createRequireForBundle } from 'node:module';\nvar require = createRequireForBundle(import.meta.url);",
  },
  logLevel: 'warning',
};

// In place of tsc's version, whose import of a package would not be found.
const software = await build({
  ...bundled,
  entryPoints: ['src/node/software.ts'],
  outfile: 'dist/node/software.js',
  metafile: true,
});
const sources = Object.keys(software.metafile.inputs).filter(file => file.startsWith('src/'));
if (sources.length > 1) throw new Error(`dist would hold these twice: ${sources.slice(1).join(', ')}`);

await build({
  ...bundled,
  entryPoints: { webgemm: 'src/node/bin.ts' },
  outdir: 'dist/bin',
  splitting: true,
  chunkNames: '[name]-[hash]',
});
chmodSync('dist/bin/webgemm.js', 0o755);

await buildPage({ configFile: 'vite.config.ts', mode: PACKAGE_MODE, logLevel: 'warn' });
