/** The peers' part in a bench: the same operands, checked as ours are, and the wall clock that all are timed by. */
import type { HostArray } from '../device/buffers.ts';
import { toHalves } from '../float16.ts';
import type { Sampled } from '../measure/measure.ts';
import type { Problem } from '../problem.ts';
import type { TrialOperands } from '../trial/operands.ts';
import type { Trial } from '../trial/trial.ts';
import { blankOf, bytesOf, type Job, peerProblemOf } from './job.ts';
import type { Peer, PeerProduct } from './peer.ts';
import type { BenchResult } from './record.ts';

/** A peer's job: what is known of it, and what to time; no product where it failed. */
export interface Rival {
  readonly result: BenchResult;
  readonly product: PeerProduct | null;
}

/** A peer that is over the tolerance says so in its result, and is timed nevertheless. */
export async function prepareRival(
  peer: Peer,
  job: Job,
  { problem, host, reference }: TrialOperands,
): Promise<Rival> {
  const blank: BenchResult = { ...blankOf(job, 'peer', peer.name), robustness: peer.robustness };
  const given = peerProblemOf(job);
  const reason = given ? peer.rejects(given) : 'it multiplies no integers on a GPU';
  if (!given || reason !== null) return { result: { ...blank, failure: reason }, product: null };
  let product: PeerProduct | null = null;
  try {
    product = await peer.prepare(given, host.a, host.b);
    const c = await product.read();
    const { failure, relErr, worst } = reference.verdict(asElements(c, problem), arithmeticOf(given.type));
    return { result: { ...blank, relErr, worst, failure: failure && `wrong: ${failure}` }, product };
  } catch (error) {
    await product?.destroy();
    return { result: { ...blank, failure: (error as Error).message.split('\n')[0] }, product: null };
  }
}

/** What is asked of a peer is what is asked of us: f32 sums, whatever A and B are. */
const arithmeticOf = (type: 'f32' | 'f16') => (type === 'f32' ? 'f32' : 'matrix-f32');

const asElements = (c: Float32Array, { c: { type } }: Problem): HostArray =>
  type === 'f16' ? toHalves(c) : (c as Float32Array<ArrayBuffer>);

/** A sample lasts this long, so that the wait at its end is a small part of it. */
const SAMPLE_MS = 15;
/** Bytes of results that a sample may leave on the GPU: some peers give each product a C of its own. */
const RESULTS = 2 ** 31;

/** Products enqueued back to back, and one wait, by the wall clock. */
export function byWallClock({ run, wait }: Pick<PeerProduct, 'run' | 'wait'>, problem: Problem): Sampled {
  const most = Math.max(1, Math.min(2000, Math.floor(RESULTS / bytesOf(problem))));
  return {
    async take(repeats) {
      const begin = performance.now();
      await run(repeats);
      await wait();
      return performance.now() - begin;
    },
    repeatsFor: ms => Math.max(1, Math.min(most, Math.ceil(SAMPLE_MS / Math.max(ms, 1e-3)))),
  };
}

/** Products of ours in a submit: the GPU works on some while others are enqueued, as it does with peers. */
const AT_ONCE = 16;

/** A trial of ours as peers are run. */
export const asProduct = (device: GPUDevice, trial: Trial): Pick<PeerProduct, 'run' | 'wait'> => ({
  run(times) {
    for (let done = 0; done < times; done += AT_ONCE) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let i = done; i < Math.min(times, done + AT_ONCE); i++) trial.encode(pass);
      pass.end();
      device.queue.submit([encoder.finish()]);
    }
  },
  wait: () => device.queue.onSubmittedWorkDone(),
});
