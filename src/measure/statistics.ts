/** The value below which a share `q` of the samples lies, between neighbours linearly. */
export function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) throw new RangeError('no samples');
  const sorted = [...samples].sort((x, y) => x - y);
  const position = (sorted.length - 1) * q;
  const low = Math.floor(position);
  const high = Math.ceil(position);
  return sorted[low] + (sorted[high] - sorted[low]) * (position - low);
}

/** The middle of the samples, or the mean of the middle two. */
export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

/** How far apart the middle half of the samples lies, as a share of their median: 0.02 is "within about 2 %". */
export function spread(samples: readonly number[]): number {
  const middle = median(samples);
  return middle === 0 ? 0 : (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle;
}

/**
 * Whether the newest samples have stopped drifting. A GPU's clock ramps up over many milliseconds, so the last
 * `window` samples must agree with each other and, as a group, with the group before them: a slow, even ramp moves
 * neighbours little but groups a lot.
 */
export function isSteady(samples: readonly number[], window = 5, tolerance = 0.03): boolean {
  if (samples.length < 2 * window) return false;
  const recent = samples.slice(-window);
  const before = samples.slice(-2 * window, -window);
  const middle = median(recent);
  const agree = (value: number) => Math.abs(value - middle) <= tolerance * middle;
  return agree(quantile(recent, 0.25)) && agree(quantile(recent, 0.75)) && agree(median(before));
}

/** The n-th root of the product of n positive values. */
export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
