/** `webgemm tune`: finds the fastest kernel for each shape on this GPU, and keeps what it found. */
import { Command, Option } from 'commander';
import { GemmError } from '../../errors.ts';
import { KERNELS } from '../../kernels/index.ts';
import { type Accuracy, normalize, operations } from '../../problem.ts';
import { parseShapes, type TrialShape } from '../../trial/shapes.ts';
import { Knowledge, saveTo } from '../../tuning/knowledge.ts';
import type { TuningRecord } from '../../tuning/record.ts';
import { type TuneProgress, type TuneResult, tune } from '../../tuning/tune.ts';
import { describeRuntime, type OpenGpu } from '../gpu.ts';
import { fileStore, tuningFile } from '../store-file.ts';
import { duration } from './format.ts';
import { type GpuOptions, openOptions, secondsOf, withGpuOptions } from './options.ts';
import { OutputFile } from './output.ts';
import { conclude, heading, SMALL_SHAPES } from './report.ts';
import { Screen } from './screen.ts';
import { withGpu } from './session.ts';
import { tuneTable } from './tune-table.ts';

interface TuneCommandOptions extends GpuOptions {
  readonly shapes?: string;
  readonly dtype: 'f32' | 'f16';
  readonly accuracy: Accuracy;
  readonly budget?: number;
  readonly out?: string;
  readonly json?: boolean;
}

/** The exit code of a command that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Seconds for all shapes, and the shapes, where the user names none. */
const USUAL = {
  gpu: { shapes: 'all', budget: 300_000 },
  software: { shapes: 'quick', budget: 25_000 },
} as const;

export function tuneCommand(finish: (exitCode: number) => void): Command {
  const command = new Command('tune')
    .description('Find the fastest kernel for each shape on this GPU by trying, and keep what was found.')
    .option('--shapes <list>', 'MxNxK, MxNxKxBATCH or sets, such as square,1x4096x4096 (default: all)')
    .addOption(new Option('--dtype <type>', 'type of A, B and C').choices(['f32', 'f16']).default('f32'))
    .addOption(
      new Option('--accuracy <name>', 'what may be narrowed')
        .choices(['f32', 'strict', 'f16'])
        .default('f32'),
    )
    .option(
      '--budget <s>',
      'seconds for all shapes (default: 300; 25 on a software GPU)',
      secondsOf('--budget', 86_400),
    )
    .option('--out <file>', "write the record there, and not to the user's cache")
    .option('--json', 'print the record as one JSON document, with what was tried');
  return withGpuOptions(command).action(async (options: TuneCommandOptions) => {
    const shapes = options.shapes === undefined ? null : parseShapes(options.shapes);
    const gpu = openOptions(options);
    const output = options.out === undefined ? undefined : new OutputFile(options.out);
    const screen = options.json ? new Screen(process.stderr, 'stderr') : new Screen(process.stdout, 'stdout');
    const stop = new AbortController();
    await withGpu(
      gpu,
      opened => runTune(opened, { ...options, chosen: shapes, output, screen, signal: stop.signal }),
      { output, onInterrupt: () => screen.abandon(), stop },
    );
    finish(stop.signal.aborted ? INTERRUPTED : 0);
  });
}

interface TuneRun extends Pick<TuneCommandOptions, 'dtype' | 'accuracy' | 'json'> {
  readonly chosen: readonly TrialShape[] | null;
  readonly budget?: number;
  readonly output: OutputFile | undefined;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

async function runTune(opened: OpenGpu, run: TuneRun): Promise<void> {
  const { device, profile, runtime } = opened;
  const { screen, json, output, signal, dtype, accuracy } = run;
  const usual = profile.software ? USUAL.software : USUAL.gpu;
  const budget = run.budget ?? usual.budget;
  const shapes = run.chosen ?? parseShapes(usual.shapes);
  // Small ones first: what time they leave is for those that need more.
  const problems = shapes
    .map(shape => normalize({ ...shape, type: dtype, accuracy }))
    .sort((x, y) => operations(x) - operations(y));
  const store = fileStore();
  const known = Knowledge.none(profile);
  const results: TuneResult[] = [];
  let progress: TuneProgress | null = null;
  const begin = performance.now();
  const draw = (frame: string) =>
    tuneTable(problems, results, progress, {
      ...{ width: screen.width, colour: screen.colour, frame },
      ...{ seconds: (performance.now() - begin) / 1000, budget: budget / 1000 },
    });

  if (!json) screen.print(titled(opened, run, budget, problems.length));
  if (!json || screen.live) screen.animate(draw);
  const record = await tune(
    problems,
    {
      ...{ device, profile, kernels: KERNELS, suggest: problem => known.suggest(problem) },
      runtime: describeRuntime(runtime),
    },
    {
      ...{ budgetSeconds: budget / 1000, signal },
      onProgress: now => {
        progress = now;
        screen.refresh();
      },
      onResult: result => {
        results.push(result);
        progress = null;
      },
      // After each problem, so that nothing is lost whatever ends the next one.
      onRecord: async newer => (output ? undefined : saveTo(store, newer)),
    },
  ).catch(error => {
    screen.abandon();
    throw error;
  });
  if (output) output.write(`${JSON.stringify(record, null, 1)}\n`);
  conclude(screen, json ? process.stdout : undefined, { ...record, results: results.map(inShort) }, () =>
    footer(record, output?.path ?? tuningFile(record.adapter), run),
  );
  if (record.entries.length === 0 && !signal.aborted) {
    throw new GemmError(
      'unsupported',
      `nothing could be tuned: ${results[0]?.reason ?? 'no reason is known'}`,
    );
  }
}

/** A result without what is in the record already. */
const inShort = ({ problem, before, best, tried, reason }: TuneResult) => {
  const { m, n, k, batch } = problem;
  const speedUp = before && best ? before.ms / best.ms : null;
  return { m, n, k, batch, before, after: best, speedUp, tried, reason };
};

function titled(opened: OpenGpu, run: TuneRun, budget: number, count: number): string {
  const { screen, dtype, accuracy, chosen } = run;
  const shapes = count === 1 ? 'one shape' : `${count} shapes`;
  return heading(opened, screen, {
    what: `${shapes}, ${dtype}, accuracy ${accuracy}, ${duration(budget)}`,
    aside: 'every candidate is verified against float64; Ctrl-C keeps what was measured',
    small: chosen ? null : SMALL_SHAPES,
  });
}

function footer(record: TuningRecord, path: string, { screen, signal, output }: TuneRun): string {
  const { dim } = screen.colour;
  const use = output
    ? 'createGemm(device, { tuning: record }) uses it.'
    : '`fileStore()` of webgemm/node, `matmul()` and `webgemm explain` use it.';
  const kept = record.entries.length > 0 || output ? `\nThe record is in ${path}. ${dim(use)}` : '';
  return `${signal.aborted ? '\nStopped.' : ''}${kept}`;
}
