/** A record's figures: bars, and the table with everything that stands behind them. */
import './figures.css';
import { duration, gflops, percent, scientific, times, UNKNOWN } from '../../../figures.ts';
import { Bars } from '../../components/bars.tsx';
import { type Column, Table } from '../../components/table.tsx';
import type { Figure, Summary } from '../../share/figure.ts';
import { pivot } from '../../share/pivot.ts';

export const speed = (value: number | null) => (value === null ? UNKNOWN : `${gflops(value)} GFLOP/s`);

export function Figures({ summary }: { readonly summary: Summary }) {
  const { series, rows } = pivot(summary);
  return (
    <>
      <Bars
        label={`Speeds: ${summary.title}`}
        series={series}
        format={speed}
        rows={rows.map(({ label, figures }) => {
          const note = figures[0]?.gflops == null ? figures[0]?.failure : null;
          return {
            key: label,
            label: label === 'webgemm' ? <strong>{label}</strong> : label,
            values: figures.map(figure => figure?.gflops ?? null),
            ...(note ? { note } : {}),
          };
        })}
      />
      <Table
        caption={captionOf(summary)}
        columns={columnsOf(summary)}
        rows={summary.figures}
        keyOf={({ what, who }) => `${what} ${who}`}
      />
      {summary.remark && <p class="small muted">{summary.remark}</p>}
    </>
  );
}

const captionOf = ({ clock }: Summary) =>
  `Median times${clock && ` by ${clock}`}, with the middle half as their spread; error against float64`;

function columnsOf({ kind, figures }: Summary): readonly Column<Figure>[] {
  const has = (of: (figure: Figure) => unknown) => figures.some(of);
  const names: Column<Figure>[] = [
    ...(kind === 'Race' ? [] : [{ head: kind === 'Ladder' ? 'Rung' : 'Product', cell: whatOf }]),
    ...(has(({ who }) => who) ? [{ head: 'Library', cell: ({ who }: Figure) => who }] : []),
  ];
  return [
    ...names,
    { head: 'Time', number: true, cell: ({ ms }) => duration(ms) },
    {
      head: 'Spread',
      number: true,
      cell: ({ spread }) => percent(spread),
    },
    { head: 'Speed', number: true, cell: figure => speed(figure.gflops) },
    ...(has(({ behind }) => behind !== null)
      ? [{ head: 'webgemm is', number: true, cell: behindOf } satisfies Column<Figure>]
      : []),
    { head: 'Error', number: true, cell: ({ relErr }) => scientific(relErr) },
    { head: 'Check', cell: checkOf },
    ...(has(({ how }) => how) ? [{ head: 'How', cell: howOf }] : []),
  ];
}

const whatOf = ({ what }: Figure) => <span class="figures-name">{what}</span>;

const howOf = ({ how }: Figure) => <span class="figures-how">{how || UNKNOWN}</span>;

const behindOf = ({ behind }: Figure) => (behind === null ? UNKNOWN : `${times(behind)} as fast`);

function checkOf({ failure, relErr }: Figure) {
  if (failure) return <span class="figures-bad">{failure}</span>;
  return relErr === null ? UNKNOWN : <span class="figures-good">✓ right</span>;
}
