/** Into how many slices of K a kernel with large tiles cuts a product of few tiles, to keep the device busy. */
import type { Problem } from '../problem.ts';
import { THREADS } from './cost.ts';

/** More are not worth adding up. */
const MOST = 128;

/** K that a slice has at the least. */
const SHORTEST = 256;

/**
 * One, and where that leaves a large GPU idle, as many slices as fill it and are worth adding up.
 *
 * @param threads of the whole grid without slices, counted as in `Cost`
 */
export function slicesFor({ k }: Problem, threads: number): readonly number[] {
  const slices = 2 ** Math.floor(Math.log2(Math.max(1, Math.min(MOST, THREADS / threads, k / SHORTEST))));
  return slices > 1 ? [1, slices] : [1];
}

/** Bytes of partial sums that are written and read. */
export const sliceBytes = ({ m, n, batch }: Problem, slices: number): number =>
  slices > 1 ? 2 * slices * batch * m * n * 4 : 0;
