/** What every kind of record is brought to, and the words that they share. Pure. */
import type { RecordAdapter, RecordRuntime } from '../../ladder/record.ts';

/** One figure, and what stands behind it. What is not known is null. */
export interface Figure {
  /** What was multiplied, or by which rung. */
  readonly what: string;
  /** Whose figure it is, where a record has several for one product: `webgemm`, `TensorFlow.js`; else empty. */
  readonly who: string;
  /** How it was computed, in a few words. */
  readonly how: string;
  readonly gflops: number | null;
  /** Milliseconds. */
  readonly ms: number | null;
  readonly spread: number | null;
  readonly relErr: number | null;
  /** How many times as fast webgemm is, timed in the same way; null for webgemm itself. */
  readonly behind: number | null;
  /** Why there is no figure, or what is wrong with it. */
  readonly failure: string | null;
}

export interface Summary {
  readonly kind: 'Ladder' | 'Race' | 'Bench' | 'Tuning';
  /** What was measured: `Race, 1024×1024×1024 f32`. */
  readonly title: string;
  /** The GPU, as far as the record tells it. */
  readonly device: string;
  readonly driver: string;
  /** Where it ran: `Chrome 147 on Linux`. */
  readonly runtime: string;
  /** ISO 8601. */
  readonly date: string;
  /** How it was timed; empty where the record does not say. */
  readonly clock: string;
  readonly figures: readonly Figure[];
  /** A sentence to stand below the figures; empty where there is nothing to add. */
  readonly remark: string;
}

/** `register tile · bm 64, bn 64` */
export const kernelWords = (kernel: string, params: Readonly<Record<string, unknown>> | null): string =>
  [
    kernel,
    Object.entries(params ?? {})
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  ]
    .filter(Boolean)
    .join(' · ');

/** Where and when a record was made. */
export const originOf = ({
  adapter,
  runtime,
  date,
}: {
  readonly adapter: RecordAdapter;
  readonly runtime: RecordRuntime;
  readonly date: string;
}): Pick<Summary, 'device' | 'driver' | 'runtime' | 'date'> => ({
  device: `${deviceName(adapter)}${adapter.software ? ' (a software GPU)' : ''}`,
  driver: adapter.description,
  runtime: runtimeName(runtime),
  date,
});

export const clockName = (timer: string): string =>
  timer === 'gpu-timestamp' ? 'GPU timestamps' : timer === 'wall-clock' ? 'the wall clock' : timer;

/** Browsers tell an architecture, such as `metal-3`, and no device. */
export function deviceName(
  adapter: Pick<RecordAdapter, 'vendor' | 'architecture' | 'device' | 'description'>,
): string {
  const { vendor, architecture, device, description } = adapter;
  const told = device.replace(/-+$/, '') || [vendor, architecture].filter(Boolean).join(' ');
  return told || description || 'unknown GPU';
}

function runtimeName({ name, version, dawn, platform }: RecordRuntime): string {
  const words = name.charAt(0).toUpperCase() + name.slice(1);
  // Browsers have long versions, of which the first number says all.
  return dawn
    ? `${words} ${version}, Dawn ${dawn}, ${platform}`
    : `${words} ${version.split('.')[0]} on ${platform}`;
}
