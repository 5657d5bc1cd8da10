/**
 * Writes src/tuning/shipped/, what the library knows of GPUs without tuning, from the tuning records in
 * bench/records/tuning-NAME.json, so that no figure in it was typed by hand.
 *
 *   tsx scripts/shipped.ts               writes it
 *   tsx scripts/shipped.ts --check       changes nothing, and fails where a file does not match its record
 *
 * A record comes from `webgemm tune --out bench/records/tuning-NAME.json`, and NAME stands in FAMILIES. Several records of
 * a family (other types, other shapes) are tuning-NAME-anything.json.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Params } from '../src/kernels/kernel.ts';
import { readTuningRecord, type TuningEntry, type TuningRecord } from '../src/tuning/record.ts';

/** For which GPUs a record holds: what their architecture or their device's name contains. */
const FAMILIES: Readonly<Record<string, string>> = {
  h200: 'h[12]00|hopper',
  swiftshader: 'swiftshader',
  lavapipe: 'llvmpipe',
};

/** Parameters that a kernel has got since some of the records were made, and what it did without them. */
const SINCE: Readonly<Record<string, Params>> = {
  'split-f32': { slices: 1, stages: 1, pack: 1, still: 0, apart: 0 },
  'subgroup-matrix': { stages: 1, still: 0 },
};

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const RECORDS = join('bench', 'records');
const FOLDER = join('src', 'tuning', 'shipped');
const check = process.argv.includes('--check');
const outdated: string[] = [];

const names = Object.keys(FAMILIES).filter(name => recordsOf(name).length > 0);
for (const name of names) bring(`${name}.ts`, tableFile(name, recordsOf(name)));
bring('index.ts', indexFile(names));
for (const file of readdirSync(FOLDER)) {
  if (file === 'index.ts' || names.includes(file.replace(/\.ts$/, ''))) continue;
  outdated.push(file);
  if (!check) rmSync(join(FOLDER, file));
}
if (check && outdated.length > 0) {
  console.error(`Not as ${RECORDS} says: ${outdated.join(', ')}. \`tsx scripts/shipped.ts\` writes them.`);
  process.exitCode = 1;
}

function recordsOf(name: string): readonly TuningRecord[] {
  return readdirSync(RECORDS)
    .filter(file => file === `tuning-${name}.json` || file.startsWith(`tuning-${name}-`))
    .sort()
    .map(file => readTuningRecord(JSON.parse(readFileSync(join(RECORDS, file), 'utf8'))));
}

function tableFile(name: string, records: readonly TuningRecord[]): string {
  const { adapter, date } = records[records.length - 1];
  const kinds = new Map<string, TuningEntry[]>();
  for (const entry of fastest(records)) {
    if (entry.layout !== 'dense') continue;
    const key = kindOf(entry);
    kinds.set(key, [...(kinds.get(key) ?? []), entry]);
  }
  const list = [...kinds].map(
    ([kind, entries]) => `{ ${kind}, rows: [${entries.map(row => JSON.stringify(rowOf(row))).join(',')}] }`,
  );
  return `// Written by scripts/shipped.ts from bench/records/tuning-${name}*.json: ${adapter.device || adapter.description}, ${date.slice(0, 10)}.
import type { ShippedTable } from '../shipped.ts';

export const ${name}: ShippedTable = {
  vendor: ${JSON.stringify(adapter.vendor)},
  family: /${FAMILIES[name]}/,
  kinds: [${list.join(',')}],
};
`;
}

/** Of several records' entries for a problem, the fastest. */
function fastest(records: readonly TuningRecord[]): readonly TuningEntry[] {
  const best = new Map<string, TuningEntry>();
  for (const entry of records.flatMap(({ entries }) => entries)) {
    const { m, n, k, batch, layout } = entry;
    const problem = JSON.stringify([kindOf(entry), m, n, k, batch, layout]);
    const known = best.get(problem);
    if (!known || entry.ms < known.ms) best.set(problem, entry);
  }
  return [...best.values()];
}

function kindOf({ aType, bType, cType, transA, transB, accuracy }: TuningEntry): string {
  const stored = `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`;
  return `types: ${JSON.stringify([aType, bType, cType])}, stored: '${stored}', accuracy: '${accuracy}'`;
}

function rowOf({ m, n, k, batch, kernel, params, ms }: TuningEntry) {
  return [m, n, k, batch, kernel, { ...SINCE[kernel], ...params }, Number(ms.toPrecision(3))] as const;
}

function indexFile(names: readonly string[]): string {
  return `// Written by scripts/shipped.ts.
import type { ShippedTable } from '../shipped.ts';
${names.map(name => `import { ${name} } from './${name}.ts';`).join('\n')}

export const TABLES: readonly ShippedTable[] = [${names.join(', ')}];
`;
}

function bring(file: string, text: string): void {
  const path = join(FOLDER, file);
  const biome = join('node_modules', '@biomejs', 'biome', 'bin', 'biome');
  const options = ['check', '--write', `--stdin-file-path=${path}`];
  const formatted = execFileSync(process.execPath, [biome, ...options], { input: text, encoding: 'utf8' });
  if (existsSync(path) && readFileSync(path, 'utf8') === formatted) return;
  outdated.push(file);
  if (!check) writeFileSync(path, formatted);
}
