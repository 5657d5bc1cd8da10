/** For runs against the package as it is built: builds dist/ where it is missing or older than a source. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export default function build(): void {
  const built = `${root}dist/index.js`;
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' });
  const files = [...sources.map(name => `src/${name}`), 'scripts/build.ts', 'tsconfig.build.json'];
  const changed = Math.max(...files.map(name => statSync(root + name).mtimeMs));
  if (existsSync(built) && statSync(built).mtimeMs > changed) return;
  try {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  } catch {
    // An error here would end the whole run. So only the tests that need dist/ fail: it isn't there.
    rmSync(`${root}dist`, { recursive: true, force: true });
    console.error('dist/ could not be built');
  }
}
