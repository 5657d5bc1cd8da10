/** A bench's record as a summary; one of a single product with peers is a race. Pure. */
import type { BenchRecord, BenchResult } from '../../bench/record.ts';
import { benchRows, shapeOf } from '../../bench/table.ts';
import { duration, gflops } from '../../figures.ts';
import { clockName, type Figure, kernelWords, originOf, type Summary } from './figure.ts';
import { titleOf } from './peers.ts';

export function benchSummary(record: BenchRecord): Summary {
  const { results } = record;
  const rows = benchRows(results);
  const races = rows.length === 1 && results.some(isPeer);
  const products =
    rows.length === 1 ? productOf(rows[0].ours ?? rows[0].others[0].result) : `${rows.length} products`;
  const shown = rows.flatMap(({ ours, oursByWallClock, others }) => {
    const first = others.some(({ result }) => isPeer(result)) ? (oursByWallClock ?? ours) : ours;
    return [...(first ? [{ result: first, faster: null }] : []), ...others];
  });
  // What has no product: peers that could not be loaded, and the hardware's own limits.
  const others = results.filter(result => !isOurs(result) && !shown.some(it => it.result === result));
  const timers = new Set(shown.flatMap(({ result: { ms, timer } }) => (ms !== null && timer ? [timer] : [])));
  return {
    kind: races ? 'Race' : 'Bench',
    title: `${races ? 'Race' : 'Bench'}, ${products}`,
    ...originOf(record),
    clock: [...timers].map(clockName).join(' and '),
    remark: races ? aloneWords(results) : '',
    figures: [
      ...shown.map(({ result, faster }) => figureOf(result, faster)),
      ...others.map(result => figureOf(result, null)),
    ],
  };
}

/** Beside peers ours is timed as they are, which is not all that is known of it. */
function aloneWords(results: readonly BenchResult[]): string {
  const alone = results.find(result => isOurs(result) && result.timer === 'gpu-timestamp');
  if (!alone?.tflops || alone.failure !== null) return '';
  return `Alone, and by GPU timestamps, webgemm takes ${duration(alone.ms)} for it: ${gflops(alone.tflops * 1000)} GFLOP/s.`;
}

const isOurs = ({ group }: BenchResult) => group === 'ours';
const isPeer = ({ group }: BenchResult) => group === 'peer';

/** `1024×1024×1024 f32`, or the name of what multiplies no matrices. */
const productOf = (result: BenchResult): string =>
  [
    result.shape ? shapeOf(result) : titleOf(result.name),
    result.dtype,
    result.accuracy === 'strict' ? 'strict' : '',
  ]
    .filter(Boolean)
    .join(' ');

function figureOf(result: BenchResult, behind: number | null): Figure {
  const { name, kernel, params, tflops, ms, spread, relErr, failure } = result;
  return {
    what: productOf(result),
    who: titleOf(name),
    how: kernel ? kernelWords(kernel, params) : '',
    gflops: tflops === null ? null : tflops * 1000,
    ...{ ms, spread, relErr, behind, failure },
  };
}
