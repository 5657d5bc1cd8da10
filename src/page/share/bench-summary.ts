/** A bench's record as a summary; one of a single product with peers is a race. Pure. */
import type { BenchRecord, BenchResult } from '../../bench/record.ts';
import { benchRows, shapeOf } from '../../bench/table.ts';
import { duration, gflops } from '../../figures.ts';
import { clockName, type Figure, kernelWords, originOf, type Summary } from './figure.ts';
import { titleOf } from './peers.ts';

export function benchSummary(record: BenchRecord): Summary {
  const { results } = record;
  const rows = benchRows(results);
  const products = new Set(rows.map(({ shape, dtype }) => `${shape} ${dtype}`));
  const races = products.size === 1 && results.some(({ group }) => group === 'peer');
  const counted = new Set(rows.flatMap(({ others }) => others.map(({ result }) => result)));
  const figures = rows.flatMap(({ ours, oursByWallClock, others }) => {
    const first = others.some(({ result }) => result.group === 'peer') ? (oursByWallClock ?? ours) : ours;
    return [
      ...(first ? [figureOf(first, null)] : []),
      ...others.map(({ result, faster }) => figureOf(result, faster)),
    ];
  });
  // What has no product: peers that could not be loaded, and the hardware's own limits.
  const others = results.filter(result => !counted.has(result) && !isOurs(result));
  const [product] = products;
  const count = products.size === 1 ? product : `${products.size} products`;
  const timers = new Set(results.filter(({ ms }) => ms !== null).map(({ timer }) => timer ?? ''));
  return {
    kind: races ? 'Race' : 'Bench',
    title: races ? `Race, ${product}` : `Bench, ${count ?? 'no products'}`,
    ...originOf(record),
    clock: races ? clockName('wall-clock') : [...timers].filter(Boolean).map(clockName).join(', peers by '),
    remark: races ? aloneWords(results) : '',
    figures: [
      ...figures,
      ...others.map(result => ({ ...figureOf(result, null), ...(races ? { what: product } : {}) })),
    ],
  };
}

/** Beside peers ours is timed as they are, which is not all that is known of it. */
function aloneWords(results: readonly BenchResult[]): string {
  const alone = results.find(result => isOurs(result) && result.timer === 'gpu-timestamp');
  if (!alone?.tflops) return '';
  return `Alone, and by GPU timestamps, webgemm takes ${duration(alone.ms)} for it: ${gflops(alone.tflops * 1000)} GFLOP/s.`;
}

const isOurs = ({ group }: BenchResult) => group === 'ours';

function figureOf(result: BenchResult, behind: number | null): Figure {
  const { name, dtype, accuracy, kernel, params, tflops, ms, spread, relErr, failure, shape } = result;
  return {
    what: shape
      ? [shapeOf(result), dtype, accuracy === 'strict' ? 'strict' : ''].filter(Boolean).join(' ')
      : name,
    who: titleOf(name),
    how: kernel ? kernelWords(kernel, params) : '',
    gflops: tflops === null ? null : tflops * 1000,
    ...{ ms, spread, relErr, behind, failure },
  };
}
