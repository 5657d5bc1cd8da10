/** How the numbers and reasons of a choice are put into words. Pure. */

import type { PassedOver } from '../../../choose.ts';
import type { Explanation } from '../../../explain.ts';
import { duration } from '../../../figures.ts';
import type { Problem } from '../../../problem.ts';
import { type Unit, unitOf } from './roofline-model.ts';

/** `2.15 GFLOP`, or `GOP` for integers. */
export const work = (operations: number, problem: Problem): string =>
  withPrefix(operations, '', unitOf(problem));

/** `12.3 GFLOP/s`, of a figure in 10⁹ operations a second. */
export const rate = ({ gflops, unit }: { readonly gflops: number; readonly unit: Unit }): string =>
  withPrefix(gflops * 1e9, 'k', `${unit}/s`);

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** @param least the smallest prefix to use */
function withPrefix(value: number, least: string, unit: string): string {
  const fitting = value > 0 ? Math.floor(Math.log10(value) / 3) : 0;
  const step = Math.max(PREFIXES.indexOf(least), Math.min(PREFIXES.length - 1, fitting));
  return `${short(value / 1000 ** step)} ${PREFIXES[step]}${unit}`;
}

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
  if (source === 'measured') return 'Measured on this device, for this very product.';
  if (by) return by;
  return forced
    ? 'You forced this kernel; its parameters are the first that fit.'
    : 'The least expected time; nothing was tuned.';
}

/** The reason that most kernels give: what a device lacks, rather than what a single kernel is not made for. */
export function commonest(reasons: readonly PassedOver[]): string {
  const count = ({ reason }: PassedOver) => reasons.filter(it => it.reason === reason).length;
  return reasons.reduce((most, next) => (count(next) > count(most) ? next : most)).reason;
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
