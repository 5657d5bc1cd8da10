/** The ladder's table: a row a rung, and below a row what was taken from the device and what ran beside it. */
import type { ChalkInstance } from 'chalk';
import Table from 'cli-table3';
import type { PassTime, Phase } from '../../ladder/climb.ts';
import { type RungRecord, withGains } from '../../ladder/record.ts';
import type { Rung } from '../../ladder/rung.ts';
import { duration, gflops, percent, scientific, times, wrapped } from './format.ts';

/** A rung's row while it is not finished: what is being done, or null while it waits. */
export interface Pending {
  readonly rung: Rung;
  readonly phase: Phase | null;
}

interface Column {
  readonly head: string;
  readonly width: number;
  readonly cell: (record: RungRecord) => string;
  /** Left out of a terminal narrower than this. */
  readonly from: number;
}

const COLUMNS: readonly Column[] = [
  { head: 'GFLOP/s', width: 9, from: 0, cell: r => gflops(r.gflops) },
  { head: '× below', width: 9, from: 0, cell: r => times(r.overBelow) },
  { head: '× rung 1', width: 10, from: 0, cell: r => times(r.overFirst) },
  { head: 'time', width: 10, from: 0, cell: r => duration(r.ms) },
  { head: 'spread', width: 9, from: 90, cell: r => percent(r.spread) },
  { head: 'error', width: 10, from: 0, cell: r => scientific(r.relErr) },
  { head: 'compile', width: 10, from: 90, cell: r => duration(r.compileMs) },
];

const RUNG_WIDTH = 6;
const ID_WIDTH = 18;

/** No frame: columns are held together by their alignment. */
export const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'mid', 'left', 'right', ''].flatMap(side =>
    side === ''
      ? [['middle', '']]
      : [side, `${side}-mid`, `${side}-left`, `${side}-right`].map(name => [name, '']),
  ),
);

/**
 * @param finished results, in the order of `rungs`
 * @param frame the picture to show beside the rung that is running
 */
export function ladderTable(
  rungs: readonly Rung[],
  finished: Parameters<typeof withGains>[0],
  phase: Phase | null,
  { width, colour, frame }: { width: number; colour: ChalkInstance; frame: string },
): string {
  const columns = COLUMNS.filter(({ from }) => width >= from);
  const rest = columns.reduce((sum, column) => sum + column.width, 0);
  const table = new Table({
    head: ['rung', 'id', ...columns.map(({ head }) => head)].map(head => colour.bold(head)),
    colWidths: [RUNG_WIDTH, ID_WIDTH, ...columns.map(column => column.width)],
    colAligns: ['left', 'left', ...columns.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
    chars: NO_LINES,
    wordWrap: true,
  });
  const line = '─'.repeat(RUNG_WIDTH + ID_WIDTH + rest);
  table.push([{ colSpan: columns.length + 2, content: colour.dim(line) }]);
  const across = (content: string) => ({ colSpan: columns.length, content, hAlign: 'left' as const });

  for (const record of withGains(finished)) {
    const name = [colour.bold(record.rung), record.id];
    if (record.status === 'ok') {
      table.push([...name, ...columns.map(({ head, cell }) => paint(head, cell(record), colour))]);
    } else {
      const status = {
        unsupported: colour.yellow('not here'),
        wrong: colour.red.bold('WRONG'),
        failed: colour.red.bold('FAILED'),
      }[record.status];
      table.push([...name, across(`  ${status}  ${record.reason?.replace(/\s+/g, ' ')}`)]);
    }
    for (const note of notesOf(record)) {
      const lines = wrapped(note, { width: ID_WIDTH + rest - 2, indent: 2 });
      table.push(['', { colSpan: columns.length + 1, content: colour.dim(`└ ${lines}`) }]);
    }
  }
  rungs.slice(finished.length).forEach(({ rung, id }, index) => {
    const state = index === 0 && phase ? colour.cyan(`  ${frame} ${phase}`) : colour.dim('  ·');
    table.push([colour.dim(rung), index === 0 && phase ? id : colour.dim(id), across(state)]);
  });
  return table
    .toString()
    .split('\n')
    .map(row => row.trimEnd())
    .join('\n');
}

const paint = (head: string, text: string, colour: ChalkInstance) =>
  head === 'GFLOP/s' ? colour.green.bold(text) : head === '× below' ? colour.cyan(text) : text;

/** What the rung took from the device, and the passes that prepare operands: never hidden, beside its time or in it. */
function notesOf({ detail, prepare, within = [] }: RungRecord): string[][] {
  const timesOf = (what: string, passes: readonly PassTime[]) =>
    passes.map(({ label, ms }, index) => `${index === 0 ? `${what}: ` : ''}${label} ${duration(ms)}`);
  const notes = [detail?.split(', ') ?? [], timesOf('beside it', prepare), timesOf('of it', within)];
  return notes.filter(note => note.length > 0);
}
