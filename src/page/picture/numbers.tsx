/** A rung's mapping in numbers, alone and beside the other rungs'. */
import './picture.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { bytes, percent, times } from '../../figures.ts';
import type { Profile } from '../../profile.ts';
import { Facts } from '../components/facts.tsx';
import { type Column, Table } from '../components/table.tsx';
import { compareRungs, type Summary, summarize } from './model/summary.ts';
import type { Trace } from './model/trace.ts';

export function Numbers({ rung, traced }: { readonly rung: string; readonly traced: Trace }) {
  const it = useMemo(() => summarize(rung, traced), [rung, traced]);
  return (
    <div class="picture-numbers">
      <h4>In numbers</h4>
      <Facts
        items={[
          [
            'Threads',
            `${it.threads} in a workgroup, ${figure(it.cellsPerThread)} ${it.cellsPerThread === 1 ? 'cell' : 'cells'} of C each`,
          ],
          ['Global reads', `${figure(it.globalReads)} numbers for a multiply-add`],
          ['Use of a number', `of A ${figure(it.usesOfA)}, of B ${figure(it.usesOfB)} multiply-adds`],
          ['Traffic', `${bytes(it.bytesPerK)} for each k; ${percent(it.used)} of it asked for`],
          ['Intensity', `${figure(it.intensity)} flop for each byte`],
          [
            'Workgroup memory',
            it.workgroupMemory
              ? `${bytes(it.workgroupMemory)}, ${figure(it.workgroupReads)} reads for a multiply-add`
              : 'none',
          ],
          ['Bank conflicts', conflictsOf(it)],
        ]}
      />
    </div>
  );
}

function conflictsOf({ conflicts, workgroupMemory }: Summary): string {
  if (conflicts === null) return 'not known: the hardware spreads matrices over lanes as it likes';
  if (conflicts > 1) return `up to ${figure(conflicts)} times as many passes`;
  return workgroupMemory > 0 ? 'none' : 'none: no workgroup memory is used';
}

const COLUMNS: readonly Column<Summary>[] = [
  { head: 'rung', cell: ({ rung, id }) => <span class="picture-name">{`${rung} ${id}`}</span> },
  { head: 'cells a thread', number: true, cell: it => figure(it.cellsPerThread) },
  { head: 'global reads', number: true, cell: it => figure(it.globalReads) },
  { head: 'workgroup reads', number: true, cell: it => figure(it.workgroupReads) },
  { head: 'flop / byte', number: true, cell: it => figure(it.intensity) },
  { head: 'bytes used', number: true, cell: it => percent(it.used) },
  { head: 'workgroup memory', number: true, cell: it => bytes(it.workgroupMemory) },
  { head: 'bank passes', number: true, cell: it => times(it.conflicts) },
];

/** All rungs side by side, for the reader's device or, where it can't run a rung, an example. */
export function Comparison({ profile }: { readonly profile: Profile | null }) {
  const [rows, setRows] = useState<readonly Summary[]>([]);
  // A rung at a time: all of them take a second, and the page has to answer meanwhile.
  useEffect(() => {
    setRows([]);
    const rest = compareRungs(profile);
    let timer = setTimeout(function next() {
      const { value, done } = rest.next();
      if (done) return;
      setRows(known => [...known, value]);
      timer = setTimeout(next);
    });
    return () => clearTimeout(timer);
  }, [profile]);
  return (
    <Table
      caption="What each rung reads. Reads are numbers for each multiply-add; bytes are those of whole 32-byte sectors, before any cache."
      columns={COLUMNS}
      rows={rows}
      keyOf={({ rung }) => rung}
    />
  );
}

/** Three digits, and no more zeros than needed. */
const figure = (value: number): string => String(Number(value.toPrecision(3)));
