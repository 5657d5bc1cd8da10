/** A bench as an SVG picture. ECharts is large: import this module dynamically. */
import { COLOURS, drawSvg, FAINT, INK, titleOf, valueAxis } from '../svg-chart.ts';
import type { BenchRecord, BenchResult } from './record.ts';
import { type BenchRow, benchRows } from './table.ts';

const BAR = 15;
const GAP = 16;
const LABELS = 230;
/** For our own times by the other clock. */
const LIGHTER = '#9db8ee';

/** @param titles what the peers are called, by their names in the record */
export function benchChart(record: BenchRecord, titles: Readonly<Record<string, string>> = {}): string {
  const rows = benchRows(record.results).filter(({ ours }) => ours);
  const names = [...new Set(rows.flatMap(row => othersOf(row).map(nameOf)))];
  const both = rows.some(row => alsoByWallClock(row));
  const figures = rows
    .flatMap(row => [row.ours, alsoByWallClock(row), ...othersOf(row)])
    .flatMap(it => it?.tflops || []);
  const unit = Math.max(...figures, 0) >= 1 ? UNITS.tera : UNITS.giga;
  const bar = (name: string, color: string, of: (row: BenchRow) => BenchResult | null | undefined) => ({
    type: 'bar',
    name: titles[name] ?? name,
    barWidth: BAR - 3,
    itemStyle: { color, borderRadius: [0, 2, 2, 0] },
    data: rows.map(row => {
      const value = (of(row)?.tflops ?? 0) * unit.factor;
      const formatter = value ? `${Number(value.toPrecision(3))}` : '';
      // Null leaves the bar out; on a logarithmic axis there is no 0.
      return { value: value || null, label: { show: true, position: 'right', color: INK, formatter } };
    }),
  });
  const start = 10 ** Math.floor(Math.log10(Math.min(...figures, 1e12) * unit.factor));
  return drawSvg(150 + rows.length * (BAR * (names.length + (both ? 2 : 1)) + GAP), {
    title: titleOf(`Matrix products, ${unit.name} (logarithmic)`, record),
    legend: { top: 64, left: 24, itemWidth: 14, itemGap: 28, textStyle: { color: INK } },
    grid: { left: 24 + LABELS, right: 70, top: 100, bottom: 40 },
    xAxis: { ...valueAxis(''), type: 'log', min: start, startValue: start },
    yAxis: {
      type: 'category',
      inverse: true,
      data: rows.map(({ shape, dtype, accuracy }) =>
        [shape, dtype, accuracy === 'strict' ? 'strict' : ''].join(' ').trim(),
      ),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: FAINT } },
      axisLabel: { color: INK, fontSize: 13, align: 'left', margin: LABELS },
    },
    series: [
      bar('webgemm', COLOURS[0], ({ ours }) => ours),
      ...(both ? [bar('webgemm, wall clock', LIGHTER, alsoByWallClock)] : []),
      ...names.map((name, i) =>
        bar(name, COLOURS[1 + (i % (COLOURS.length - 1))], row =>
          othersOf(row).find(result => nameOf(result) === name),
        ),
      ),
    ],
  });
}

const UNITS = {
  tera: { name: 'TFLOP/s', factor: 1 },
  giga: { name: 'GFLOP/s', factor: 1000 },
} as const;

/** As the peers were timed, beside them; the vendor's library is timed by the GPU's clock, as we are where there is one. */
const alsoByWallClock = ({ ours, oursByWallClock }: BenchRow) =>
  oursByWallClock === ours ? null : oursByWallClock;

/** Peers, and the vendor's library for the same type. */
const othersOf = ({ dtype, others }: BenchRow): readonly BenchResult[] =>
  others
    .map(({ result }) => result)
    .filter(({ group, name }) => group === 'peer' || name === `cublas-${dtype}`);

const nameOf = ({ group, name }: BenchResult) => (group === 'cublas' ? 'cuBLAS' : name);
