/**
 * What is known of a problem: measured on this device, measured on a GPU of its family and shipped, or measured for a
 * similar problem. Pure; `choose` puts it before every estimate where it fits.
 */
import type { Suggestion } from '../choose.ts';
import type { Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import {
  sameAdapter,
  sameKind,
  sameProblem,
  type TunedProblem,
  type TuningEntry,
  type TuningRecord,
  tunedProblem,
  tuningAdapter,
} from './record.ts';
import { shippedFor } from './shipped.ts';
import { startingPoints } from './starting-points.ts';

/** Further than this in m, n, k or the batch (a factor of 2), and a measurement says too little. */
const FAR = 1;

/** The same of all of them together: a cube of twice the side wants larger tiles. */
const FAR_IN_ALL = 1.5;

/** Added to the distance where one problem's rows are whole words of 4 and the other's are not: other loads are used. */
const UNLIKE_ROWS = 0.5;

/**
 * What to try for a problem, best first.
 *
 * @param records what was measured on this device; those of other devices are left out
 */
export function lookup(
  problem: Problem,
  profile: Profile,
  records: readonly TuningRecord[],
): readonly Suggestion[] {
  const wanted = tunedProblem(problem);
  const adapter = tuningAdapter(profile);
  const own = records.filter(record => sameAdapter(record.adapter, adapter)).flatMap(it => it.entries);
  const shipped = shippedFor(profile);
  const exact = (entries: readonly TuningEntry[]) => entries.filter(entry => sameProblem(entry, wanted));
  const found = [
    ...exact(own).map(entry => suggestion(entry, wanted, 'measured')),
    ...exact(shipped).map(entry => suggestion(entry, wanted, 'shipped')),
    ...nearest(own, wanted).map(entry => suggestion(entry, wanted, 'near')),
    ...nearest(shipped, wanted).map(entry => suggestion(entry, wanted, 'shipped')),
  ];
  // The first word on a kernel counts: what follows knows less of this problem.
  const first = new Map([...found].reverse().map(it => [it.kernel, it]));
  return [...found.filter(it => first.get(it.kernel) === it), ...startingPoints(problem, profile)];
}

/** The entries of similar problems, nearest first. */
function nearest(entries: readonly TuningEntry[], wanted: TunedProblem): readonly TuningEntry[] {
  return entries
    .map(entry => ({ entry, far: distance(entry, wanted) }))
    .filter(({ far }) => far > 0 && far < Number.POSITIVE_INFINITY)
    .sort((x, y) => x.far - y.far)
    .map(({ entry }) => entry);
}

/** How unlike two problems are, 0 for the same one; infinite where the one's measurement says nothing of the other. */
export function distance(x: TunedProblem, y: TunedProblem): number {
  if (!sameKind(x, y) || regime(x) !== regime(y) || x.batch > 1 !== y.batch > 1) {
    return Number.POSITIVE_INFINITY;
  }
  const ratios = (['m', 'n', 'k', 'batch'] as const).map(name => Math.abs(Math.log2(x[name] / y[name])));
  const sum = ratios.reduce((total, ratio) => total + ratio);
  if (sum > FAR_IN_ALL || !ratios.every(ratio => ratio <= FAR)) return Number.POSITIVE_INFINITY;
  return sum + (wholeWords(x) === wholeWords(y) ? 0 : UNLIKE_ROWS);
}

/** What bounds a problem, and with that which kernel is right: one that is twice as large may be of another kind. */
function regime({ m, n, k }: TunedProblem): 'row' | 'column' | 'thin' | 'deep' | 'broad' {
  if (m === 1) return 'row';
  if (n === 1) return 'column';
  if (Math.min(m, n) <= 16) return 'thin';
  return k >= 16 * Math.max(m, n) ? 'deep' : 'broad';
}

const wholeWords = ({ m, n, k, transA, transB }: TunedProblem): boolean =>
  (transA ? m : k) % 4 === 0 && (transB ? k : n) % 4 === 0;

const work = ({ m, n, k, batch }: TunedProblem) => m * n * k * batch;

function suggestion(
  entry: TuningEntry,
  wanted: TunedProblem,
  source: 'measured' | 'near' | 'shipped',
): Suggestion {
  const { m, n, k, batch, kernel, params, ms } = entry;
  const shape = `${batch > 1 ? `${batch} × ` : ''}${m}×${n}×${k}`;
  const where = source === 'shipped' ? 'on a GPU of this kind' : 'on this device';
  // A similar problem's time, as far as it goes with the work.
  return {
    kernel,
    params,
    source,
    ms: (ms * work(wanted)) / work(entry),
    note: `tuned for ${shape} ${where}`,
  };
}
