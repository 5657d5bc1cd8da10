/** The bench's table: a row a product, and below it the peers that were run beside ours. */
import type { ChalkInstance } from 'chalk';
import Table from 'cli-table3';
import { type Job, operandsKey } from '../../bench/job.ts';
import type { BenchResult } from '../../bench/record.ts';
import { benchRows, type Other, speed } from '../../bench/table.ts';
import { duration, percent, scientific, times } from './format.ts';
import { NO_LINES } from './table.ts';

const COLUMNS = [
  { head: 'm×n×k', width: 21, align: 'left' },
  { head: 'type', width: 6, align: 'left' },
  { head: 'kernel', width: 19, align: 'left' },
  { head: 'time', width: 10, align: 'right' },
  { head: 'spread', width: 9, align: 'right' },
  { head: 'speed', width: 15, align: 'right' },
  { head: 'error', width: 10, align: 'right' },
  { head: 'faster', width: 10, align: 'right' },
] as const;

/** Of the jobs that wait, so many are shown. */
const WAITING = 3;

export interface BenchView {
  readonly width: number;
  readonly colour: ChalkInstance;
  /** The picture beside what is under way; empty where nothing is any more. */
  readonly frame: string;
  /** What is being done with which job. */
  readonly phase: { readonly job: Job; readonly what: string } | null;
  /** What the peers are called, by name; none where none were asked for. */
  readonly titles: Readonly<Record<string, string>>;
}

export function benchTable(jobs: readonly Job[], results: readonly BenchResult[], view: BenchView): string {
  const { colour, frame, phase, titles } = view;
  const columns = COLUMNS.filter(({ head }) => head !== 'faster' || Object.keys(titles).length > 0);
  const table = new Table({
    head: columns.map(({ head }) => colour.bold(head)),
    colWidths: columns.map(({ width }) => width),
    colAligns: columns.map(({ align }) => align),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
    chars: NO_LINES,
    wordWrap: true,
  });
  const whole = columns.reduce((sum, { width }) => sum + width, 0);
  table.push([{ colSpan: columns.length, content: colour.dim('─'.repeat(whole)) }]);
  const rest = columns.length - 3;

  for (const { shape, dtype, ours, oursByWallClock, others } of benchRows(results)) {
    const name = [colour.bold(shape), dtype, ours?.kernel ?? ''];
    if (ours?.ms) table.push([...name, ...figures(ours), ...(columns.length > 7 ? [''] : [])]);
    else if (ours) {
      const mark = ours.worst === null && ours.relErr === null ? 'FAILED' : 'WRONG';
      const what = `  ${colour.red.bold(mark)}  ${ours.failure}`;
      table.push([...name, { colSpan: rest, content: what, hAlign: 'left' }]);
    }
    if (oursByWallClock && oursByWallClock !== ours) {
      table.push(['', '', colour.dim('└ on the wall clock'), ...figures(oursByWallClock), '']);
    }
    for (const other of others) table.push(otherRow(other));
  }
  if (frame) {
    const done = new Set(results.map(({ shape, dtype, accuracy }) => `${shape} ${dtype} ${accuracy}`));
    const waiting = jobs.filter(
      ({ shape: { m, n, k }, dtype, accuracy }) => !done.has(`${[m, n, k]} ${dtype} ${accuracy}`),
    );
    const now = waiting.find(job => job === phase?.job) ?? waiting[0];
    const shown = waiting.slice(waiting.indexOf(now)).slice(0, WAITING);
    for (const job of shown) {
      const state = job === phase?.job ? colour.cyan(`  ${frame} ${phase.what}`) : colour.dim('  ·');
      table.push([
        { colSpan: 2, content: colour.dim(operandsKey(job)) },
        { colSpan: rest + 1, content: state },
      ]);
    }
    const more = waiting.length - shown.length;
    if (more > 0) table.push([{ colSpan: columns.length, content: colour.dim(`and ${more} more`) }]);
  }
  return table
    .toString()
    .split('\n')
    .map(row => row.trimEnd())
    .join('\n');

  function otherRow({ result, faster }: Other) {
    const title = `└ ${titles[result.name] ?? result.name}`;
    if (result.ms === null) {
      const content = colour.dim(`  ${result.failure}`);
      return ['', '', colour.dim(title), { colSpan: rest, content, hAlign: 'left' as const }];
    }
    const [time, spread, rate, error] = figures(result);
    const gain = faster !== null && faster >= 1 ? colour.green(times(faster)) : colour.yellow(times(faster));
    return ['', '', title, time, spread, rate, result.failure ? colour.yellow(error) : error, gain];
  }
}

const figures = (result: BenchResult) => [
  duration(result.ms),
  percent(result.spread),
  speed(result),
  scientific(result.relErr),
];
