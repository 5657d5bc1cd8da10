/** A bench's results in rows, for whoever shows them: the terminal, the documents, the page. Pure. */
import { describeShape } from '../trial/shapes.ts';
import { isBoundByMemory } from './job.ts';
import type { BenchResult } from './record.ts';

/** All results of one product: whose they are, and how ours compares. */
export interface BenchRow {
  readonly shape: string;
  readonly dtype: BenchResult['dtype'];
  readonly accuracy: BenchResult['accuracy'];
  /** Ours, by the device's own clock where it has one. What is wrong has no figure here. */
  readonly ours: BenchResult | null;
  /** Ours as the peers were timed; null where none were. */
  readonly oursByWallClock: BenchResult | null;
  readonly others: readonly Other[];
}

/** A peer's result, or the vendor's. */
export interface Other {
  readonly result: BenchResult;
  /** How many times as fast ours is, timed in the same way; null where either has no figure. */
  readonly faster: number | null;
}

/**
 * Rows in the order in which their products first appear. `strict` and a library that goes by another name than `webgemm`
 * have rows of their own; peers stand beside the others.
 */
export function benchRows(results: readonly BenchResult[]): readonly BenchRow[] {
  const byKey = new Map<string, BenchResult[]>();
  for (const result of results) {
    if (!result.shape || result.group === 'ladder') continue;
    const own = result.group === 'ours' && (result.accuracy === 'strict' || result.name !== 'webgemm');
    const key = [shapeOf(result), result.dtype, ...(own ? [result.accuracy, result.name] : [])].join(' ');
    byKey.set(key, [...(byKey.get(key) ?? []), result]);
  }
  return [...byKey.values()].map(rowOf);
}

function rowOf(results: readonly BenchResult[]): BenchRow {
  const own = results.filter(({ group }) => group === 'ours').map(withoutWrongFigures);
  const oursByWallClock = own.find(({ timer }) => timer === 'wall-clock') ?? null;
  const ours = own.find(({ timer }) => timer !== 'wall-clock') ?? oursByWallClock;
  const others = results
    .filter(({ group }) => group === 'peer' || group === 'cublas')
    .map(result => {
      const mine = result.group === 'peer' ? oursByWallClock : ours;
      return { result, faster: mine?.ms && result.ms ? result.ms / mine.ms : null };
    });
  const [{ dtype }] = results;
  return {
    ...{ shape: shapeOf(results[0]), dtype, accuracy: ours?.accuracy ?? null },
    ...{ ours, oursByWallClock, others },
  };
}

const withoutWrongFigures = (result: BenchResult): BenchResult =>
  result.failure === null ? result : { ...result, ms: null, spread: null, tflops: null, gbps: null };

/** `32 × 512×512×64 TN` */
export function shapeOf({ shape, batch, transA, transB }: BenchResult): string {
  const [m, n, k] = shape ?? [0, 0, 0];
  return describeShape({ m, n, k, batch, transA, transB });
}

/** A speed with its unit: operations, or bytes where those are what takes the time. */
export function speed({ shape, tflops, gbps, dtype }: BenchResult): string {
  if (gbps !== null && (tflops === null || (shape && isBoundByMemory({ m: shape[0], n: shape[1] })))) {
    return inUnits(gbps * 1e9, 'B/s');
  }
  return tflops === null ? '–' : inUnits(tflops * 1e12, dtype === 'i8' ? 'OP/s' : 'FLOP/s');
}

/** `23.1 GFLOP/s`: three digits and the prefix that suits. */
function inUnits(value: number, unit: string): string {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  const step = Math.min(5, Math.max(0, Math.floor(Math.log10(value) / 3)));
  return `${Number((value / 1000 ** step).toPrecision(3))} ${prefixes[step]}${unit}`;
}
