/** The passes that the GPU runs for the product, and their WGSL as it is compiled. */
import { useState } from 'preact/hooks';
import { bytes } from '../../../figures.ts';
import type { Shader } from '../../../parts.ts';
import type { Pass } from '../../../program.ts';
import { Code } from '../../components/code.tsx';
import { Details } from '../../components/details.tsx';
import { Table } from '../../components/table.tsx';
import type { Outline } from './outline.ts';
import { inRuns } from './words.ts';

/** Passes in a row that are shown. */
const MOST = 12;

export function Passes({ outline: { passes, shaders } }: { readonly outline: Outline }) {
  const runs = inRuns(passes, alike);
  const count = passes.length;
  return (
    <>
      <Table
        caption={
          count === 1
            ? 'One pass'
            : `${count} passes, in order${runs.length > MOST ? `; the first ${MOST}` : ''}`
        }
        rows={runs.slice(0, MOST)}
        keyOf={run => runs.indexOf(run)}
        columns={[
          { head: 'Pass', cell: ({ item, count }) => (count > 1 ? `${item.label} × ${count}` : item.label) },
          { head: 'Workgroups', number: true, cell: ({ item }) => grid(item) },
          { head: 'Threads each', number: true, cell: ({ item }) => item.threads },
          { head: 'Workgroup memory', number: true, cell: ({ item }) => bytes(item.workgroupMemory) },
        ]}
      />
      <div>
        {shaders.map((shader, index) => (
          <Source key={`${index} ${shader.label}`} shader={shader} />
        ))}
      </div>
    </>
  );
}

function Source({ shader: { label, wgsl } }: { readonly shader: Shader }) {
  const [open, setOpen] = useState(false);
  const lines = wgsl.trim().split('\n').length;
  return (
    <Details summary={`WGSL of “${label}”, ${lines} lines`} open={open} onToggle={setOpen}>
      {open && <Code source={wgsl.trim()} label={`WGSL of ${label}`} />}
    </Details>
  );
}

const grid = ({ workgroups }: Pass): string => {
  const sides = workgroups.filter((side, index) => index === 0 || side > 1);
  return sides.map(side => side.toLocaleString('en-US')).join(' × ');
};

const alike = (x: Pass, y: Pass): boolean => x.label === y.label && grid(x) === grid(y);
