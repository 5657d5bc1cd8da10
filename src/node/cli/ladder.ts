/** `webgemm ladder`: takes the ladder up and shows what each idea bought. */
import { Command } from 'commander';
import { checkShape, climb, type Phase, type RungResult } from '../../ladder/climb.ts';
import { type LadderRecord, ladderRecord } from '../../ladder/record.ts';
import type { Rung, Shape } from '../../ladder/rung.ts';
import { findRungs, RUNGS } from '../../ladder/rungs.ts';
import type { Profile } from '../../profile.ts';
import type { OpenGpu } from '../gpu.ts';
import { barChart } from './bars.ts';
import { duration } from './format.ts';
import { type GpuOptions, openOptions, secondsOf, sizeOf, withGpuOptions } from './options.ts';
import { OutputFile } from './output.ts';
import { conclude, heading } from './report.ts';
import { Screen, type Stream } from './screen.ts';
import { withGpu } from './session.ts';
import { ladderTable } from './table.ts';

interface LadderOptions extends GpuOptions {
  readonly size?: number;
  readonly m?: number;
  readonly n?: number;
  readonly k?: number;
  readonly rungs?: string;
  readonly json?: boolean;
  readonly svg?: string;
  readonly minTime?: number;
}

export function ladderCommand(version: string, finish: (exitCode: number) => void): Command {
  const command = new Command('ladder')
    .description(
      'Take the matmul ladder up on this GPU: verify every rung, time it, show what its idea bought.',
    )
    .option('--size <n>', 'm, n and k (default: 4096; 128 or 256 on a software GPU)', sizeOf('--size'))
    .option('--m <n>', 'rows of A and C, where not --size', sizeOf('--m'))
    .option('--n <n>', 'columns of B and C, where not --size', sizeOf('--n'))
    .option('--k <n>', 'columns of A, rows of B, where not --size', sizeOf('--k'))
    .option('--rungs <list>', 'only these, such as 1,4,8s,11 (default: all)')
    .option(
      '--min-time <s>',
      'seconds of samples a rung (default: 0.5; 0.3 on a software GPU)',
      secondsOf('--min-time'),
    )
    .option('--json', 'print one JSON document instead of the table')
    .option('--svg <file>', 'write a chart as SVG');
  return withGpuOptions(command).action(async (options: LadderOptions) => {
    const rungs = options.rungs === undefined ? RUNGS : findRungs(options.rungs);
    const gpu = openOptions(options);
    const svg = options.svg === undefined ? undefined : new OutputFile(options.svg);
    const screen = options.json ? new Screen(process.stderr, 'stderr') : new Screen(process.stdout, 'stdout');
    const exitCode = await withGpu(
      gpu,
      opened => {
        const plan = planFor(opened.profile, options);
        return runLadder(opened, {
          ...plan,
          rungs,
          version,
          screen,
          svg,
          json: options.json ? process.stdout : undefined,
        });
      },
      { output: svg, onInterrupt: () => screen.abandon() },
    );
    finish(exitCode);
  });
}

interface Plan {
  readonly shape: Shape;
  /** Milliseconds of samples for each rung. */
  readonly minTime: number;
  /** What was chosen for the user because the GPU is a software one; null where nothing was. */
  readonly note: string | null;
}

/** The size and the time a rung gets. A software GPU gets little of both, so that the table takes under a minute. */
export function planFor(profile: Profile, options: Omit<LadderOptions, 'rungs'>): Plan {
  const { m, n, k } = options;
  const usual = profile.software ? (/swiftshader/i.test(profile.architecture) ? 128 : 256) : 4096;
  const size = options.size ?? usual;
  const shape = { m: m ?? size, n: n ?? size, k: k ?? size };
  const minTime = options.minTime ?? (profile.software ? 300 : 500);
  const ownSize = [options.size, m, n, k].some(value => value !== undefined);
  const chosen = [
    ...(ownSize ? [] : [`${usual}×${usual}×${usual}`]),
    ...(options.minTime === undefined ? [`${duration(minTime)} a rung`] : []),
  ].join(' and ');
  const note = chosen && `${chosen} were chosen so that it takes under a minute.`;
  return { shape, minTime, note: profile.software ? note : null };
}

export interface LadderRun extends Plan {
  readonly rungs: readonly Rung[];
  readonly version: string;
  readonly screen: Screen;
  /** Where to print the document to; then the screen shows the progress only. */
  readonly json?: Stream | undefined;
  readonly svg?: OutputFile | undefined;
}

/** Climbs, and shows it. @returns the exit code: 1 where a rung computed a wrong result or failed, else 0 */
export async function runLadder(opened: OpenGpu, run: LadderRun): Promise<number> {
  const { screen, rungs, shape, minTime, json, svg } = run;
  const { device, profile, runtime } = opened;
  checkShape(shape, profile);
  const finished: RungResult[] = [];
  let phase: Phase | null = null;
  const table = (frame: string) =>
    ladderTable(rungs, finished, phase, { width: screen.width, colour: screen.colour, frame });

  if (!json) screen.print(titled(opened, run));
  if (!json || screen.live) screen.animate(table);
  const climbed = await climb(device, {
    shape,
    rungs,
    profile,
    minTime,
    onPhase: (_, next) => {
      phase = next;
      screen.refresh();
    },
    onResult: result => {
      finished.push(result);
      phase = null;
    },
  }).catch(error => {
    screen.abandon();
    throw error;
  });
  const record = ladderRecord({ version: run.version, profile, runtime, shape, climb: climbed });
  if (svg) svg.write(await chart(record, rungs));
  conclude(screen, json, record, () => footer(record, run));
  return record.rungs.some(({ status }) => status === 'wrong' || status === 'failed') ? 1 : 0;
}

/** The chart library is large: it is loaded only where a chart is asked for. */
async function chart(record: LadderRecord, rungs: readonly Rung[]): Promise<string> {
  const { ladderChart } = await import('../../ladder/chart.ts');
  return ladderChart(record, rungs);
}

function titled(opened: OpenGpu, { shape, note, screen }: LadderRun): string {
  const { m, n, k } = shape;
  return heading(opened, screen, {
    what: `C = A·B, f32: A ${m}×${k}, B ${k}×${n}`,
    aside: 'random inputs, verified against float64',
    small: note,
  });
}

function footer(record: LadderRecord, { rungs, screen, svg }: LadderRun): string {
  const { bold, dim } = screen.colour;
  const { kind, resolutionNs } = record.timer;
  const clock =
    kind === 'wall-clock'
      ? 'wall clock'
      : `GPU timestamps${resolutionNs ? `, ${resolutionNs} ns steps` : ''}`;
  const legend = [
    `time, spread  one product's median and middle half (${clock})`,
    record.rungs.some(({ prepare }) => prepare.length > 0) &&
      'beside it     passes that prepare operands, and are not in the time',
    record.rungs.some(({ within }) => within) &&
      'of it         passes that prepare operands, and are in the time',
    'error         ‖C − ref‖ / ‖ref‖, float64 ref; of halves where a rung takes f16',
    '× below       over the rung below: 8 and 8s stand on 7, 9 on the faster of them',
  ].filter(Boolean);
  const bars = barChart(rungs, record.rungs, { width: screen.width, colour: screen.colour });
  const parts = [
    dim(legend.join('\n')),
    bars && `${bold('GFLOP/s')}\n${bars}`,
    svg && `The chart is in ${svg.path}.`,
  ];
  return `\n${parts.filter(Boolean).join('\n\n')}`;
}
