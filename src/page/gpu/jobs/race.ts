/** A product by the library and by its peers, as `webgemm bench --peers` does it. A peer is loaded when it races. */
import type { Job as BenchJob, BenchType } from '../../../bench/job.ts';
import type { Peer, PeerGpu } from '../../../bench/peer.ts';
import { type BenchRecord, type BenchResult, benchRecord, blankResult } from '../../../bench/record.ts';
import type { Shape } from '../../../ladder/rung.ts';
import { runtime } from '../runtime.ts';
import type { Job } from './job.ts';

const LOADERS = {
  tensorflow: async () => (await import('../../../../bench/peers/tensorflow.ts')).tensorflow(),
  'onnx-web': async () => (await import('../../../../bench/peers/onnx-web.ts')).onnxWeb(),
  jax: async () => (await import('../../../../bench/peers/jax.ts')).jax(),
} as const satisfies Readonly<Record<string, () => Promise<Peer>>>;

export type PeerName = keyof typeof LOADERS;

export interface RaceInput {
  readonly shape: Shape;
  readonly type: Exclude<BenchType, 'i8'>;
  readonly peers: readonly PeerName[];
}

export interface RaceProgress {
  /** What is being done, for people. */
  readonly label: string;
  /** Steps that are done, of all. */
  readonly step: number;
  readonly steps: number;
}

/** The worker has one device for its whole life, and the peers that were opened on it stay open as long. */
const opened = new Map<PeerName, Peer>();

/** Milliseconds to warm up and to measure. A software GPU has no clock that ramps up, and is slow enough. */
const SOFTWARE = { minWarmUp: 0, maxWarmUp: 0, minTime: 50 } as const;
const GPU = { minWarmUp: 500, maxWarmUp: 3000, minTime: 400 } as const;

export const race: Job<RaceInput, BenchRecord, RaceProgress> = async (context, input, controls) => {
  const { device, profile } = context;
  const { signal, progress } = controls;
  const job: BenchJob = { shape: input.shape, dtype: input.type, accuracy: 'f32' };
  const [gemm, { bench }, { optionsOf }, { createTimer }] = await Promise.all([
    context.gemm(),
    import('../../../bench/run.ts'),
    import('../../../bench/job.ts'),
    import('../../../measure/timer.ts'),
  ]);
  gemm.explain(optionsOf(job)); // throws where the product can't be served, before a peer is loaded

  // Each peer is loaded and prepared; ours is prepared and timed alone; then all of them are timed together.
  const steps = 2 * input.peers.length + 3;
  let step = 0;
  const next = (label: string) => progress({ label, step: step++, steps });
  const peers: Peer[] = [];
  const failures: BenchResult[] = [];
  for (const name of input.peers) {
    signal.throwIfAborted();
    next(`Loading ${name} …`);
    try {
      peers.push(await openPeer(name, { device, gpu: navigator.gpu, software: profile.software }));
    } catch (error) {
      const failure = (error as Error).message.split('\n')[0];
      failures.push({ ...blankResult('peer', name), failure });
      step++;
    }
  }
  const timer = await createTimer(device);
  try {
    const results = await bench(gemm, {
      ...{ jobs: [job], peers, timer, times: profile.software ? SOFTWARE : GPU, signal },
      onPhase: (_, phase, what) => next(labelOf(phase, what)),
    });
    const { name, version } = runtime();
    return benchRecord({
      ...{ profile, runtime: runtime(), machine: profile.device || profile.architecture || profile.vendor },
      versions: {
        ...{ webgemm: WEBGEMM_VERSION, [name]: version },
        ...Object.fromEntries(peers.map(peer => [peer.name, peer.version])),
      },
      results: [...results, ...failures],
    });
  } finally {
    timer.destroy();
  }
};

/** @throws Error with one line that says why it can't be had */
async function openPeer(name: PeerName, gpu: PeerGpu): Promise<Peer> {
  let peer = opened.get(name);
  if (!peer) {
    peer = await LOADERS[name]();
    await peer.open(gpu);
    opened.set(name, peer);
  }
  return peer;
}

const labelOf = (phase: 'preparing' | 'measuring', what: string) =>
  phase === 'preparing'
    ? `${what || 'webgemm'}: compiling, and verifying against float64 …`
    : what
      ? 'Timing all of them in turn …'
      : 'Warming up, and timing webgemm alone …';
