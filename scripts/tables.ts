/**
 * Writes the tables and the picture of README.md and docs/ from the records in bench/records/, so that no figure in
 * them was typed by hand.
 *
 *   npm run tables               writes them
 *   npm run tables -- --check    changes nothing, and fails where one does not match its record
 *
 * A table stands between `<!-- record:NAME -->` and `<!-- /record -->`; TABLES below has the names.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Chalk } from 'chalk';
import { benchChart } from '../src/bench/chart.ts';
import type { BenchRecord } from '../src/bench/record.ts';
import { ladderChart } from '../src/ladder/chart.ts';
import type { LadderRecord, RungRecord } from '../src/ladder/record.ts';
import { RUNGS } from '../src/ladder/rungs.ts';
import { barChart } from '../src/node/cli/bars.ts';
import { duration, gflops, percent, scientific, times, UNKNOWN } from '../src/node/cli/format.ts';
import { ladderTable } from '../src/node/cli/table.ts';
import { ceilingTable, comparisonTable, shapeTable, source, TITLES, targetTable } from './bench-tables.ts';
import { markdown } from './markdown.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const h200 = readRecord('h200-ladder');
const swiftShader = readRecord('swiftshader-ladder');
const kernels = readKernels('h200-kernels');
const bench = readBench('h200-bench');

/** Null stands for a table whose record does not exist yet; what stands in its place is left as it is. */
const TABLES: Readonly<Record<string, () => string | null>> = {
  /** The rungs and their kernels, with the reference's figures beside ours. */
  ladder: () => `${kernelTable(h200)}\n\n${remarks(h200)}`,
  /** Everything that was measured. */
  measurements: () => `${measurementTable(h200)}\n\n${remarks(h200)}`,
  /** The library's kernels on single problems, the vendor's library beside them. */
  kernels: () => kernelsTable(kernels),
  /** How many times as fast the library is as the vendor's and as peers, over all shapes. */
  comparisons: () => bench && `${comparisonTable(bench)}\n\n${source(bench)}`,
  /** What was to be reached. */
  targets: () => bench && targetTable(bench),
  /** A row a shape and type. */
  shapes: () => bench && `${shapeTable(bench)}\n\n${source(bench)}`,
  /** What the hardware can do at the most. */
  ceilings: () => bench && ceilingTable(bench),
  /** What the command prints without a GPU. */
  terminal: () => `\`\`\`text\n${terminal(swiftShader)}\n\`\`\``,
};

const PICTURES: Readonly<Record<string, () => string | null>> = {
  'bench/records/h200-ladder.svg': () => `${ladderChart(h200, RUNGS)}\n`,
  'bench/records/h200-bench.svg': () => bench && `${benchChart(forPicture(bench), TITLES)}\n`,
};

const check = process.argv.includes('--check');
const documents = ['README.md', ...readdirSync('docs').map(name => `docs/${name}`)];
const outdated: string[] = [];
for (const file of documents.filter(name => name.endsWith('.md'))) {
  bring(file, fill(file, readFileSync(file, 'utf8')));
}
for (const [file, draw] of Object.entries(PICTURES)) {
  const picture = draw();
  if (picture !== null) bring(file, picture);
}
if (check && outdated.length > 0) {
  console.error(`Not as bench/records/ says: ${outdated.join(', ')}. \`npm run tables\` writes them.`);
  process.exitCode = 1;
}

function readRecord(name: string): LadderRecord {
  const record = JSON.parse(readFileSync(`bench/records/${name}.json`, 'utf8')) as LadderRecord;
  if (record.schema !== 'webgemm-ladder/1') throw new Error(`${name}.json is no ladder's record`);
  const bad = record.rungs.filter(({ status }) => status === 'wrong' || status === 'failed');
  if (bad.length > 0) throw new Error(`${name}.json holds rungs that are wrong: ${bad.map(({ id }) => id)}`);
  return record;
}

/** What bench/kernels.ts prints, as far as the table shows it. */
interface KernelsRecord {
  readonly schema: string;
  readonly date: string;
  readonly adapter: { readonly device: string };
  readonly results: readonly {
    readonly group: 'ours' | 'cublas';
    readonly name: string;
    readonly dtype: string;
    readonly cType?: string;
    readonly shape: readonly [number, number, number];
    readonly batch: number;
    readonly params?: Readonly<Record<string, number>>;
    readonly ms?: number;
    readonly tflops?: number;
    readonly relErr?: number | null;
    readonly failure?: string | null;
  }[];
}

function readKernels(name: string): KernelsRecord {
  const record = JSON.parse(readFileSync(`bench/records/${name}.json`, 'utf8')) as KernelsRecord;
  if (record.schema !== 'webgemm-kernels/1') throw new Error(`${name}.json is no record of kernels`);
  return record;
}

/** A record of `webgemm bench` or of bench/gpu-machine.ts; null where there is none. */
function readBench(name: string): BenchRecord | null {
  const file = `bench/records/${name}.json`;
  if (!existsSync(file)) return null;
  const record = JSON.parse(readFileSync(file, 'utf8')) as BenchRecord;
  if (record.schema !== 'webgemm-bench/1') throw new Error(`${name}.json is no record of a bench`);
  return record;
}

/** The chart has room for the squares in f32. */
function forPicture(record: BenchRecord): BenchRecord {
  const results = record.results.filter(
    ({ shape, dtype, accuracy, name, batch }) =>
      shape &&
      new Set(shape).size === 1 &&
      batch === 1 &&
      dtype === 'f32' &&
      accuracy !== 'strict' &&
      name !== 'webgemm-unflagged',
  );
  return { ...record, results };
}

