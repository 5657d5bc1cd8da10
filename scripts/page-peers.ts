/**
 * Builds the page with the peers of its race, which are installed in bench/ alone, and without those that are not
 * there; in the npm package without any, as they are many times its size. What a peer would download is written into peers.json, which the page reads when a race is to be set up.
 */
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin, Rolldown } from 'vite';
import manifest from '../bench/package.json' with { type: 'json' };

/** Vite's mode for the page in the npm package. */
export const PACKAGE_MODE = 'package';

const FILE = 'peers.json';
const PACKAGES = Object.keys(manifest.devDependencies);
const MISSING = '\0missing-peer:';
/** Adapters that the race imports; a chunk of one has all that is loaded for its peer. */
const ADAPTER = /\/bench\/peers\/(tensorflow|onnx-web|jax)\.ts$/;

const isPackage = (id: string) => PACKAGES.some(name => id === name || id.startsWith(`${name}/`));

/** For the worker's build: a peer's package that is not to be had becomes a module that says so when it is loaded. */
export function peers(mode: string): Plugin {
  const missing = new Set<string>();
  return {
    name: 'webgemm-peers',
    enforce: 'pre',
    async resolveId(id, importer) {
      if (!isPackage(id) || !importer || !ADAPTER.test(importer)) return null;
      const found = mode === PACKAGE_MODE ? null : await this.resolve(id, importer, { skipSelf: true });
      if (found) return found;
      missing.add(nameOf(importer));
      return MISSING + id;
    },
    load(id) {
      if (!id.startsWith(MISSING)) return null;
      // What Node says of a package that is not there, which the adapters turn into advice.
      const message = JSON.stringify(`Cannot find package '${id.slice(MISSING.length)}'`);
      return `throw Object.assign(new Error(${message}), { code: 'ERR_MODULE_NOT_FOUND' });`;
    },
    generateBundle(_, bundle) {
      const adapters = Object.values(bundle).filter(isAdapter);
      if (adapters.length === 0) return;
      const usual = closure(bundle, Object.values(bundle).filter(isRaceOrEntry), false);
      const sizes = adapters
        .map(chunk => [nameOf(chunk.facadeModuleId!), chunk] as const)
        .filter(([name]) => !missing.has(name))
        .map(([name, chunk]) => {
          const files = [...closure(bundle, [chunk], true)].filter(file => !usual.has(file));
          return [name, files.reduce((sum, file) => sum + compressed(bundle[file]), 0)];
        });
      this.emitFile({ type: 'asset', fileName: FILE, source: JSON.stringify(Object.fromEntries(sizes)) });
    },
  };
}

/** For the server of `npm run page`, which builds no chunks: every peer may be there, of unknown size. */
export const peersInDevelopment = (): Plugin => ({
  name: 'webgemm-peers-in-development',
  configureServer: ({ middlewares }) => {
    middlewares.use(`/${FILE}`, (_, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end('{"tensorflow":null,"onnx-web":null,"jax":null}');
    });
  },
});

type Output = Rolldown.OutputChunk | Rolldown.OutputAsset;

const nameOf = (module: string) => ADAPTER.exec(module)![1];
const isAdapter = (output: Output): output is Rolldown.OutputChunk =>
  output.type === 'chunk' && ADAPTER.test(output.facadeModuleId ?? '');
const isRaceOrEntry = (output: Output): output is Rolldown.OutputChunk =>
  output.type === 'chunk' && (output.isEntry || /\/jobs\/race\.ts$/.test(output.facadeModuleId ?? ''));

/** Files that chunks need: what they import, and what that imports; with `late` what they import later, too. */
function closure(
  bundle: Rolldown.OutputBundle,
  chunks: readonly Rolldown.OutputChunk[],
  late: boolean,
): ReadonlySet<string> {
  const files = new Set<string>();
  const visit = (file: string) => {
    const output = bundle[file];
    if (!output || files.has(file)) return;
    files.add(file);
    if (output.type !== 'chunk') return;
    for (const next of [...output.imports, ...(late ? output.dynamicImports : [])]) visit(next);
    for (const { type, fileName } of Object.values(bundle)) {
      if (type === 'asset' && output.code.includes(basename(fileName))) files.add(fileName);
    }
  };
  for (const { fileName } of chunks) visit(fileName);
  return files;
}

const compressed = (output: Output) => gzipSync(output.type === 'chunk' ? output.code : output.source).length;
