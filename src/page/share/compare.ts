/** Two summaries side by side. Pure. */
import type { Figure, Summary } from './figure.ts';

export interface ComparedRow {
  readonly label: string;
  /** GFLOP/s of each; null where it has no figure. */
  readonly values: readonly [number | null, number | null];
  /** How many times as fast the first is; null where one has no figure. */
  readonly ratio: number | null;
}

/** A row for whatever one of the two has, in the order of the first. */
export function compare(left: Summary, right: Summary): readonly ComparedRow[] {
  const [first, second] = [left, right].map(summary => byLabel(summary));
  const labels = new Set([...first.keys(), ...second.keys()]);
  return [...labels].map(label => {
    const [x, y] = [first.get(label) ?? null, second.get(label) ?? null];
    return { label, values: [x, y], ratio: x && y ? x / y : null };
  });
}

/** What the two are called beside each other: by their GPU, and by their date where that is the same. */
export function namesOf(left: Summary, right: Summary): readonly [string, string] {
  if (left.device !== right.device) return [left.device, right.device];
  const [x, y] = [left, right].map(
    ({ date, runtime }) => `${date.slice(0, 16).replace('T', ' ')}, ${runtime}`,
  );
  return x === y ? [`1: ${x}`, `2: ${y}`] : [x, y];
}

const byLabel = (summary: Summary): Map<string, number | null> =>
  new Map(summary.figures.map(figure => [labelOf(figure, summary), figure.gflops]));

/** Races on different products are compared by who ran: the product stands in their titles. */
const labelOf = ({ what, who }: Figure, { kind }: Summary) =>
  kind === 'Race' ? who : [what, who].filter(Boolean).join(' · ');
