/**
 * Times the library's kernels on large products, each verified against float64 in the same run, and writes one record.
 *
 *   tsx bench/kernels.ts [--jobs FILE] [--adapter NAME] [--cublas FILE] [--tuning FILE] > record.json
 *
 * A job is { kernel, shape: [m, n, k], batch, transA, transB, type: "f32" | "f16" | "i8", cType, params }; batch is 1 if left
 * out, cType i32 or f32; without params, the kernel's first `candidates` (1 if left out) are taken. All jobs are compiled, some
 * at a time, and verified first, and then measured in turn, sample by sample: between two measurements the GPU never idles, and
 * its clock stays up.
 * --cublas takes lines of JSON of the vendor's library measured on the same machine. --tuning writes what was fastest for
 * each problem as a tuning record, as `webgemm tune` writes them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { KERNELS } from '../src/kernels/index.ts';
import type { Params } from '../src/kernels/kernel.ts';
import { recordAdapter } from '../src/ladder/record.ts';
import { measureTogether } from '../src/measure/measure.ts';
import { createTimer } from '../src/measure/timer.ts';
import { describeRuntime, openGpu } from '../src/node/gpu.ts';
import { normalize, operations } from '../src/problem.ts';
import { TrialOperands } from '../src/trial/operands.ts';
import { candidateSubject, prepareTrial, type Subject, type Trial } from '../src/trial/trial.ts';
import {
  SCHEMA,
  type TuningEntry,
  type TuningRecord,
  tunedProblem,
  tuningAdapter,
} from '../src/tuning/record.ts';

interface Job {
  readonly kernel: string;
  readonly shape: readonly [m: number, n: number, k: number];
  readonly batch?: number;
  readonly transA?: boolean;
  readonly transB?: boolean;
  readonly type: 'f32' | 'f16' | 'i8';
  readonly cType?: 'f32' | 'f16' | 'i32';
  readonly params?: Params;
  readonly candidates?: number;
}

interface Ready {
  readonly job: Job;
  readonly params: Params;
  readonly trial: Trial;
}

const { values } = parseArgs({
  options: {
    jobs: { type: 'string' },
    adapter: { type: 'string' },
    cublas: { type: 'string' },
    tuning: { type: 'string' },
  },
});
const jobs: readonly Job[] = JSON.parse(readFileSync(values.jobs ?? 'bench/kernels.json', 'utf8'));
const { device, profile, runtime, close } = await openGpu(values.adapter ? { adapter: values.adapter } : {});
const timer = await createTimer(device);
const operands = new Map<string, Promise<TrialOperands>>();
const results: object[] = readCublas(values.cublas);
const fastest = new Map<string, TuningEntry>();

const ready: Ready[] = [];
const all = jobs.flatMap(job => paramsOf(job).map(params => ({ job, params })));
const compiled = inAdvance(all, ({ job, params }) => compile(job, params));
for (const [index, { job, params }] of all.entries()) {
  try {
    const shared = await operandsOf(job);
    ready.push({ job, params, trial: await prepareTrial(shared, () => compiled(index)) });
  } catch (error) {
    results.push({ ...describe(job, params), failure: (error as Error).message });
  }
  console.error(`${ready.length} ready: ${job.kernel} ${job.shape.join('×')} ${JSON.stringify(params)}`);
}

const software = profile.software ? { minWarmUp: 0, maxWarmUp: 0, minTime: 20 } : { minTime: 120 };
const whole = await measureTogether(
  timer,
  ready.map(({ trial }) => trial),
  software,
);
for (const [index, { job, params, trial }] of ready.entries()) {
  const { passes, verdict } = trial;
  const { ms, spread } = whole[index];
  const each = passes.map((_, only) => ({
    encode: (pass: GPUComputePassEncoder) => trial.encode(pass, only),
  }));
  const parts =
    passes.length > 1 ? await measureTogether(timer, each, { ...software, minTime: 20, minWarmUp: 0 }) : [];
  const tflops = operations(problemOf(job)) / ms / 1e9;
  const { relErr } = verdict;
  const known = fastest.get(keyOf(job));
  if (verdict.failure === null && !(known && known.ms <= ms)) {
    const { kernel } = job;
    fastest.set(keyOf(job), { ...tunedProblem(problemOf(job)), kernel, params, ms, spread, tflops, relErr });
  }
  results.push({
    ...describe(job, params),
    ms,
    spread,
    tflops,
    relErr,
    worst: verdict.worst,
    failure: verdict.failure,
    passes: parts.map((part, i) => ({ label: passes[i], ms: part.ms })),
    timer: timer.kind,
    robustness: true,
  });
}
const adapter = recordAdapter(profile);
const schema = 'webgemm-kernels/1';
const date = new Date().toISOString();
console.log(JSON.stringify({ schema, date, adapter, runtime, results }, null, 1));
if (values.tuning) {
  const entries = [...fastest.values()];
  const record: TuningRecord = {
    schema: SCHEMA,
    date,
    adapter: tuningAdapter(profile),
    runtime: describeRuntime(runtime),
    entries,
  };
  writeFileSync(values.tuning, `${JSON.stringify(record, null, 1)}\n`);
}
timer.destroy();
close();

function describe(job: Job, params: Params) {
  const { kernel, shape, batch = 1, transA = false, transB = false, type } = job;
  const { type: cType } = problemOf(job).c;
  return {
    ...{ group: 'ours', name: kernel, kernel, dtype: type, cType, accuracy: 'f32' },
    ...{ shape, batch, transA, transB, params },
  };
}

/** Jobs of one problem have one key. */
function keyOf({ shape, batch, transA, transB, type, cType }: Job): string {
  return JSON.stringify([shape, batch, transA, transB, type, cType]);
}

