/** Two results side by side: what both measured, and what one of them did. */
import './figures.css';
import { times, UNKNOWN } from '../../../figures.ts';
import { Bars } from '../../components/bars.tsx';
import { Notice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { compare, namesOf } from '../../share/compare.ts';
import type { Summary } from '../../share/figure.ts';
import { speed } from './figures.tsx';

export function Comparison({ left, right }: { readonly left: Summary; readonly right: Summary }) {
  const rows = compare(left, right);
  const names = namesOf(left, right);
  const shared = rows.filter(({ ratio }) => ratio !== null).length;
  return (
    <>
      {left.title !== right.title && (
        <Notice title={`These are not the same problems: ${left.title}, and ${right.title}.`} />
      )}
      {shared === 0 && <Notice tone="warn" title="The two have no figure in common." />}
      <Bars
        label={`Speeds: ${names.join(' and ')}`}
        series={names}
        format={speed}
        rows={rows.map(({ label, values }) => ({ key: label, label, values }))}
      />
      <Table
        caption="Speeds side by side, and how many times as fast the first one is"
        columns={[
          {
            head: left.kind === 'Ladder' ? 'Rung' : 'Product',
            cell: ({ label }) => <span class="figures-name">{label}</span>,
          },
          { head: names[0], number: true, cell: ({ values }) => speed(values[0]) },
          { head: names[1], number: true, cell: ({ values }) => speed(values[1]) },
          {
            head: 'Ratio',
            number: true,
            cell: ({ ratio }) => (ratio === null ? UNKNOWN : times(ratio)),
          },
        ]}
        rows={rows}
        keyOf={({ label }) => label}
      />
    </>
  );
}
