/** Builds the page into a folder of this run's own, so that runs beside each other do not change what they test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the built page. */
    site: string;
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const site = mkdtempSync(join(tmpdir(), 'webgemm-page-'));
  await build({
    configFile: fileURLToPath(new URL('../../vite.config.ts', import.meta.url)),
    logLevel: 'warn',
    build: { outDir: site },
  });
  project.provide('site', site);
  return () => rmSync(site, { recursive: true, force: true });
}
