/**
 * Writes docs/api, the reference, from the docstrings of what package.json exports. An export without a docstring is an
 * error; typedoc.json says what else is.
 *
 *   npm run docs               writes it
 *   npm run docs -- --check    changes nothing, and fails where a page is not as the docstrings say
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const WRITTEN = join('docs', 'api');
const check = process.argv.includes('--check');
const folder = check ? mkdtempSync(join(tmpdir(), 'webgemm-docs-')) : WRITTEN;

const typedoc = join('node_modules', 'typedoc', 'bin', 'typedoc');
try {
  execFileSync(process.execPath, [typedoc, '--logLevel', 'Warn', '--out', folder], { stdio: 'inherit' });
} catch {
  process.exit(1); // typedoc has said what is wrong
}

if (check) {
  const names = new Set([...pagesIn(folder), ...pagesIn(WRITTEN)]);
  const outdated = [...names].filter(name => text(join(folder, name)) !== text(join(WRITTEN, name)));
  rmSync(folder, { recursive: true });
  if (outdated.length > 0) {
    console.error(`Not as the docstrings say: ${outdated.join(', ')}. \`npm run docs\` writes them.`);
    process.exitCode = 1;
  }
}

function pagesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter(name => name.endsWith('.md'));
}

function text(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
