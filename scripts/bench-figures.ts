/** What a bench's record says, computed: comparisons with the vendor's library and with peers, targets reached or not. */
import type { BenchRecord, BenchResult } from '../src/bench/record.ts';
import { type BenchRow, benchRows } from '../src/bench/table.ts';
import { geometricMean } from '../src/measure/statistics.ts';

export type Speed = 'f32' | 'f16';

/** How our speed compares with another's, over all products that both have a figure for. */
export interface Comparison {
  readonly name: string;
  readonly dtype: Speed;
  readonly products: number;
  /** Geometric mean of how many times as fast ours is. */
  readonly mean: number;
  /** The product where ours does worst, and how many times as fast it is there. */
  readonly least: { readonly shape: string; readonly faster: number };
}

/** Rows of the library itself, as a user gets it: not strict, and with all features. */
const usual = (record: BenchRecord): readonly BenchRow[] =>
  benchRows(record.results).filter(({ ours }) => ours?.accuracy === 'f32' && ours.name === 'webgemm');

/** Against everyone in the record, and against the fastest peer of each product. */
export function comparisons(record: BenchRecord, dtype: Speed): readonly Comparison[] {
  const rows = usual(record).filter(row => row.dtype === dtype);
  const names = rows.flatMap(({ others }) => others.map(({ result }) => result.name));
  const against = (name: string, of: (row: BenchRow) => number | null): Comparison[] => {
    const found = rows.flatMap(row => {
      const faster = of(row);
      return faster === null ? [] : [{ shape: row.shape, faster }];
    });
    if (found.length === 0) return [];
    const least = found.reduce((x, y) => (y.faster < x.faster ? y : x));
    const mean = geometricMean(found.map(({ faster }) => faster));
    return [{ name, dtype, products: found.length, mean, least }];
  };
  return [
    ...[...new Set(names)].flatMap(name =>
      against(name, row => row.others.find(({ result }) => result.name === name)?.faster ?? null),
    ),
    ...against('the fastest peer', row => {
      const peers = row.others.flatMap(({ result, faster }) =>
        result.group === 'peer' && faster !== null ? [faster] : [],
      );
      return peers.length > 0 ? Math.min(...peers) : null;
    }),
  ];
}

/** Something to be reached, and what was. */
export interface Target {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  /** Null where the record does not have what it takes to say. */
  readonly reached: boolean | null;
}

export function targets(record: BenchRecord): readonly Target[] {
  const rows = benchRows(record.results);
  const row = (shape: string, dtype: string, accuracy = 'f32', name = 'webgemm') =>
    rows.find(
      it =>
        it.shape === shape && it.dtype === dtype && it.ours?.accuracy === accuracy && it.ours.name === name,
    );
  const vendor = (shape: string, dtype: string) =>
    record.results.find(({ name, shape: it }) => name === `cublas-${dtype}` && it?.join('×') === shape) ??
    null;
  const copy = record.results.find(({ group, name }) => group === 'ceiling' && name === 'copy')?.gbps;

  const atLeast = (
    what: string,
    result: BenchResult | null | undefined,
    least: number,
    unit = 'TFLOP/s',
  ): Target => ({
    ...{ what, target: `≥ ${least} ${unit}` },
    measured: result?.tflops ? `${result.tflops.toFixed(1)} ${unit}` : 'no figure',
    reached: result?.tflops ? result.tflops >= least : null,
  });
  const noWorse = (shape: string): Target => {
    const [ours, theirs] = [row(shape, 'f32')?.ours?.relErr, vendor(shape, 'f32')?.relErr];
    const known = ours != null && theirs != null;
    return {
      what: `f32, ${shape}, error`,
      target: theirs == null ? "≤ cuBLAS f32's" : `≤ cuBLAS f32's ${theirs.toExponential(2)}`,
      measured: ours == null ? 'no figure' : ours.toExponential(2),
      reached: known ? ours <= theirs : null,
    };
  };
  const share = (
    what: string,
    of: number | null | undefined,
    whole: number | null | undefined,
    least: number,
  ): Target => ({
    ...{ what, target: `≥ ${percent(least)}` },
    measured: of && whole ? percent(of / whole) : 'no figure',
    reached: of && whole ? of / whole >= least : null,
  });
  const mean = (dtype: Speed, name: string, title: string, least: number, none: number): Target => {
    const found = comparisons(record, dtype).find(it => it.name === name);
    return {
      what: `${dtype}, every shape, against ${title}`,
      target: `geometric mean ≥ ${least} ×, none under ${none} ×`,
      measured: found
        ? `${found.mean.toFixed(2)} × over ${found.products} shapes, least ${found.least.faster.toFixed(2)} × (${found.least.shape})`
        : 'no figure',
      reached: found ? found.mean >= least && found.least.faster >= none : null,
    };
  };
  const tflops = (shape: string, dtype: string) => row(shape, dtype)?.ours?.tflops;
  const [large, larger] = ['4096×4096×4096', '8192×8192×8192'];
  const strict = vendor(large, 'f32')?.tflops;
  return [
    ...[large, larger].flatMap(shape => [
      atLeast(`f32, ${shape}`, row(shape, 'f32')?.ours, 150),
      atLeast(`f32, ${shape}, at the least`, row(shape, 'f32')?.ours, 105),
      noWorse(shape),
    ]),
    atLeast(`f32, ${large}, strict`, row(large, 'f32', 'strict')?.ours, round(strict ?? 50.8)),
    atLeast(`f16, ${large}`, row(large, 'f16')?.ours, 400),
    atLeast(`i8, ${large}`, row(large, 'i8')?.ours, 700, 'TOP/s'),
    ...(['f32', 'f16'] as const).map(dtype =>
      atLeast(
        `${dtype}, ${large}, no experimental feature`,
        row(large, dtype, 'f32', 'webgemm-unflagged')?.ours,
        50,
      ),
    ),
    ...['1×4096×14336', '1×14336×4096', '1×128256×4096'].flatMap(shape =>
      (['f32', 'f16'] as const).map(dtype =>
        share(`${dtype}, ${shape}, of a copy's bandwidth`, row(shape, dtype)?.ours?.gbps, copy, 0.85),
      ),
    ),
    mean('f32', 'cublas-f32', 'cuBLAS f32', 1.5, 0.7),
    mean('f16', 'cublas-f16', 'cuBLAS f16', 0.6, 0.35),
    ...(['f32', 'f16'] as const).flatMap(dtype =>
      [
        ['4095×4095×4095', large],
        ['1023×1025×1027', '1024×1024×1024'],
      ].map(([odd, even]) =>
        share(`${dtype}, ${odd} of ${even}'s speed`, tflops(odd, dtype), tflops(even, dtype), 0.9),
      ),
    ),
    mean('f32', 'the fastest peer', 'the fastest peer', 3, 1),
    mean('f16', 'the fastest peer', 'the fastest peer', 5, 1),
  ];
}

const round = (value: number) => Number(value.toFixed(1));
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
