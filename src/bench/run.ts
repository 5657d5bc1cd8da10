/**
 * Runs a bench. Jobs are taken in groups that fit into memory: all of a group is compiled and verified first, and then
 * all of it is measured without a pause, because a GPU's clock falls while the CPU works (measure/measure.ts).
 */
import type { Gemm } from '../gemm.ts';
import {
  type Measurement,
  type MeasureOptions,
  measureTogether,
  sampleTogether,
} from '../measure/measure.ts';
import type { Timer } from '../measure/timer.ts';
import { TrialOperands } from '../trial/operands.ts';
import { blankOf, bytesOf, type Job, operandsKey, problemOf, speedOf } from './job.ts';
import { type Ours, prepareOurs } from './ours.ts';
import type { Peer } from './peer.ts';
import type { BenchResult } from './record.ts';
import { asProduct, byWallClock, prepareRival, type Rival } from './rivals.ts';

export type BenchPhase = 'preparing' | 'measuring';

export interface BenchOptions {
  readonly jobs: readonly Job[];
  /** What ours is called in the results; `webgemm` if left out. */
  readonly name?: string;
  /** Libraries to run beside ours, opened. With any, ours is timed by the wall clock, too, as they are. */
  readonly peers?: readonly Peer[];
  readonly timer: Timer;
  /** How long to warm up, for each group, and to measure, for each job. */
  readonly times: MeasureOptions;
  /** Bytes of operands to hold at once, for each contestant; 4 GiB if left out. */
  readonly memory?: number;
  /** Milliseconds since the time origin after which no job is begun any more. */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
  /** Called when a job enters a phase; `what` is a peer's name where that is prepared. */
  readonly onPhase?: (job: Job, phase: BenchPhase, what: string) => void;
  /** Called for each result, when it is complete. */
  readonly onResult?: (result: BenchResult, job: Job) => void;
}

/** A job that has operands, ours and the peers'. */
interface Entry {
  readonly job: Job;
  readonly operands: TrialOperands;
  ours: Ours;
  rivals: readonly Rival[];
}

/** Whatever fails is a result with its reason. @throws the signal's reason */
export async function bench(gemm: Gemm, options: BenchOptions): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  const add = (job: Job, result: BenchResult) => {
    results.push(result);
    options.onResult?.(result, job);
  };
  for (const group of groups(options.jobs, options.memory ?? 2 ** 32)) {
    const operands = new Map<string, TrialOperands>();
    const entries: Entry[] = [];
    try {
      for (const job of group) {
        options.signal?.throwIfAborted();
        try {
          entries.push(await prepare(gemm, job, operands, options));
        } catch (error) {
          add(job, { ...blankOf(job, 'ours', options.name ?? 'webgemm'), failure: (error as Error).message });
        }
      }
      options.signal?.throwIfAborted();
      const measured = await measureGroup(gemm, entries, options);
      options.signal?.throwIfAborted();
      for (const { entry, result } of measured) add(entry.job, result);
    } finally {
      for (const { ours, rivals } of entries) {
        ours.trial?.destroy();
        for (const { product } of rivals) await product?.destroy();
      }
      for (const it of operands.values()) it.destroy();
    }
  }
  return results;
}

async function prepare(
  gemm: Gemm,
  job: Job,
  shared: Map<string, TrialOperands>,
  { name = 'webgemm', peers = [], deadline = Number.POSITIVE_INFINITY, signal, onPhase }: BenchOptions,
): Promise<Entry> {
  if (performance.now() > deadline) throw new Error('there was no time left for it');
  onPhase?.(job, 'preparing', '');
  const key = operandsKey(job);
  const operands = shared.get(key) ?? (await TrialOperands.create(gemm.device, problemOf(job)));
  shared.set(key, operands);
  const ours = await prepareOurs(gemm, operands, job, name);
  const rivals: Rival[] = [];
  for (const peer of peers) {
    if (signal?.aborted) break; // no error, so that what is prepared is destroyed as ever
    onPhase?.(job, 'preparing', peer.title);
    rivals.push(await prepareRival(peer, job, operands));
  }
  return { job, operands, ours, rivals };
}

/** A group's results: ours by the device's own clock, then each job's contestants by the wall clock. */
async function measureGroup(
  { device }: Gemm,
  entries: readonly Entry[],
  { timer, times, peers = [], signal, onPhase }: BenchOptions,
): Promise<{ entry: Entry; result: BenchResult }[]> {
  const found: { entry: Entry; result: BenchResult }[] = [];
  const ready = entries.filter(({ ours }) => ours.trial);
  for (const { job } of ready) onPhase?.(job, 'measuring', '');
  const options = { ...times, ...(signal ? { signal } : {}) };
  const stamped = await orReason(
    ready,
    measureTogether(
      timer,
      ready.map(({ ours }) => ours.trial!),
      options,
    ),
  );
  for (const entry of entries) {
    const { ours, operands } = entry;
    const measured = stamped[ready.indexOf(entry)];
    const result = measured
      ? { ...ours.result, ...timed(measured, operands), timer: timer.kind }
      : ours.result;
    found.push({ entry, result });
  }
  if (peers.length === 0) return found;
  // The GPU is warm by now.
  const warm = { ...options, minWarmUp: 0, maxWarmUp: Math.min(500, times.maxWarmUp ?? 500) };
  for (const entry of entries) {
    const { job, ours, rivals, operands } = entry;
    onPhase?.(job, 'measuring', 'peers');
    const contestants = [
      ...(ours.trial ? [{ result: ours.result, product: asProduct(device, ours.trial) }] : []),
      ...rivals.filter(({ product }) => product),
    ];
    const measured = await orReason(
      contestants,
      sampleTogether(
        contestants.map(({ product }) => byWallClock(product!, operands.problem)),
        warm,
      ),
    );
    contestants.forEach(({ result }, i) => {
      found.push({ entry, result: { ...result, ...timed(measured[i], operands), timer: 'wall-clock' } });
    });
    for (const { result, product } of rivals) if (!product) found.push({ entry, result });
  }
  return found;
}

/** What can't be measured, such as on a device that was lost, is a reason for all that were measured together. */
const orReason = (works: readonly unknown[], measured: Promise<Measurement[]>) =>
  measured.catch((error: Error) => works.map(() => error));

function timed(measured: Measurement | Error, { problem }: TrialOperands): Partial<BenchResult> {
  if (measured instanceof Error) return { failure: measured.message };
  const { ms, spread } = measured;
  return { ms, spread, ...speedOf(problem, ms) };
}

/** Jobs in their order, in groups whose operands fit into so many bytes; at least one in each. */
function groups(jobs: readonly Job[], memory: number): readonly (readonly Job[])[] {
  const all: Job[][] = [];
  let used = Number.POSITIVE_INFINITY;
  let keys = new Set<string>();
  for (const job of jobs) {
    const key = operandsKey(job);
    const bytes = keys.has(key) ? 0 : bytesOf(problemOf(job));
    if (used + bytes > memory) {
      all.push([]);
      [used, keys] = [0, new Set()];
    }
    all.at(-1)!.push(job);
    used += bytes;
    keys.add(key);
  }
  return all;
}
