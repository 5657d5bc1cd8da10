/**
 * A rough model of a kernel's time, for ranking kernels that were not measured: arithmetic, memory traffic and waiting
 * overlap, so the longest counts; a grid that does not fill the device wastes its share; every dispatch costs a little.
 * The rates are those of no device: only their ratios matter, and tuning replaces all of it.
 */
const RATE = {
  /** Multiply-adds in f32, in operations a millisecond. */
  fma: 50e9,
  /** Matrix units with f16 inputs. */
  matrix: 400e9,
  /** 8-bit dot products. */
  dot: 200e9,
} as const;
const BYTES_PER_MS = 3e9;
const DISPATCH_MS = 0.003;
/** From fetching a step's operands to having multiplied them, where nothing else fills the time. */
const STEP_MS = 0.0006;
/** A step of a pipeline in such steps: it is shorter, and much of it is under way before (wgsl/matrix-pipeline.ts). */
const PIPELINED = 0.4;
/** Share of its speed that a kernel keeps where words are gathered from single elements (1023×1025×1027 on an H200). */
export const GATHERED = 0.45;
/** Threads that keep a large device busy. */
export const THREADS = 64 * 1024;

export interface Cost {
  readonly operations: number;
  readonly unit: keyof typeof RATE;
  /** Share of the unit's rate that the kernel reaches on large problems. */
  readonly efficiency: number;
  /** Bytes through device memory. */
  readonly bytes: number;
  /** Threads of the grid; with matrix units, where half as many fill a device, count each twice. */
  readonly threads: number;
  readonly dispatches: number;
  /** Steps through workgroup memory that a workgroup takes one after the other; 0 if left out. */
  readonly steps?: number;
  /** Whether these are a pipeline's. */
  readonly pipelined?: boolean;
  /** Bytes through device memory in passes of their own; 0 if left out. */
  readonly prepared?: number;
}

export function estimateMs(cost: Cost): number {
  const {
    operations,
    unit,
    efficiency,
    bytes,
    threads,
    dispatches,
    steps = 0,
    pipelined,
    prepared = 0,
  } = cost;
  const busy = Math.min(1, Math.max(threads, 1) / THREADS);
  // A few threads are enough to saturate memory long before they saturate arithmetic.
  const busyMemory = Math.min(1, 4 * busy);
  return (
    dispatches * DISPATCH_MS +
    prepared / BYTES_PER_MS +
    Math.max(
      operations / (RATE[unit] * efficiency * busy),
      bytes / (BYTES_PER_MS * busyMemory),
      steps * STEP_MS * (pipelined ? PIPELINED : 1),
    )
  );
}

/** Parameters by their estimates, each of which is made once. */
export function quickestFirst<P>(candidates: readonly P[], estimate: (params: P) => number): P[] {
  return candidates
    .map(params => ({ params, ms: estimate(params) }))
    .sort((x, y) => x.ms - y.ms)
    .map(({ params }) => params);
}
