/** A summary's figures in rows, as bars need them: products or rungs, or those who race on one product. Pure. */
import type { Figure, Summary } from './figure.ts';

export interface PivotRow {
  readonly label: string;
  /** One for each series; null where the record has none. */
  readonly figures: readonly (Figure | null)[];
}

export interface Pivot {
  /** The record's own first. Empty names where there is only one. */
  readonly series: readonly string[];
  readonly rows: readonly PivotRow[];
}

/** As many series as can be told apart. */
const MOST_SERIES = 4;

export function pivot({ kind, figures }: Summary): Pivot {
  if (kind === 'Race') {
    return { series: [''], rows: figures.map(figure => ({ label: figure.who, figures: [figure] })) };
  }
  const series = [...new Set(figures.map(({ who }) => who))].slice(0, MOST_SERIES);
  const whats = [...new Set(figures.map(({ what }) => what))];
  const rows = whats.map(what => ({
    label: what,
    figures: series.map(who => figures.find(it => it.what === what && it.who === who) ?? null),
  }));
  return { series, rows };
}
