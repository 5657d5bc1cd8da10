/** What the page knows of the GPU: what it is, what it offers and what that gives, its limits. */
import { bytes } from '../../figures.ts';
import { RUNGS } from '../../ladder/rungs.ts';
import type { Profile } from '../../profile.ts';
import { SUBGROUP_MATRIX_FEATURE } from '../../wgsl/experimental.ts';
import type { DeviceInfo } from '../gpu/jobs/device.ts';
import { device, startGpu } from '../state/device.ts';
import { Button } from './button.tsx';
import { Details } from './details.tsx';
import { Facts } from './facts.tsx';
import { GpuProblem } from './gpu-problem.tsx';
import { Notice } from './notice.tsx';
import { Table } from './table.tsx';

export function DevicePanel() {
  const state = device.value;
  if (state.status === 'opening') return <p>The browser is being asked for a GPU.</p>;
  if (state.status !== 'ready') return <GpuProblem />;
  const { info } = state;
  return (
    <>
      {info.profile.software && (
        <Notice tone="warn" title="This is a software GPU">
          <p>The CPU does the work: everything runs and is verified, but a real GPU's figures differ.</p>
        </Notice>
      )}
      <Facts items={factsOf(info)} />
      <Table
        caption="Features that matter here"
        keyOf={({ name }) => name}
        rows={featuresOf(info)}
        columns={[
          { head: 'feature', cell: ({ name }) => name },
          { head: 'here', cell: ({ has }) => (has ? 'yes' : <span class="muted">no</span>) },
          { head: 'what it gives', cell: ({ gives }) => gives },
        ]}
      />
      <Table
        caption="Rungs of the ladder"
        keyOf={({ id }) => id}
        rows={info.rungs}
        columns={[
          { head: 'rung', cell: ({ rung }) => rung },
          { head: 'idea', cell: ({ id }) => RUNGS.find(one => one.id === id)?.idea },
          { head: 'here', cell: ({ missing }) => (missing ? `not here: ${missing}` : 'runs') },
        ]}
      />
      <Details summary="Limits and all features">
        <Facts items={limitsOf(info.profile)} />
      </Details>
      <div class="row">
        <Button onClick={startGpu}>Restart the GPU</Button>
        <span class="small muted">Makes a new worker and a new device; what is running is ended.</span>
      </div>
    </>
  );
}

function factsOf({ profile, timer }: DeviceInfo): [string, string][] {
  const { subgroupMinSize: least, subgroupMaxSize: most } = profile;
  const unknown = 'the browser does not tell';
  return [
    ['Device', profile.device || profile.description || unknown],
    ['Vendor', profile.vendor || unknown],
    ['Architecture', profile.architecture || unknown],
    ['Subgroups', most === 0 ? 'none' : least === most ? `${most} lanes` : `${least} to ${most} lanes`],
    [
      'Timer',
      timer.kind === 'wall-clock'
        ? 'wall clock: the device has no timestamp-query'
        : `GPU timestamps${timer.resolutionNs ? ` in steps of ${timer.resolutionNs.toLocaleString('en-US')} ns` : ''}`,
    ],
  ];
}

function featuresOf({ profile }: DeviceInfo) {
  const has = (feature: string) => profile.features.includes(feature);
  const shapes = profile.matrixConfigs.map(
    ({ componentType, resultComponentType, M, N, K }) =>
      `${componentType}→${resultComponentType} ${M}×${N}×${K}`,
  );
  return [
    {
      name: 'subgroups',
      has: has('subgroups'),
      gives: 'Threads that run together share registers: rung 8s, faster GEMV.',
    },
    {
      name: 'shader-f16',
      has: has('shader-f16'),
      gives: 'Half floats: half the memory traffic, and twice the arithmetic on many GPUs.',
    },
    {
      name: 'subgroup matrices',
      has: has(SUBGROUP_MATRIX_FEATURE),
      gives:
        shapes.length > 0
          ? `Matrix units: ${shapes.join(', ')}.`
          : 'Matrix units: rung 8 and the fastest kernels. Experimental: Chrome offers it with “Unsafe WebGPU Support” in chrome://flags.',
    },
    {
      name: 'timestamp-query',
      has: has('timestamp-query'),
      gives: "The GPU's own clock; without it times include the browser's.",
    },
  ];
}

const limitsOf = ({ limits, features, wgslFeatures }: Profile): [string, string][] => [
  ...Object.entries(limits).map(([name, value]: [string, number]): [string, string] => [
    name,
    /Size$/.test(name) && value >= 4096 ? bytes(value) : value.toLocaleString('en-US'),
  ]),
  ['features', features.join(', ') || 'none'],
  ['WGSL features', wgslFeatures.join(', ') || 'none'],
];