/** Of each problem, the three fastest. */
function kernelsTable({ results, adapter, date }: KernelsRecord): string {
  const size = ({ batch, shape: [m, n, k] }: (typeof results)[number]) => batch * m * n * k;
  const problem = ({ batch, shape, dtype, cType }: (typeof results)[number]) =>
    JSON.stringify([batch, shape, dtype, cType]);
  const sorted = results
    .filter(({ failure }) => !failure)
    .sort(
      (x, y) =>
        size(y) - size(x) || problem(x).localeCompare(problem(y)) || (y.tflops ?? 0) - (x.tflops ?? 0),
    );
  const rows = sorted
    .filter((row, i) => i < 3 || problem(sorted[i - 3]) !== problem(row))
    .map(({ batch, shape, dtype, cType, name, params, ms, tflops, relErr }) => [
      `${batch > 1 ? `${batch} × ` : ''}${shape.join('×')}`,
      cType && cType !== dtype ? `${dtype} → ${cType}` : dtype,
      name,
      Object.entries(params ?? {})
        .map(([key, value]) => `${key} ${value}`)
        .join(', '),
      duration(ms ?? null),
      tflops?.toFixed(1) ?? UNKNOWN,
      scientific(relErr ?? null),
    ]);
  const table = markdown(['m×n×k', 'inputs', 'kernel', 'parameters', 'time', 'TFLOP/s', 'error'], rows, 4);
  return `${table}\n\n${adapter.device}, ${date.slice(0, 10)}; of each problem the three fastest, all verified in the same run.`;
}

function bring(file: string, content: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === content) return;
  outdated.push(file);
  if (check) return;
  writeFileSync(file, content);
  console.log(`wrote ${file}`);
}

function fill(file: string, text: string): string {
  return text.replace(/(<!-- record:(\w+) -->\n)[\s\S]*?(<!-- \/record -->)/g, (whole, begin, name, end) => {
    const table = TABLES[name];
    if (!table)
      throw new Error(`${file}: there is no table "${name}", only ${Object.keys(TABLES).join(', ')}`);
    const content = table();
    return content === null ? whole : `${begin}\n${content}\n\n${end}`;
  });
}

function kernelTable(record: LadderRecord): string {
  const rows = RUNGS.map(({ rung, id, idea, m4 }) => {
    const measured = record.rungs.find(result => result.id === id);
    const file = `[${id}](src/ladder/${rung}-${id}.ts)`;
    return [rung, idea, file, gflops(m4), figure(measured), times(measured?.overBelow ?? null)];
  });
  const name = shortName(record);
  return markdown(
    ['rung', 'the one idea', 'kernel', 'M4 GFLOP/s', `${name} GFLOP/s`, `${name}, over the rung below`],
    rows,
    3,
  );
}

function measurementTable(record: LadderRecord): string {
  const columns: [head: string, cell: (result: RungRecord) => string][] = [
    ['rung', result => result.rung],
    ['id', result => result.id],
    ['time', result => duration(result.ms)],
    ['spread', result => percent(result.spread)],
    ['GFLOP/s', figure],
    ['× below', result => times(result.overBelow)],
    ['error', result => scientific(result.relErr)],
    ['worst', ({ worst }) => worst?.toFixed(2) ?? UNKNOWN],
    ['compile', result => duration(result.compileMs)],
  ];
  const rows = record.rungs.map(result => columns.map(([, cell]) => cell(result)));
  return markdown(
    columns.map(([head]) => head),
    rows,
    2,
  );
}

function figure(result: RungRecord | undefined): string {
  if (!result) return 'not measured';
  return result.status === 'unsupported' ? 'not on this device' : gflops(result.gflops);
}

/** Where the figures come from, and what the rungs took from the device or ran beside and within them. */
function remarks({ adapter, runtime, problem, timer, date, version, rungs }: LadderRecord): string {
  const notes = rungs.flatMap(({ rung, detail, prepare, within = [] }) => {
    const beside = prepare.map(
      ({ label, ms }) => `beside it, and not in its time, ${label}: ${duration(ms)}`,
    );
    const parts = within.map(({ label, ms }) => `of its time, ${label}: ${duration(ms)}`);
    const all = [detail, ...beside, ...parts].filter(Boolean).join('; ');
    return all ? [`Rung ${rung}: ${all}.`] : [];
  });
  const clock =
    timer.kind === 'wall-clock' ? 'wall clock' : `GPU timestamps in steps of ${timer.resolutionNs} ns`;
  const source = [
    `C = A·B with m = ${problem.m}, n = ${problem.n}, k = ${problem.k}`,
    `${adapter.device} (${adapter.description})`,
    `Dawn ${runtime.dawn}, Node ${runtime.version}, webgemm ${version}`,
    `${clock}; every rung verified`,
    date.slice(0, 10),
  ];
  return [`${source.join(' · ')}.`, ...notes].join('\n');
}

/** `nvidia-h200` → `H200` */
function shortName({ adapter }: LadderRecord): string {
  return adapter.device.replace(`${adapter.vendor}-`, '').toUpperCase();
}

function terminal({ rungs: results }: LadderRecord): string {
  const view = { width: 92, colour: new Chalk({ level: 0 }) };
  const rungs = RUNGS.filter(({ id }) => results.some(result => result.id === id));
  const table = ladderTable(rungs, results, null, { ...view, frame: '' });
  return `${table}\n\nGFLOP/s\n${barChart(rungs, results, view)}`;
}
