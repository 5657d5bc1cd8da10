/** How the numbers and reasons of a choice are put into words. Pure. */

import type { Explanation } from '../../../explain.ts';
import { duration } from '../../../figures.ts';
import type { Problem } from '../../../problem.ts';
import { type Unit, unitOf } from './roofline-model.ts';

/** `2.15 GFLOP`, or `GOP` for integers. */
export function work(operations: number, problem: Problem): string {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
  const step = operations > 0 ? Math.min(prefixes.length - 1, Math.floor(Math.log10(operations) / 3)) : 0;
  return `${short(operations / 1000 ** step)} ${prefixes[step]}${unitOf(problem)}`;
}

/** `12.3 GFLOP/s`; `TOP/s` for integers that are fast. */
export const rate = ({ gflops, unit }: { readonly gflops: number; readonly unit: Unit }): string =>
  gflops >= 1000 ? `${short(gflops / 1000)} T${unit}/s` : `${short(gflops)} G${unit}/s`;

/** Three digits that matter. */
export const short = (value: number): string =>
  value >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 6 });

/** The time that is expected, and how far it can be trusted. */
export function expected({ expectedMs, source }: Explanation): string {
  const time = duration(expectedMs);
  if (source === 'measured') return `${time}, measured on this device`;
  if (source === 'near') return `${time}, from a similar product that was measured on this device`;
  if (source === 'shipped') return `${time}, from measurements on a GPU of this kind`;
  return `${time}, by a rough model that ranks kernels and knows no device’s speed`;
}

/** Where the choice comes from. */
export function origin({ source, tuning }: Explanation, forced: boolean): string {
  const by = tuning ? `${tuning[0].toUpperCase()}${tuning.slice(1)}.` : '';
  if (source === 'measured') return `Measured on this device: ${tuning}.`;
  if (by) return by;
  return forced
    ? 'You forced this kernel; its parameters are the first that fit.'
    : 'The least expected time; nothing was tuned.';
}

/** The same pass in a row is named once. */
export function inRuns<Item>(
  items: readonly Item[],
  same: (x: Item, y: Item) => boolean,
): { item: Item; count: number }[] {
  const runs: { item: Item; count: number }[] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (last && same(last.item, item)) last.count++;
    else runs.push({ item, count: 1 });
  }
  return runs;
}
