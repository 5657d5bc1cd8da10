/** `webgemm info`: what this machine's GPU offers, and which rungs run on it. */
import { Command } from 'commander';
import { programFor } from '../../ladder/multiply.ts';
import { recordAdapter } from '../../ladder/record.ts';
import { RUNGS } from '../../ladder/rungs.ts';
import { createTimer } from '../../measure/timer.ts';
import type { Profile } from '../../profile.ts';
import type { OpenGpu } from '../gpu.ts';
import { SOFTWARE_GPUS, softwareGpu } from '../software.ts';
import { adapterName, backendOf, bytes, colours, wrapped } from './format.ts';
import { type GpuOptions, openOptions, withGpuOptions } from './options.ts';
import { withGpu } from './session.ts';

export function infoCommand(version: string): Command {
  const command = new Command('info')
    .description("Show the GPU's features, limits, subgroups, matrices and timer, and which rungs run on it.")
    .option('--json', 'print one JSON document');
  return withGpuOptions(command).action(async (options: GpuOptions & { readonly json?: boolean }) => {
    const info = await withGpu(openOptions(options), opened => collect(opened, version));
    process.stdout.write(options.json ? `${JSON.stringify(info, null, 2)}\n` : `${describe(info)}\n`);
  });
}

type Info = Awaited<ReturnType<typeof collect>>;

async function collect({ device, profile, runtime }: OpenGpu, version: string) {
  const timer = await createTimer(device);
  timer.destroy();
  const softwareGpus = [];
  for (const name of SOFTWARE_GPUS) {
    const folder = await softwareGpu(name);
    softwareGpus.push({ name, missing: 'missing' in folder ? folder.missing : null });
  }
  return {
    schema: 'webgemm-info/1' as const,
    version,
    adapter: recordAdapter(profile),
    wgslFeatures: profile.wgslFeatures,
    backend: backendOf(runtime.platform),
    runtime,
    timer: { kind: timer.kind, resolutionNs: timer.resolutionNs },
    rungs: RUNGS.map(rung => ({ rung: rung.rung, id: rung.id, idea: rung.idea, ...fitness(rung, profile) })),
    softwareGpus,
  };
}

/** Whether a rung runs here, tried on a small product: why not, or what it takes from the device. */
function fitness(rung: (typeof RUNGS)[number], profile: Profile) {
  const program = programFor(rung, { m: 64, n: 64, k: 64 }, profile);
  if (typeof program === 'string') return { runs: false, reason: program, detail: null };
  return { runs: true, reason: null, detail: program.detail || null };
}

function describe({
  adapter,
  wgslFeatures,
  backend,
  runtime,
  timer,
  rungs,
  softwareGpus,
  version,
}: Info): string {
  const colour = colours('stdout');
  const { subgroupMinSize: least, subgroupMaxSize: most } = adapter;
  const matrices = adapter.matrixConfigs.map(
    config => `${config.componentType}→${config.resultComponentType} ${config.M}×${config.N}×${config.K}`,
  );
  const facts: [string, readonly string[]][] = [
    ['adapter', [adapterName({ ...adapter, wgslFeatures }) + (adapter.software ? ', a software GPU' : '')]],
    ['vendor', [[adapter.vendor, adapter.architecture].filter(Boolean).join(' ') || 'unknown']],
    ['backend', [`${backend} through Dawn (npm webgpu ${runtime.dawn})`]],
    ['runtime', [`webgemm ${version}, ${runtime.name} ${runtime.version}, ${runtime.platform}`]],
    ['timer', [timerText(timer)]],
    ['subgroups', [most === 0 ? 'none' : least === most ? `${most} lanes` : `${least} to ${most} lanes`]],
    ['matrices', matrices.length > 0 ? matrices : ['none']],
    ['features', adapter.features],
    ['WGSL', wgslFeatures],
  ];
  const limits = Object.entries(adapter.limits).map(
    ([name, value]) => `${name.padEnd(36)}${/Size$/.test(name) && value >= 4096 ? bytes(value) : value}`,
  );
  const ladder = rungs.map(({ rung, id, runs, reason, detail }) => {
    const verdict = runs ? colour.green('runs') : `${colour.yellow('not here:')} ${reason}`;
    return `${rung.padEnd(4)}${id.padEnd(18)}${verdict}${detail ? colour.dim(`  ${detail}`) : ''}`;
  });
  const software = softwareGpus.map(
    ({ name, missing }) =>
      `${name.padEnd(14)}${missing ?? colour.green('ready')}${missing ? '' : `  --adapter ${name}`}`,
  );
  return [
    facts
      .map(([name, values]) => colour.bold(name.padEnd(11)) + wrapped(values, { width: 89, indent: 11 }))
      .join('\n'),
    section(colour.bold('limits'), limits),
    section(colour.bold('rungs'), ladder),
    section(colour.bold('software GPUs'), software),
  ].join('\n\n');
}

function timerText({ kind, resolutionNs }: Info['timer']): string {
  if (kind === 'wall-clock') return 'wall clock: the device has no `timestamp-query`';
  return `GPU timestamps, ${resolutionNs === null ? 'steps unknown' : `in steps of ${resolutionNs} ns`}`;
}

const section = (title: string, lines: readonly string[]) =>
  [title, ...lines.map(line => `  ${line}`)].join('\n');
