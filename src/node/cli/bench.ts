/** `webgemm bench`: times what the library chooses for each shape, and peers beside it. */
import { Command, Option } from 'commander';
import { type BenchType, type Job, optionsOf } from '../../bench/job.ts';
import type { Peer } from '../../bench/peer.ts';
import { type BenchRecord, type BenchResult, benchRecord } from '../../bench/record.ts';
import { type BenchPhase, bench } from '../../bench/run.ts';
import { GemmError } from '../../errors.ts';
import { createGemm, type Gemm } from '../../gemm.ts';
import { KERNELS } from '../../kernels/index.ts';
import type { Params } from '../../kernels/kernel.ts';
import { createTimer } from '../../measure/timer.ts';
import type { Accuracy } from '../../problem.ts';
import type { Profile } from '../../profile.ts';
import { parseShapes, type TrialShape } from '../../trial/shapes.ts';
import type { OpenGpu } from '../gpu.ts';
import { benchTable } from './bench-table.ts';
import { type GpuOptions, openOptions, secondsOf, withGpuOptions } from './options.ts';
import { OutputFile } from './output.ts';
import { conclude, heading, SMALL_SHAPES } from './report.ts';
import { Screen, type Stream } from './screen.ts';
import { withGpu } from './session.ts';

interface BenchCommandOptions extends GpuOptions {
  readonly shapes?: string;
  readonly dtype: string;
  readonly accuracy: Accuracy;
  readonly kernel?: string;
  readonly params?: string;
  readonly peers?: string | true;
  readonly minTime?: number;
  readonly machine?: string;
  readonly json?: boolean;
  readonly svg?: string;
}

const TYPES: readonly BenchType[] = ['f32', 'f16', 'i8'];

/** The shapes where the user names none. */
const USUAL = { gpu: 'square', software: 'quick' } as const;

export function benchCommand(version: string, finish: (exitCode: number) => void): Command {
  const command = new Command('bench')
    .description('Time the kernel that the library chooses for each shape, verified in the same run.')
    .option(
      '--shapes <list>',
      'MxNxK, MxNxKxBATCH or sets, such as square,1x4096x4096 (default: square; quick on a software GPU)',
    )
    .option('--dtype <list>', `types of A and B: ${TYPES.join(', ')}`, 'f32')
    .addOption(
      new Option('--accuracy <name>', 'what may be narrowed')
        .choices(['f32', 'strict', 'f16'])
        .default('f32'),
    )
    .option('--kernel <name>', `only this kernel: ${KERNELS.map(({ name }) => name).join(', ')}`)
    .option('--params <list>', 'only these parameters of it, such as bm=64,bn=64')
    .option('--peers [list]', 'run other libraries beside it, and time all by the wall clock (default: all)')
    .option(
      '--min-time <s>',
      'seconds of samples for each product (default: 0.2; 0.05 on a software GPU)',
      secondsOf('--min-time'),
    )
    .option('--machine <word>', 'what the record calls the machine (default: the name of the GPU)')
    .option('--json', 'print one JSON document instead of the table')
    .option('--svg <file>', 'write a chart as SVG');
  return withGpuOptions(command).action(async (options: BenchCommandOptions) => {
    const request = requestOf(options);
    const peers = options.peers === undefined ? null : await namedPeers(options.peers);
    const gpu = openOptions(options);
    const svg = options.svg === undefined ? undefined : new OutputFile(options.svg);
    const screen = options.json ? new Screen(process.stderr, 'stderr') : new Screen(process.stdout, 'stdout');
    const exitCode = await withGpu(
      gpu,
      async opened => {
        const gemm = await createGemm(opened.device, { profile: opened.profile });
        const json = options.json ? process.stdout : undefined;
        const { machine, minTime } = options;
        return runBench(opened, gemm, {
          ...{ ...request, peers, version, machine, minTime, screen, svg, json },
        });
      },
      { output: svg, onInterrupt: () => screen.abandon() },
    );
    finish(exitCode);
  });
}

