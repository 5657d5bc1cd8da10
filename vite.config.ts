/** The page: `npm run page` serves it while it is written, `npm run page:build` makes the static site in dist/page. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { peers, peersInDevelopment } from './scripts/page-peers.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const { version } = JSON.parse(readFileSync(path('package.json'), 'utf8')) as { version: string };

/** With these a page's clock moves in steps of 5 µs instead of 100, and it may share memory between workers. */
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig(({ mode }) => ({
  root: path('src/page'),
  // The site works under any path of any server.
  base: './',
  define: { WEBGEMM_VERSION: JSON.stringify(version) },
  plugins: [peers(mode), peersInDevelopment()],
  worker: { format: 'es', plugins: () => [peers(mode)] },
  build: {
    outDir: path('dist/page'),
    emptyOutDir: true,
    target: 'es2023',
    // The charts' and the editor's chunks are over Vite's limit; what counts is the first load, which a test watches.
    chunkSizeWarningLimit: 2000,
  },
  // What is loaded late would otherwise be found late, and reload the page that is being looked at.
  optimizeDeps: {
    include: [
      ...['@iizukak/codemirror-lang-wgsl', '@lezer/highlight'],
      ...['commands', 'language', 'lint', 'search', 'state', 'view'].map(name => `@codemirror/${name}`),
    ],
  },
  server: { headers, fs: { allow: [path('.')] } },
  preview: { headers },
}));
