/** The tables that are made from a bench's record. */
import type { BenchRecord, BenchResult } from '../src/bench/record.ts';
import { type BenchRow, benchRows, speed } from '../src/bench/table.ts';
import { duration, percent, scientific, UNKNOWN } from '../src/figures.ts';
import { median } from '../src/measure/statistics.ts';
import { comparisons, targets } from './bench-figures.ts';
import { markdown } from './markdown.ts';

/** What the peers are called, by their names in records. */
export const TITLES: Readonly<Record<string, string>> = {
  tensorflow: 'TensorFlow.js',
  'onnx-web': 'ONNX Runtime web',
  'onnx-node': 'ONNX Runtime node',
  jax: 'jax-js',
  'cublas-f32': 'cuBLAS f32',
  'cublas-f16': 'cuBLAS f16',
};

const titleOf = (name: string) => TITLES[name] ?? name;
const ratio = (value: number | null) => (value === null ? UNKNOWN : `${value.toFixed(2)}×`);

/** How many times as fast ours is as each other, over all shapes. */
export function comparisonTable(record: BenchRecord): string {
  const rows = [...comparisons(record, 'f32'), ...comparisons(record, 'f16')].map(
    ({ name, dtype, products, mean, least }) => [
      titleOf(name),
      dtype,
      `${products}`,
      ratio(mean),
      `${ratio(least.faster)} (${least.shape})`,
    ],
  );
  return markdown(['against', 'inputs', 'shapes', 'geometric mean', 'least'], rows, 2);
}

/** What was to be reached, and what was. */
export function targetTable(record: BenchRecord): string {
  const rows = targets(record).map(({ what, target, measured, reached }) => [
    ...[what, target, measured],
    reached === null ? UNKNOWN : reached ? 'yes' : 'no',
  ]);
  return markdown(['what', 'target', 'measured', 'reached'], rows, 4);
}

/** A row a product: ours, and how many times as fast it is as the vendor's for the same type and as each peer. */
export function shapeTable(record: BenchRecord): string {
  const rows = benchRows(record.results).filter(({ ours }) => ours);
  const names = [...new Set(rows.flatMap(({ others }) => others.map(({ result }) => result.name)))].filter(
    name => !name.startsWith('cublas-'),
  );
  const head = [
    'm×n×k',
    'inputs',
    'kernel',
    'time',
    'spread',
    'speed',
    'error',
    '× cuBLAS',
    ...names.map(titleOf),
  ];
  return markdown(
    head,
    rows.map(row => [...ownCells(row), vendorCell(row), ...names.map(name => faster(row, name))]),
    3,
  );
}

function ownCells({ shape, dtype, ours }: BenchRow): string[] {
  const type = [dtype, ours?.accuracy === 'strict' ? 'strict' : ''].filter(Boolean).join(' ');
  const kernel = ours?.name === 'webgemm' ? ours.kernel : `${ours?.kernel}, no experimental feature`;
  if (!ours || ours.failure !== null) {
    return [shape, type, kernel ?? UNKNOWN, 'no figure', UNKNOWN, UNKNOWN, UNKNOWN];
  }
  const { ms, spread, relErr } = ours;
  return [shape, type, kernel ?? UNKNOWN, duration(ms), percent(spread), speed(ours), scientific(relErr)];
}

/** Against the vendor's library for the same type. */
const vendorCell = (row: BenchRow) => faster(row, `cublas-${row.dtype}`);

const faster = ({ others }: BenchRow, name: string) =>
  ratio(others.find(({ result }) => result.name === name)?.faster ?? null);

/** The hardware's limits. */
export function ceilingTable({ results }: BenchRecord): string {
  const rows = results
    .filter(({ group }) => group === 'ceiling')
    .map(result => [WHAT[result.name] ?? result.name, duration(result.ms), rate(result)]);
  return markdown(['nothing but', 'time', 'speed'], rows, 1);
}

const rate = (result: BenchResult) => (result.ms === null ? 'not here' : speed(result));

const WHAT: Readonly<Record<string, string>> = {
  'f32-fma': 'f32 multiply-adds',
  'matrix-f16-f32': 'matrix units, f16→f32',
  'matrix-f16-f32-loads': 'matrix units, f16→f32, with loads from workgroup memory',
  'matrix-i8-i32': 'matrix units, i8→i32',
  'matrix-i8-i32-loads': 'matrix units, i8→i32, with loads from workgroup memory',
  copy: 'a copy, bytes read and written',
};

/** Whose figures these are. */
export function source({ machine, adapter, versions, date, results }: BenchRecord): string {
  const own = results.filter(({ group, ms }) => group === 'ours' && ms !== null);
  const plans = (of: (result: BenchResult) => number | null) => {
    const known = own.map(of).filter(ms => ms !== null);
    return known.length > 0 ? duration(median(known)) : UNKNOWN;
  };
  const facts = [
    `${machine} (${adapter.description})`,
    ...Object.entries(versions).map(([name, version]) => `${titleOf(name)} ${version}`),
    `a plan: ${plans(it => it.coldPlanMs)} the first time, ${plans(it => it.warmPlanMs)} again (medians)`,
    'all of ours verified, robust buffer access on',
    date.slice(0, 10),
  ];
  return `${facts.join(' · ')}.`;
}
