/** What stands in a picture of results: of one record, or of two beside each other. Pure. */
import { gflops } from '../../figures.ts';
import { compare, namesOf } from './compare.ts';
import type { Figure, Summary } from './figure.ts';
import { pivot } from './pivot.ts';

export interface Chart {
  readonly title: string;
  readonly subtitle: string;
  /** Names in the legend; none is shown where there is one. */
  readonly series: readonly string[];
  readonly rows: readonly ChartRow[];
  /** Rows that found no room. */
  readonly left: number;
  /** What was checked, and how it was timed. */
  readonly foot: string;
}

export interface ChartRow {
  readonly label: string;
  readonly strong: boolean;
  readonly bars: readonly ChartBar[];
}

export interface ChartBar {
  readonly series: number;
  /** GFLOP/s; null where there is none. */
  readonly value: number | null;
  /** What stands behind the bar, or in its place. */
  readonly text: string;
}

/** So many bars can be read in a picture. */
const MOST_BARS = 24;

export function chartOf(summary: Summary, beside?: Summary): Chart {
  const whole = beside ? comparedChart(summary, beside) : ownChart(summary);
  const rows = whole.rows.slice(0, Math.max(1, Math.floor(MOST_BARS / whole.series.length)));
  return { ...whole, rows, left: whole.rows.length - rows.length };
}

type WholeChart = Omit<Chart, 'left'>;

function ownChart(summary: Summary): WholeChart {
  const { kind, title, device, runtime, date, clock, figures } = summary;
  const race = kind === 'Race';
  const { series, rows } = pivot(summary);
  return {
    title,
    subtitle: [device, runtime, day(date)].join(' · '),
    series,
    rows: rows.map(row => ({
      label: row.label,
      strong: row.label === 'webgemm',
      bars: row.figures.flatMap((figure, index) =>
        figure ? [barOf(figure, race && row.label !== 'webgemm' ? 1 : index)] : [],
      ),
    })),
    foot: [verified(figures), clock && `median times by ${clock}`].filter(Boolean).join(' · '),
  };
}

function comparedChart(left: Summary, right: Summary): WholeChart {
  const other = right.title.replace(`${left.kind}, `, '');
  return {
    title: left.title === right.title ? left.title : `${left.title} and ${other}`,
    subtitle: [left, right].map(({ device, date }) => `${device}, ${day(date)}`).join(' · '),
    series: namesOf(left, right),
    rows: compare(left, right).map(({ label, values }) => ({
      label,
      strong: false,
      bars: values.map((value, series) => ({ series, value, text: value === null ? '–' : gflops(value) })),
    })),
    foot: verified([...left.figures, ...right.figures]),
  };
}

function barOf({ gflops: value, behind, failure }: Figure, series: number): ChartBar {
  if (value === null) return { series, value, text: failure ?? '–' };
  const remark = failure ?? (behind === null ? '' : `webgemm is ${behind.toPrecision(3)}× as fast`);
  return { series, value, text: [gflops(value), remark].filter(Boolean).join('   ') };
}

function verified(figures: readonly Figure[]): string {
  const timed = figures.filter(({ gflops: value }) => value !== null);
  const right = timed.filter(({ failure, relErr }) => failure === null && relErr !== null).length;
  return right === timed.length
    ? 'every result verified against float64'
    : `${right} of ${timed.length} results verified against float64`;
}

const day = (date: string) =>
  new Date(date).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
