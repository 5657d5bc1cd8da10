/** Runs the real command in a process of its own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param interruptAt presses Ctrl-C, so to speak, once, when this has been printed */
export function webgemm(
  args: readonly string[],
  env: Record<string, string> = {},
  interruptAt?: RegExp,
): Promise<Ran> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/node/bin.ts', ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      timeout: 50_000,
    });
    let stdout = '';
    let stderr = '';
    let interrupted = false;
    child.stdout.on('data', text => {
      stdout += text;
      if (interruptAt?.test(stdout) && !interrupted) interrupted = child.kill('SIGINT');
    });
    child.stderr.on('data', text => {
      stderr += text;
    });
    child.on('error', fail);
    child.on('close', code => done({ code, stdout, stderr }));
  });
}

/** A folder for the test file, removed after it; gives paths in it. */
export function useFolder(): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'webgemm-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return name => join(folder, name);
}
