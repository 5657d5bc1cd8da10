/** A bench as an SVG picture. ECharts is large: import this module dynamically. */
import { COLOURS, drawSvg, FAINT, INK, titleOf, valueAxis } from '../svg-chart.ts';
import type { BenchRecord, BenchResult } from './record.ts';
import { type BenchRow, benchRows } from './table.ts';

const BAR = 15;
const GAP = 16;
const LABELS = 230;

/** @param titles what the peers are called, by their names in the record */
export function benchChart(record: BenchRecord, titles: Readonly<Record<string, string>> = {}): string {
  const rows = benchRows(record.results);
  const names = [...new Set(rows.flatMap(({ others }) => others.map(({ result }) => result.name)))];
  const height = 150 + rows.length * (BAR * (names.length + 1) + GAP);
  const bar = (name: string, colour: string, of: (row: BenchRow) => BenchResult | null | undefined) => ({
    type: 'bar',
    name: titles[name] ?? name,
    barWidth: BAR - 3,
    itemStyle: { color: colour, borderRadius: [0, 2, 2, 0] },
    data: rows.map(row => {
      const result = of(row);
      const formatter = result?.tflops ? `${Number(result.tflops.toPrecision(3))}` : '';
      // Null leaves the bar out; on a logarithmic axis there is no 0.
      return {
        value: result?.tflops || null,
        label: { show: true, position: 'right', color: INK, formatter },
      };
    }),
  });
  return drawSvg(height, {
    title: titleOf('Matrix products: 10¹² operations a second', record),
    legend: { top: 64, left: 24, textStyle: { color: INK } },
    grid: { left: 24 + LABELS, right: 70, top: 100, bottom: 40 },
    xAxis: { ...valueAxis(''), type: 'log' },
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
      bar('webgemm', COLOURS[0], ({ ours, oursByWallClock }) => oursByWallClock ?? ours),
      ...names.map((name, i) =>
        bar(name, COLOURS[1 + (i % (COLOURS.length - 1))], ({ others }) =>
          others.map(({ result }) => result).find(result => result.name === name),
        ),
      ),
    ],
  });
}