/** What the user asks for. */
interface Request {
  /** Null where none were named. */
  readonly shapes: readonly TrialShape[] | null;
  readonly dtypes: readonly BenchType[];
  readonly accuracy: Accuracy;
  readonly kernel: string | undefined;
  readonly params: Params | undefined;
}

/** @throws GemmError `invalid-argument` */
function requestOf({ shapes, dtype, accuracy, kernel, params }: BenchCommandOptions): Request {
  if (kernel !== undefined && !KERNELS.some(({ name }) => name === kernel)) {
    const names = KERNELS.map(({ name }) => name).join(', ');
    throw new GemmError('invalid-argument', `there is no kernel "${kernel}"`, `The kernels are ${names}.`);
  }
  if (params !== undefined && kernel === undefined) {
    throw new GemmError('invalid-argument', '--params without --kernel', 'Name the kernel that they are of.');
  }
  const dtypes = dtype.split(',').map(name => {
    const known = TYPES.find(type => type === name.trim());
    if (known) return known;
    throw new GemmError(
      'invalid-argument',
      `--dtype is "${dtype}"`,
      `Give one or more of ${TYPES.join(', ')}.`,
    );
  });
  return {
    shapes: shapes === undefined ? null : parseShapes(shapes),
    dtypes: [...new Set(dtypes)],
    ...{ accuracy, kernel, params: params === undefined ? undefined : parseParams(params) },
  };
}

/** @throws GemmError `invalid-argument` */
function parseParams(text: string): Params {
  return Object.fromEntries(
    text.split(',').map(pair => {
      const [, name, value] = /^\s*(\w+)\s*=\s*(\d+)\s*$/.exec(pair) ?? [];
      if (name) return [name, Number(value)];
      throw new GemmError(
        'invalid-argument',
        `--params has "${pair}"`,
        'Give NAME=NUMBER with commas between, such as bm=64,bn=64; `webgemm explain` shows them.',
      );
    }),
  );
}

/** The names are checked before anything is opened. @throws GemmError `invalid-argument` */
async function namedPeers(list: string | true): Promise<readonly string[]> {
  const { peerNames } = await import('../../../bench/peers/open.ts');
  return peerNames(list === true ? 'all' : list);
}

export interface BenchRun extends Request {
  /** Names of the peers to run beside ours; null for none. */
  readonly peers: readonly string[] | null;
  readonly version: string;
  readonly machine: string | undefined;
  /** Milliseconds of samples for each product. */
  readonly minTime: number | undefined;
  readonly screen: Screen;
  /** Where to print the document to; then the screen shows the progress only. */
  readonly json?: Stream | undefined;
  readonly svg?: OutputFile | undefined;
}

/**
 * Runs the bench, and shows it.
 *
 * @returns the exit code: 1 where a result of ours was wrong or failed, else 0
 * @throws GemmError before anything is run, where a product can't be served on this device
 */
export async function runBench(opened: OpenGpu, gemm: Gemm, run: BenchRun): Promise<number> {
  const { screen, json, svg } = run;
  const { device, profile, runtime } = opened;
  const jobs = jobsOf(run, profile);
  for (const job of jobs) gemm.explain(optionsOf(job), forced(run));
  if (!json) screen.print(titled(opened, run, jobs.length));

  const beside = run.peers ? await openedPeers(run.peers, opened) : null;
  const peers: readonly Peer[] = beside?.peers ?? [];
  const titles = Object.fromEntries(peers.map(({ name, title }) => [name, title]));
  const results: BenchResult[] = [];
  let phase: { job: Job; what: string } | null = null;
  if (!json || screen.live) {
    screen.animate(frame =>
      benchTable(jobs, results, { width: screen.width, colour: screen.colour, frame, phase, titles }),
    );
  }
  const timer = await createTimer(device);
  const { minTime, ...warmUp } = profile.software ? SOFTWARE : GPU;
  const work = () =>
    bench(gemm, {
      ...{ jobs, peers, timer, times: { ...warmUp, minTime: run.minTime ?? minTime } },
      onPhase: (job: Job, next: BenchPhase, what: string) => {
        phase = { job, what: [next, what].filter(Boolean).join(' ') };
        screen.refresh();
      },
      onResult: result => results.push(result),
    });
  await (beside ? beside.awake(work) : work()).catch(error => {
    screen.abandon();
    throw error;
  });
  timer.destroy();
  for (const peer of peers) peer.close();
  const record = benchRecord({
    ...{ profile, runtime, machine: run.machine ?? (profile.device || profile.vendor) },
    versions: versionsOf(run.version, opened, peers),
    results: [...results, ...(beside?.failures ?? [])],
  });
  if (svg) svg.write(await chart(record, titles));
  conclude(screen, json, record, () => footer(record, run));
  return record.results.some(({ group, failure }) => group === 'ours' && failure !== null) ? 1 : 0;
}