function problemOf({ shape: [m, n, k], batch = 1, transA = false, transB = false, type, cType }: Job) {
  return normalize({ m, n, k, batch, transA, transB, type, cType: cType ?? (type === 'i8' ? 'i32' : 'f32') });
}

function kernelOf({ kernel }: Job) {
  const found = KERNELS.find(({ name }) => name === kernel);
  if (!found) throw new Error(`there is no kernel "${kernel}"`);
  return found;
}

function paramsOf(job: Job): readonly Params[] {
  return job.params
    ? [job.params]
    : kernelOf(job)
        .candidates(problemOf(job), profile)
        .slice(0, job.candidates ?? 1);
}

/** Jobs of one problem share its operands. */
function operandsOf(job: Job): Promise<TrialOperands> {
  const key = keyOf(job);
  const shared = operands.get(key) ?? TrialOperands.create(device, problemOf(job));
  operands.set(key, shared);
  return shared;
}

async function compile(job: Job, params: Params): Promise<Subject> {
  return candidateSubject(await operandsOf(job), profile, { kernel: kernelOf(job), params });
}

/** Starts a dozen items before they are asked for: a driver compiles on several threads, while others are checked. */
function inAdvance<Item, Result>(items: readonly Item[], start: (item: Item) => Promise<Result>) {
  const started: Promise<Result>[] = [];
  return (index: number): Promise<Result> => {
    while (started.length < Math.min(items.length, index + 12)) {
      const result = start(items[started.length]);
      result.catch(() => {}); // whoever asks for it gets the reason
      started.push(result);
    }
    return started[index];
  };
}

function readCublas(file: string | undefined): object[] {
  if (!file) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line.startsWith('{'));
  return lines.map(line => {
    const { shape, dtype, ms, tflops, rel_err } = JSON.parse(line);
    const name = `cublas-${dtype}`;
    return {
      group: 'cublas',
      name,
      dtype,
      shape: shape.split('x').map(Number),
      batch: 1,
      ms,
      tflops,
      relErr: rel_err,
    };
  });
}
