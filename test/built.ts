/** For runs against the package as it is built: builds dist/ where it is missing or older than a source. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export default function build(): void {
  const built = `${root}dist/index.js`;
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' });
  const files = [...sources.map(name => `src/${name}`), 'scripts/build.ts', 'tsconfig.build.json'];
  const changed = Math.max(...files.map(name => statSync(root + name).mtimeMs));
  if (existsSync(built) && statSync(built).mtimeMs > changed) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}