/** A software GPU has no clock that ramps up, and is slow enough. */
const SOFTWARE = { minWarmUp: 0, maxWarmUp: 0, minTime: 50 } as const;
const GPU = { minWarmUp: 1500, maxWarmUp: 4000, minTime: 200 } as const;

function jobsOf(request: Request, profile: Profile): readonly Job[] {
  const { shapes, dtypes, accuracy } = request;
  const chosen = shapes ?? parseShapes(profile.software ? USUAL.software : USUAL.gpu);
  return chosen.flatMap(shape => dtypes.map(dtype => ({ shape, dtype, accuracy, ...forced(request) })));
}

const forced = ({ kernel, params }: Request) => ({
  ...(kernel === undefined ? {} : { kernel }),
  ...(params === undefined ? {} : { params }),
});

/** Peers and their libraries are loaded only where they are asked for. */
async function openedPeers(names: readonly string[], { device, gpu, profile }: OpenGpu) {
  const { openPeers } = await import('../../../bench/peers/open.ts');
  const { awake } = await import('../../../bench/peers/node.ts');
  const opened = await awake(() => openPeers(names.join(','), { device, gpu, software: profile.software }));
  return { ...opened, awake };
}

const versionsOf = (webgemm: string, { runtime }: OpenGpu, peers: readonly Peer[]) => ({
  ...{ webgemm, [runtime.name]: runtime.version },
  ...(runtime.dawn ? { dawn: runtime.dawn } : {}),
  ...Object.fromEntries(peers.map(({ name, version }) => [name, version])),
});

/** The chart library is large: it is loaded only where a chart is asked for. */
async function chart(record: BenchRecord, titles: Readonly<Record<string, string>>): Promise<string> {
  const { benchChart } = await import('../../bench/chart.ts');
  return benchChart(record, titles);
}

function titled(opened: OpenGpu, run: BenchRun, count: number): string {
  const products = count === 1 ? 'one product' : `${count} products`;
  const kernel = run.kernel ? `, kernel ${run.kernel}` : '';
  return heading(opened, run.screen, {
    what: `${products}, accuracy ${run.accuracy}${kernel}`,
    aside: 'random inputs, verified against float64',
    small: run.shapes ? null : SMALL_SHAPES,
  });
}

function footer({ results }: BenchRecord, { screen, svg, peers }: BenchRun): string {
  const { dim, yellow } = screen.colour;
  const clock = results.find(({ timer, group }) => group === 'ours' && timer)?.timer;
  const missing = results.filter(({ group, shape }) => group === 'peer' && !shape);
  const legend = [
    `time, spread  one product's median and middle half (${clock === 'gpu-timestamp' ? 'GPU timestamps' : 'wall clock'})`,
    'speed         operations a second; bytes of A, B and C where there are few rows or columns',
    'error         ‖C − ref‖ / ‖ref‖, float64 ref',
    ...(peers
      ? [
          'faster        how many times as fast as the peer ours is, both by the wall clock',
          '└             a peer whose error is yellow is over the tolerance that ours is held to',
        ]
      : []),
  ];
  const parts = [
    dim(legend.join('\n')),
    missing.map(({ failure }) => yellow(failure ?? '')).join('\n'),
    svg && `The chart is in ${svg.path}.`,
  ];
  return `\n${parts.filter(Boolean).join('\n\n')}`;
}
