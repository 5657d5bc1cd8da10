/** The tuner's table: a row a problem, what was chosen before and what is fastest, and below it how far tuning is. */
import type { ChalkInstance } from 'chalk';
import Table from 'cli-table3';
import { describeParams } from '../../explain.ts';
import type { Problem } from '../../problem.ts';
import { describeShape } from '../../trial/shapes.ts';
import type { TuneProgress, TuneResult } from '../../tuning/tune.ts';
import { bar } from './bars.ts';
import { duration, times } from './format.ts';
import { NO_LINES } from './table.ts';

const COLUMNS = [
  { head: 'm×n×k', width: 20 },
  { head: 'before', width: 9 },
  { head: 'after', width: 9 },
  { head: 'speed-up', width: 10 },
  { head: '  kernel', width: 18 },
] as const;

/** Of the problems that wait, so many are shown. */
const WAITING = 3;

export interface TuneView {
  readonly width: number;
  readonly colour: ChalkInstance;
  /** The picture beside what is under way; empty where nothing is any more. */
  readonly frame: string;
  readonly seconds: number;
  readonly budget: number;
}

export function tuneTable(
  problems: readonly Problem[],
  results: readonly TuneResult[],
  progress: TuneProgress | null,
  { width, colour, frame, seconds, budget }: TuneView,
): string {
  const fixed = COLUMNS.reduce((sum, column) => sum + column.width, 0);
  const params = Math.max(12, Math.min(width, 130) - fixed);
  const table = new Table({
    head: [...COLUMNS.map(({ head }) => head), 'parameters'].map(head => colour.bold(head)),
    colWidths: [...COLUMNS.map(column => column.width), params],
    colAligns: ['left', 'right', 'right', 'right', 'left', 'left'],
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
    chars: NO_LINES,
    wordWrap: true,
  });
  table.push([{ colSpan: COLUMNS.length + 1, content: colour.dim('─'.repeat(fixed + params)) }]);
  for (const result of results) table.push(rowOf(result, colour));
  if (frame) {
    const waiting = problems.slice(results.length);
    waiting.slice(0, WAITING).forEach((problem, index) => {
      const state =
        index === 0 && progress ? colour.cyan(`  ${frame} ${stateOf(progress)}`) : colour.dim('  ·');
      const name = nameOf(problem);
      table.push([index === 0 ? name : colour.dim(name), { colSpan: COLUMNS.length, content: state }]);
    });
    if (waiting.length > WAITING) {
      table.push([
        { colSpan: COLUMNS.length + 1, content: colour.dim(`and ${waiting.length - WAITING} more`) },
      ]);
    }
  }
  const lines = table
    .toString()
    .split('\n')
    .map(row => row.trimEnd());
  return [...lines, ...(frame ? ['', progressLine(problems.length, results.length, progress)] : [])].join(
    '\n',
  );

  function progressLine(count: number, done: number, now: TuneProgress | null): string {
    const share = (done + (now ? shareOf(now) : 0)) / Math.max(1, count);
    const filled = bar(share, 30).padEnd(30);
    return `${colour.green(filled)} ${done} of ${count} · ${seconds.toFixed(0)} s of ${budget.toFixed(0)} s`;
  }
}

function rowOf({ problem, before, best, reason }: TuneResult, colour: ChalkInstance) {
  const name = nameOf(problem);
  if (!best) {
    return [name, { colSpan: COLUMNS.length, content: `  ${colour.yellow('not tuned')}  ${reason ?? ''}` }];
  }
  const gain = before && before.ms / best.ms;
  return [
    name,
    duration(before?.ms ?? null),
    duration(best.ms),
    gain && gain > 1.05 ? colour.green.bold(times(gain)) : times(gain),
    `  ${best.kernel}`,
    colour.dim(describeParams(best.params)),
  ];
}

const nameOf = ({ m, n, k, batch, a, b }: Problem) =>
  describeShape({ m, n, k, batch, transA: a.trans, transB: b.trans });

function stateOf({ phase, done, total, best }: TuneProgress): string {
  const so = best ? ` · ${best.kernel} ${duration(best.ms)}` : '';
  return `${phase} ${Math.min(done + 1, total)} of ${total}${so}`;
}

/** How much of a problem is done; checking takes most of the time. */
function shareOf({ phase, done, total }: TuneProgress): number {
  const within = done / Math.max(1, total);
  if (phase === 'checking') return 0.6 * within;
  return phase === 'measuring' ? 0.6 + 0.2 * within : 0.8 + 0.2 * within;
}
