/** What comes with the library: tuned on GPUs that were at hand, for all GPUs of their families. Pure. */
import type { Params } from '../kernels/kernel.ts';
import type { Accuracy, InputType, OutputType } from '../problem.ts';
import type { Profile } from '../profile.ts';
import type { TuningEntry } from './record.ts';
import { TABLES } from './shipped/index.ts';

/** The entries of problems of one kind. */
export interface ShippedKind {
  readonly types: readonly [a: InputType, b: InputType, c: OutputType];
  /** `N` and `T` for A and B. */
  readonly stored: 'NN' | 'NT' | 'TN' | 'TT';
  readonly accuracy: Accuracy;
  readonly rows: readonly ShippedRow[];
}

/** Sizes, the kernel, its parameters, and the milliseconds it took. */
export type ShippedRow = readonly [
  m: number,
  n: number,
  k: number,
  batch: number,
  kernel: string,
  params: Params,
  ms: number,
];

/** A tuning record in short; scripts/shipped.ts makes it. */
export interface ShippedTable {
  readonly vendor: string;
  /** Found in the architecture or the device's name of every GPU of the family. */
  readonly family: RegExp;
  readonly kinds: readonly ShippedKind[];
}

/** The shipped entries for a device's family, as a record has them. */
export function shippedFor({ vendor, architecture, device }: Profile): readonly TuningEntry[] {
  return TABLES.filter(
    table => table.vendor === vendor && table.family.test(`${architecture} ${device}`),
  ).flatMap(({ kinds }) => kinds.flatMap(kind => kind.rows.map(row => entryOf(kind, row))));
}

function entryOf({ types, stored, accuracy }: ShippedKind, row: ShippedRow): TuningEntry {
  const [m, n, k, batch, kernel, params, ms] = row;
  const [aType, bType, cType] = types;
  return {
    ...{ m, n, k, batch, aType, bType, cType, accuracy, kernel, params, ms },
    ...{ transA: stored[0] === 'T', transB: stored[1] === 'T', layout: 'dense' },
    ...{ spread: 0, tflops: (2 * m * n * k * batch) / ms / 1e9, relErr: null },
  };
}
