#!/usr/bin/env node
/** The command `webgemm`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { main } from './cli/main.ts';

// The package lies two folders up both from here and from dist/bin, where the bundle of this file is put.
const root = new URL('../../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const page = fileURLToPath(new URL('dist/page', root));

// A reader that has seen enough, such as `| head`, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await main(process.argv.slice(2), { version, page });
