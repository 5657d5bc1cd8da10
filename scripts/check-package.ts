/**
 * Checks the package as a user gets it: packed, installed into empty folders, imported, type checked and run there.
 *
 *   npm run check:package        needs dist/ (npm run build)
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const tools = join(root, 'node_modules', '.bin');
const work = mkdtempSync(join(tmpdir(), 'webgemm-package-'));

/** Bytes that the packed package may have: it has the page, and none of the libraries that the page races against. */
const MOST = 2e6;

/** The peers in the exact versions that the rest is tested with. */
const peers = Object.keys(manifest.peerDependencies).map(name => `${name}@${manifest.devDependencies[name]}`);

const CONSUMER = `
import { GemmError, type Profile, profileOf } from 'webgemm';
import { climb, findRungs, RUNGS, type RungResult } from 'webgemm/ladder';
import { createTimer, measure, type Measurement, verify } from 'webgemm/measure';
import { openGpu } from 'webgemm/node';

export async function ladder(): Promise<readonly RungResult[]> {
  const { device, close } = await openGpu({ software: true });
  try {
    const profile: Profile = profileOf(device);
    const shape = { m: 16, n: 16, k: 16 };
    return (await climb(device, { shape, rungs: findRungs('1,8s'), profile, minTime: 10 })).rungs;
  } finally {
    close();
  }
}

export async function time(device: GPUDevice): Promise<number> {
  const timer = await createTimer(device);
  const measured: Measurement = await measure(timer, { encode: pass => pass.dispatchWorkgroups(1) });
  return measured.ms;
}

export const codes: string[] = [new GemmError('no-gpu', 'none').code, RUNGS[0]!.id];
// @ts-expect-error: types are there, and not just any
export const misuse = () => verify('not a product');
`;

const RUN = `
import { ladder } from './consumer.js';
const rows = await ladder();
for (const { rung, status, reason } of rows) {
  if (status !== 'ok') throw new Error(\`rung \${rung} is \${status}: \${reason}\`);
}
if (rows.length !== 2) throw new Error('two rungs were asked for');
`;

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'es2022',
  types: [],
};

step('is well made (publint)', () => {
  run(root, join(tools, 'publint'), '--strict');
});
const tarball = join(work, pack());
step('has types for every way to resolve ESM (arethetypeswrong)', () => {
  run(root, join(tools, 'attw'), tarball, '--profile', 'esm-only');
});

const user = folder('user');
step('installs beside its peers', () => install(user, tarball, ...peers));
for (const name of exportsOf(manifest)) {
  step(`${name} can be imported`, () =>
    run(user, 'node', '--input-type=module', '-e', `await import('${name}')`),
  );
}
for (const [module, moduleResolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const) {
  step(`types check with moduleResolution ${moduleResolution}`, () => {
    writeFileSync(join(user, 'consumer.ts'), CONSUMER);
    const compilerOptions = { ...STRICT, module, moduleResolution };
    writeFileSync(join(user, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    run(user, join(tools, 'tsc'));
  });
}
step('a program that uses it runs', () => {
  writeFileSync(join(user, 'run.js'), RUN);
  run(user, 'node', 'run.js');
});
step('the command says its version', () => {
  expect(run(user, 'npx', '--no-install', 'webgemm', '--version').trim(), manifest.version);
});
step('the command climbs', () => {
  const args = ['ladder', '--software', '--size', '16', '--rungs', '1', '--json'];
  const { rungs } = JSON.parse(run(user, 'npx', '--no-install', 'webgemm', ...args));
  expect(JSON.stringify(rungs.map((row: { status: string }) => row.status)), '["ok"]');
});

const alone = folder('alone');
step('installs alone, with nothing beside it', () => {
  install(alone, tarball);
  const installed = Object.keys(JSON.parse(readFileSync(join(alone, 'package-lock.json'), 'utf8')).packages);
  expect(installed.filter(Boolean).join(), 'node_modules/webgemm');
});
step('without a WebGPU the command says so in a line', () => {
  const { status, stdout, stderr } = spawnSync('npx', ['--no-install', 'webgemm', 'ladder'], {
    cwd: alone,
    encoding: 'utf8',
  });
  expect(String(status), '2');
  expect(stdout, '');
  if (!/^webgemm: [^\n]*`webgpu` is not installed[^\n]*\n$/.test(stderr))
    throw new Error(`it says: ${stderr}`);
});
rmSync(work, { recursive: true });

function pack(): string {
  const packed = run(root, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', work);
  const [{ filename, files, size }] = JSON.parse(packed) as [
    { filename: string; files: { path: string }[]; size: number },
  ];
  const stray = files.filter(({ path }) => !/^(dist\/|package\.json$|README\.md$|LICENSE$)/.test(path));
  expect(stray.map(({ path }) => path).join(), '');
  if (size > MOST) throw new Error(`the package has ${size} bytes, more than ${MOST}`);
  return filename;
}

/** The names under which a program imports what the package exports. */
function exportsOf({ name, exports }: { name: string; exports: Record<string, unknown> }): string[] {
  const code = Object.keys(exports).filter(path => !path.endsWith('.json'));
  return code.map(path => name + path.slice(1));
}

function folder(name: string): string {
  const path = join(work, name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }));
  return path;
}

function install(cwd: string, ...packages: string[]): void {
  run(cwd, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages);
}

/** Runs a command and returns what it prints; what it says goes to the error where it fails. */
function run(cwd: string, command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function expect(found: string, wanted: string): void {
  if (found !== wanted)
    throw new Error(`it is ${JSON.stringify(found)} where ${JSON.stringify(wanted)} is due`);
}

function step(what: string, check: () => void): void {
  try {
    check();
    console.log(`ok      ${what}`);
  } catch (error) {
    const {
      message,
      stdout = '',
      stderr = '',
    } = error as { message: string; stdout?: string; stderr?: string };
    console.log(`FAILED  ${what}\n${[message, stdout, stderr].filter(Boolean).join('\n')}`);
    console.log(`The folders are left for a look: ${work}`);
    process.exit(1);
  }
}
