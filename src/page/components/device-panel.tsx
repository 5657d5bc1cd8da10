/** What the page knows of the GPU: what it is, what it offers and what that gives, its limits. */
import type { ComponentChildren } from 'preact';
import { bytes } from '../../figures.ts';
import type { Profile } from '../../profile.ts';
import { SUBGROUP_MATRIX_FEATURE } from '../../wgsl/experimental.ts';
import type { DeviceInfo, RungFitness } from '../gpu/jobs/device.ts';
import { device, startGpu } from '../state/device.ts';
import { Button } from './button.tsx';
import { Details } from './details.tsx';
import { Facts } from './facts.tsx';
import { GpuProblem } from './gpu-problem.tsx';
import { Notice } from './notice.tsx';
import { Prose } from './prose.tsx';

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
      <section class="section">
        <h3>Features that matter here</h3>
        <Facts items={featuresOf(info)} />
      </section>
      <section class="section">
        <h3>Rungs of the ladder</h3>
        <Facts items={info.rungs.map(rungOf)} />
      </section>
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

type Fact = [name: string, value: ComponentChildren];

function featuresOf({ profile }: DeviceInfo): Fact[] {
  const shapes = profile.matrixConfigs.map(
    ({ componentType, resultComponentType, M, N, K }) =>
      `${componentType}→${resultComponentType} ${M}×${N}×${K}`,
  );
  const features = [
    ['subgroups', 'subgroups', 'threads that run together share registers: rung 8s, faster GEMV'],
    ['half floats', 'shader-f16', 'half the memory traffic, and twice the arithmetic on many GPUs'],
    ['matrix units', SUBGROUP_MATRIX_FEATURE, shapes.join(', ') || MATRIX_UNITS],
    ['GPU clock', 'timestamp-query', 'times of the kernel alone; without it they include the browser’s'],
  ];
  return features.map(([name, feature, gives]) => [
    name,
    <>
      {profile.features.includes(feature) ? <strong>yes</strong> : <strong class="muted">no</strong>}: {gives}
    </>,
  ]);
}

const MATRIX_UNITS =
  'rung 8 and the fastest kernels; experimental, Chrome offers them with “Unsafe WebGPU Support” in chrome://flags';

const rungOf = ({ rung, id, missing }: RungFitness): Fact => [
  `rung ${rung}, ${id}`,
  missing ? (
    <>
      <strong class="muted">not here</strong>: <Prose text={missing} />
    </>
  ) : (
    <strong>runs</strong>
  ),
];

const limitsOf = ({ limits, features, wgslFeatures }: Profile): [string, string][] => [
  ...Object.entries(limits).map(([name, value]: [string, number]): [string, string] => [
    name,
    /Size$/.test(name) && value >= 4096 ? bytes(value) : value.toLocaleString('en-US'),
  ]),
  ['features', features.join(', ') || 'none'],
  ['WGSL features', wgslFeatures.join(', ') || 'none'],
];
