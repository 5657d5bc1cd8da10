/**
 * What a GPU machine runs: ceilings, the library on every shape of the table, the same without experimental features on
 * the squares, the ladder, peers; one record out. It is written again after each result, so that whatever ends the run leaves what was measured until then.
 *
 *   node gpu-machine.mjs --out record.json [--budget SECONDS] [--machine WORD] [--adapter NAME] [--shapes LIST]
 *     [--parts ceilings,ours,unflagged,ladder,peers] [--ladder SIZE] [--peers all | tensorflow,jax,…] [--cublas FILE]
 *     [--ladder-record FILE] [--tuning FILE] [--merge RECORD]
 *
 * bench/pack-peers.sh makes gpu-machine.mjs and puts beside it what the peers need. --cublas takes the lines of JSON
 * that the vendor's library was timed with on the same machine. Work is ordered by importance; what the budget (520
 * seconds if left out) has no room for is left out, and the record says so. What was left out can be measured in another
 * run on the machine, with --parts, and --merge takes what an earlier record has into the new one; --ladder-record takes
 * the rungs of a record that `webgemm ladder --json` made there, --tuning what was tuned there (bench/kernels.ts, `webgemm tune`).
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { bytesOf, type Job, problemOf } from '../src/bench/job.ts';
import type { Peer } from '../src/bench/peer.ts';
import { type BenchRecord, type BenchResult, benchRecord, blankResult } from '../src/bench/record.ts';
import { bench } from '../src/bench/run.ts';
import { createGemm } from '../src/gemm.ts';
import { climb, type RungResult } from '../src/ladder/climb.ts';
import type { LadderRecord } from '../src/ladder/record.ts';
import type { Shape } from '../src/ladder/rung.ts';
import { RUNGS } from '../src/ladder/rungs.ts';
import { createTimer, type Timer } from '../src/measure/timer.ts';
import { OutputFile } from '../src/node/cli/output.ts';
import { type OpenGpu, openGpu } from '../src/node/gpu.ts';
import type { Profile } from '../src/profile.ts';
import { parseShapes, type TrialShape } from '../src/trial/shapes.ts';
import type { TuningRecord } from '../src/tuning/record.ts';
import { SUBGROUP_MATRIX_FEATURE, SUBGROUP_SIZE_FEATURE } from '../src/wgsl/experimental.ts';
import { measureCeilings } from './ceilings.ts';
import { readCublas } from './cublas.ts';
import { awake } from './peers/node.ts';
import { openPeers } from './peers/open.ts';

/** The most important first: where the budget ends, the rest is left out. */
const ORDER = 'square,odd,2048x4096x4096,language-models,transposes,batched,deep,tall';

/** Milliseconds that the last group of jobs with peers may take after the last one was begun. */
const RESERVE = 40_000;

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    budget: { type: 'string', default: '520' },
    machine: { type: 'string' },
    adapter: { type: 'string' },
    shapes: { type: 'string', default: ORDER },
    ladder: { type: 'string', default: '4096' },
    peers: { type: 'string' },
    parts: { type: 'string', default: 'ceilings,ours,unflagged,ladder,peers' },
    cublas: { type: 'string' },
    'ladder-record': { type: 'string' },
    tuning: { type: 'string' },
    merge: { type: 'string' },
  },
});
if (!values.out) throw new Error('--out FILE is missing');
const out = values.out;
const parts = values.parts.split(',');
const before: BenchRecord | null = values.merge ? JSON.parse(readFileSync(values.merge, 'utf8')) : null;
const results: BenchResult[] = [
  ...(before?.results.filter(isKept) ?? []),
  ...(values.cublas ? readCublas(readFileSync(values.cublas, 'utf8')) : []),
  ...(values['ladder-record'] ? readLadder(values['ladder-record']) : []),
];
const tuning: readonly TuningRecord[] = values.tuning
  ? [JSON.parse(readFileSync(values.tuning, 'utf8'))]
  : [];
const versions: Record<string, string> = {
  ...before?.versions,
  ...{ webgemm: manifest.version, node: process.versions.node },
};
const opened = await openGpu(values.adapter ? { adapter: values.adapter } : {});
await awake(() => run(opened));
opened.close();
// A peer may leave timers and channels behind.
process.exit(0);

