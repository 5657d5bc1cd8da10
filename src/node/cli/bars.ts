import type { ChalkInstance } from 'chalk';
import type { RungResult } from '../../ladder/climb.ts';
import type { Rung } from '../../ladder/rung.ts';
import { gflops } from './format.ts';

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of `share` of `width` cells, in steps of an eighth of a cell. */
export function bar(share: number, width: number): string {
  const eighths = Math.max(1, Math.round(share * width * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

/** The ladder's bar chart: what each idea bought, for the rungs that have a figure. Empty where none has. */
export function barChart(
  rungs: readonly Rung[],
  results: readonly RungResult[],
  { width, colour }: { width: number; colour: ChalkInstance },
): string {
  const rows = results.flatMap(result => {
    const rung = rungs.find(({ id }) => id === result.id);
    if (result.gflops === null || !rung) return [];
    return [{ rung: rung.rung, label: width >= 90 ? rung.idea : rung.id, gflops: result.gflops }];
  });
  if (rows.length === 0) return '';
  const most = Math.max(...rows.map(row => row.gflops));
  const labels = Math.max(...rows.map(({ label }) => label.length));
  const figures = Math.max(...rows.map(row => gflops(row.gflops).length));
  const room = Math.max(10, Math.min(width, 120) - 4 - labels - 2 - figures - 2);
  return rows
    .map(({ rung, label, gflops: value }) => {
      const name = `${colour.bold(rung.padEnd(4))}${label.padEnd(labels)}`;
      return `${name}  ${colour.green(bar(value / most, room))} ${gflops(value)}`;
    })
    .join('\n');
}
