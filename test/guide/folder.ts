/** A folder as a user's would be: samples in it, and the built package and its peers in node_modules. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Sample } from './samples.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Writes the samples into a folder each; gives the folder of a sample. Removed after the test file. */
export function useSamples(samples: readonly Sample[]): { root: string; folderOf(sample: Sample): string } {
  const root = mkdtempSync(join(tmpdir(), 'webgemm-guide-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  mkdirSync(join(root, 'node_modules', '@webgpu'), { recursive: true });
  mkdirSync(join(root, 'node_modules', '@types'));
  symlinkSync(ROOT, join(root, 'node_modules', 'webgemm'));
  for (const name of ['@webgpu/types', '@types/node', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
  }
  const folderOf = (sample: Sample) => join(root, String(samples.indexOf(sample)));
  for (const sample of samples) {
    mkdirSync(folderOf(sample));
    for (const [file, source] of Object.entries(sample.files))
      writeFileSync(join(folderOf(sample), file), source);
  }
  return { root, folderOf };
}