async function run({ device, profile, runtime, gpu }: OpenGpu): Promise<void> {
  if (runtime.dawn) versions.dawn = runtime.dawn;
  const gemm = await createGemm(device, { profile, tuning });
  const timer = await createTimer(device);
  const end = Number(values.budget) * 1000;
  const deadline = end - RESERVE;
  const short = { minWarmUp: 0, maxWarmUp: 0, minTime: 20 };
  const times = profile.software ? short : { minTime: 200, maxWarmUp: 2000 };
  const jobs = jobsOf(parseShapes(values.shapes));
  const save = (...more: readonly BenchResult[]) => {
    results.push(...more);
    const machine = values.machine ?? profile.device;
    const record = benchRecord({ machine, profile, runtime, versions, results });
    new OutputFile(out).write(`${JSON.stringify(record, null, 1)}\n`);
    for (const it of more) console.error(`${Math.round(performance.now() / 1000)} s  ${lineOf(it)}`);
  };

  await step('ceilings', async () => save(...(await measureCeilings(device, profile, timer, times))));
  const onResult = (result: BenchResult) => save(result);
  await step('ours', () => bench(gemm, { jobs, timer, times, deadline, onResult }));
  await step('unflagged', async () => {
    const unflagged = await createGemm(device, { profile: withoutExperiments(profile) });
    const some = jobs.filter(({ shape: { m, n, k }, accuracy }) => m === n && n === k && accuracy === 'f32');
    const floats = some.filter(({ dtype }) => dtype !== 'i8');
    const name = 'webgemm-unflagged';
    await bench(unflagged, { jobs: floats, name, timer, times, deadline, onResult });
  });
  await step('ladder', async () => {
    if (performance.now() > deadline) throw new Error('there was no time left for it');
    const size = Number(values.ladder);
    const { m, n, k } = { m: size, n: size, k: size };
    const { minTime } = times;
    const { rungs, timer } = await climb(device, { shape: { m, n, k }, rungs: RUNGS, profile, minTime });
    save(...ladderRows({ m, n, k }, rungs, timer.kind));
  });
  if (values.peers !== undefined) {
    await step('peers', async () => {
      const { peers, failures } = await openPeers(values.peers!, {
        ...{ device, gpu, software: profile.software },
      });
      save(...failures);
      for (const { name, version } of peers) versions[name] = version;
      await beside(peers, jobs);
    });
  }
  timer.destroy();

  async function beside(peers: readonly Peer[], all: readonly Job[]): Promise<void> {
    const plain = all.filter(({ accuracy, dtype }) => accuracy === 'f32' && dtype !== 'i8');
    const minTime = profile.software ? 20 : 100;
    // In small groups, so that what is measured last is near the deadline.
    for (let first = 0; first < plain.length; first += 8) {
      const some = plain.slice(first, first + 8);
      await bench(gemm, {
        ...{ jobs: some, peers, timer, deadline, times: { ...times, minTime } },
        onResult: result => {
          // By the device's clock ours was measured before.
          if (result.group === 'peer' || result.timer !== 'gpu-timestamp') save(result);
        },
      });
    }
    for (const peer of peers) peer.close();
  }

  /** A part of the run that fails is a result with its reason. */
  async function step(name: string, work: () => Promise<unknown>): Promise<void> {
    if (!parts.includes(name)) return;
    try {
      await work();
    } catch (error) {
      const group = name === 'ceilings' ? 'ceiling' : name === 'ladder' ? 'ladder' : 'ours';
      save({ ...blankResult(group, name), failure: (error as Error).message });
    }
  }
}

/** What a browser without flags shows of the device. */
function withoutExperiments(profile: Profile): Profile {
  const experimental: readonly string[] = [SUBGROUP_MATRIX_FEATURE, SUBGROUP_SIZE_FEATURE];
  const features = profile.features.filter(name => !experimental.includes(name));
  return { ...profile, features, matrixConfigs: [] };
}

/** Whether an earlier record's result has a figure, of a part that is not measured again now. */
function isKept({ group, name, timer, ms }: BenchResult): boolean {
  const part =
    group === 'peer' || (group === 'ours' && timer === 'wall-clock')
      ? 'peers'
      : name === 'webgemm-unflagged'
        ? 'unflagged'
        : ({ ours: 'ours', ceiling: 'ceilings', ladder: 'ladder', cublas: 'cublas' } as const)[group];
  return ms !== null && !parts.includes(part);
}

/** Every shape in f32 and f16, the squares in strict f32 as well, and 4096³ in i8. */
function jobsOf(shapes: readonly TrialShape[]): readonly Job[] {
  const all = shapes.flatMap(shape => {
    const { m, n, k, batch = 1 } = shape;
    const square = m === n && n === k && batch === 1;
    const jobs: Job[] = [
      { shape, dtype: 'f32', accuracy: 'f32' },
      ...(square ? [{ shape, dtype: 'f32', accuracy: 'strict' } as const] : []),
      { shape, dtype: 'f16', accuracy: 'f32' },
      ...(square && (m === 4096 || m === 128) ? [{ shape, dtype: 'i8', accuracy: 'f32' } as const] : []),
    ];
    return jobs;
  });
  // What takes the CPU longest to check comes last.
  const huge = (job: Job) => Number(bytesOf(problemOf(job)) > 2 ** 30);
  return all.sort((x, y) => huge(x) - huge(y));
}

function lineOf({
  group,
  name,
  dtype,
  accuracy,
  shape,
  batch,
  tflops,
  gbps,
  relErr,
  kernel,
  failure,
}: BenchResult) {
  const figure = tflops ? `${tflops.toPrecision(4)} TFLOP/s` : gbps ? `${gbps.toPrecision(4)} GB/s` : '';
  const what = shape ? `${batch > 1 ? `${batch} × ` : ''}${shape.join('×')}` : '';
  return [group, name, what, dtype, accuracy, kernel, figure, relErr?.toExponential(1), failure]
    .filter(Boolean)
    .join('  ');
}

/** The rungs of a climb as rows of this record. */
function ladderRows({ m, n, k }: Shape, rungs: readonly RungResult[], timer: Timer['kind']): BenchResult[] {
  return rungs.map(({ id, gflops, ms, spread, relErr, worst, reason }) => ({
    ...{ ...blankResult('ladder', id), dtype: 'f32' as const, shape: [m, n, k] as const },
    ...{ ms, spread, relErr, worst, tflops: gflops === null ? null : gflops / 1000 },
    ...{ timer, robustness: true, failure: reason },
  }));
}

/** What `webgemm ladder --json` printed on this machine. */
function readLadder(file: string): BenchResult[] {
  const { problem, rungs, timer }: LadderRecord = JSON.parse(readFileSync(file, 'utf8'));
  return ladderRows(problem, rungs, timer.kind);
}
