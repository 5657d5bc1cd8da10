#!/usr/bin/env node
/** The command `webgemm`. */
import { readFileSync } from 'node:fs';
import { main } from './cli/main.ts';

// package.json lies two folders up both from here and from dist/bin, where the bundle of this file is put.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

process.exitCode = await main(process.argv.slice(2), version);
