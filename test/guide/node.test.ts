/** The programs in the documents that are for Node: each is type checked, run by itself, and prints what is said there. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { ROOT, useSamples } from './folder.ts';
import { patternOf, SAMPLES } from './samples.ts';

const run = promisify(execFile);
const { root, folderOf } = useSamples(SAMPLES);

test('every program has right types', async () => {
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', lib: ['es2023', 'dom', 'dom.iterable'], noEmit: true },
    ...{ strict: true, noUnusedLocals: true, moduleDetection: 'force', types: ['node', '@webgpu/types'] },
    skipLibCheck: true,
  };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*/*.ts'] }));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const problems = await run(process.execPath, [tsc], { cwd: root }).then(
    () => '',
    ({ stdout }) => stdout,
  );
  expect(problems).toBe('');
});

test.each(SAMPLES.filter(({ where }) => where === 'node'))('$name', async sample => {
  const folder = folderOf(sample);
  await build({
    entryPoints: Object.keys(sample.files).map(file => join(folder, file)),
    outdir: folder,
    format: 'esm',
  });
  const { stdout, stderr } = await run(process.execPath, ['main.js'], { cwd: folder, timeout: 60_000 });
  expect(stderr).toBe('');
  if (sample.output !== null) expect(stdout.trim()).toMatch(patternOf(sample.output));
});
