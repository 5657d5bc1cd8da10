/** Where values stand along the bars of a chart. Pure. */

export type ScaleKind = 'linear' | 'log';

export interface Scale {
  /** A value's place, from 0 to 1. */
  readonly share: (value: number) => number;
  /** Values worth a line, at even distances, from the start to the end. */
  readonly ticks: readonly number[];
}

/** Steps that a linear scale may be divided into, at the most. */
const MOST_STEPS = 5;

/**
 * A scale with round ends that holds all the values: from 0, or by powers of ten from below the smallest one.
 *
 * @param values those that are not above 0 stand at the start of a logarithmic scale
 */
export function scaleOf(kind: ScaleKind, values: readonly number[]): Scale {
  const positive = values.filter(value => value > 0);
  if (positive.length === 0) return { share: () => 0, ticks: [] };
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  return kind === 'log' ? logarithmic(least, most) : linear(most);
}

function linear(most: number): Scale {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [0.2, 0.5, 1, 2].map(part => part * power).find(size => most / size <= MOST_STEPS) ?? most;
  const count = Math.ceil(most / step - 1e-9);
  return {
    share: value => value / (step * count),
    ticks: Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12))),
  };
}

/** The least value is some way up, so that its bar can be seen. */
function logarithmic(least: number, most: number): Scale {
  const from = Math.floor(Math.log10(least) - 0.1);
  const to = Math.max(from + 1, Math.ceil(Math.log10(most) - 1e-9));
  return {
    share: value => (value > 0 ? Math.max(0, (Math.log10(value) - from) / (to - from)) : 0),
    ticks: Array.from({ length: to - from + 1 }, (_, i) => Number((10 ** (from + i)).toPrecision(12))),
  };
}
