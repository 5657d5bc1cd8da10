/** The passes that the GPU runs for the product, and their WGSL as it is compiled. */
import { useState } from 'preact/hooks';
import { bytes } from '../../../figures.ts';
import type { Shader } from '../../../parts.ts';
import type { Pass } from '../../../program.ts';
import { Code } from '../../components/code.tsx';
import { Details } from '../../components/details.tsx';
import { inRuns } from './words.ts';

/** Passes in a row that are shown. */
const MOST = 8;

/** A line for each pass, in order. */
export function Passes({ passes }: { readonly passes: readonly Pass[] }) {
  const runs = inRuns(passes, alike);
  const more = runs.slice(MOST).reduce((sum, { count }) => sum + count, 0);
  return (
    <ol class="gemm-passes">
      {runs.slice(0, MOST).map(({ item, count }, index) => (
        <li key={index}>
          {item.label}
          {count > 1 && ` × ${count}`}: {grid(item)} of {item.threads} threads
          {item.workgroupMemory > 0 && `, ${bytes(item.workgroupMemory)} of workgroup memory`}
        </li>
      ))}
      {more > 0 && <li>and {more} more</li>}
    </ol>
  );
}

/** Every distinct shader, to be opened. */
export const Sources = ({ shaders }: { readonly shaders: readonly Shader[] }) => (
  <div>
    {shaders.map((shader, index) => (
      <Source key={`${index} ${shader.label}`} shader={shader} />
    ))}
  </div>
);

function Source({ shader: { label, wgsl } }: { readonly shader: Shader }) {
  const [open, setOpen] = useState(false);
  const lines = wgsl.trim().split('\n').length;
  return (
    <Details summary={`WGSL of “${label}”, ${lines} lines`} open={open} onToggle={setOpen}>
      {open && <Code source={wgsl.trim()} label={`WGSL of ${label}`} />}
    </Details>
  );
}

function grid({ workgroups }: Pass): string {
  const sides = workgroups.filter((side, index) => index === 0 || side > 1);
  const count = sides.map(side => side.toLocaleString('en-US')).join(' × ');
  return count === '1' ? 'one workgroup' : `${count} workgroups`;
}

const alike = (x: Pass, y: Pass): boolean => x.label === y.label && grid(x) === grid(y);
