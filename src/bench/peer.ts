/** What the bench asks of another library that multiplies matrices; bench/peers/ has those. */
import type { HostArray } from '../device/buffers.ts';

/** A plain product C = op(A)·op(B), dense, C of A's type. */
export interface PeerProblem {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: number;
  readonly type: 'f32' | 'f16';
  readonly transA: boolean;
  readonly transB: boolean;
}

/** The GPU that a peer is to use: the device itself, or `gpu` to open one of its own. */
export interface PeerGpu {
  readonly device: GPUDevice;
  readonly gpu: GPU;
  /** Whether the CPU does the work. */
  readonly software: boolean;
}

export interface Peer {
  /** As in records: `tensorflow`, `onnx-web`, … */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  /** The version of the package that is measured. */
  readonly version: string;
  /** Whether its shaders run with robust buffer access, as a browser's do. */
  readonly robustness: boolean;
  /** Why it can't compute this; null where it can. */
  rejects(problem: PeerProblem): string | null;
  /**
   * Loads the library and gets it ready for a GPU. Once in a process.
   *
   * @throws Error with one line that says why it can't be had here, and how to install what is missing
   */
  open(gpu: PeerGpu): Promise<void>;
  /** Brings A and B to the GPU, half floats as bits, and gets the product compiled. */
  prepare(problem: PeerProblem, a: HostArray, b: HostArray): Promise<PeerProduct>;
  /** Gives back a device of its own. */
  close(): void;
}

/** A product that is ready to run. */
export interface PeerProduct {
  /** Enqueues the product so many times; results stay on the GPU. */
  run(times: number): void | Promise<void>;
  /** Until the GPU is done with everything that was enqueued. */
  wait(): Promise<unknown>;
  /** Runs it once more, and gives C row by row. */
  read(): Promise<Float32Array>;
  /** Gives back A, B and C. */
  destroy(): void | Promise<void>;
}
