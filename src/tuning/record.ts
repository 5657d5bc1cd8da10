/** What tuning leaves behind: which kernel with which parameters was fastest for a problem on a device. Plain data. */
import { GemmError } from '../errors.ts';
import type { Params } from '../kernels/kernel.ts';
import type { Accuracy, InputType, Operand, OutputType, Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';

/** The part of a profile by which a record knows its device again. */
export interface TuningAdapter {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  /** For people: the driver, often with its version. */
  readonly description: string;
}

/** A problem as far as its tuning depends on it: no bias, no activation, no single strides. */
export interface TunedProblem {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: number;
  readonly aType: InputType;
  readonly bType: InputType;
  readonly cType: OutputType;
  readonly transA: boolean;
  readonly transB: boolean;
  readonly accuracy: Accuracy;
  /** `dense`: A and B without gaps, from element 0 on. `strided`: with a row stride, an offset or a batch stride of their own. */
  readonly layout: 'dense' | 'strided';
}

/** The fastest that was found for a problem. */
export interface TuningEntry extends TunedProblem {
  readonly kernel: string;
  readonly params: Params;
  /** Median milliseconds of one run. */
  readonly ms: number;
  /** Interquartile range over the median. */
  readonly spread: number;
  /** Operations a second, in 10^12. */
  readonly tflops: number;
  /** ‖C − ref‖ / ‖ref‖ against float64; null where nothing but zeros was due. */
  readonly relErr: number | null;
}

/** All that is known of a device, as JSON: `webgemm tune` writes it, `createGemm` takes it. */
export interface TuningRecord {
  readonly schema: 'webgemm-tuning/1';
  /** When the last entry was measured, as ISO 8601 in UTC. */
  readonly date: string;
  readonly adapter: TuningAdapter;
  /** What measured it, in a line: Node with Dawn, or a browser. */
  readonly runtime: string;
  /** One for each problem. */
  readonly entries: readonly TuningEntry[];
}

export const SCHEMA = 'webgemm-tuning/1';

export const tuningAdapter = ({ vendor, architecture, device, description }: Profile): TuningAdapter => ({
  vendor,
  architecture,
  device,
  description,
});

/**
 * Whether a record of one adapter holds for the other. Drivers may differ: what no longer works is found by the first-use
 * check. Browsers tell no device, so one that is not told is no difference.
 */
export function sameAdapter(x: TuningAdapter, y: TuningAdapter): boolean {
  const alike = (a: string, b: string) => a === b || a === '' || b === '';
  const named = x.vendor !== '' || (x.device !== '' && x.device === y.device);
  return named && x.vendor === y.vendor && alike(x.architecture, y.architecture) && alike(x.device, y.device);
}

/** A name for an adapter that can be a key of a store or a part of a file's name. */
export const adapterKey = ({ vendor, architecture, device }: TuningAdapter): string =>
  [vendor, architecture, device]
    .filter(Boolean)
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'unknown';

/** The part of a problem that its tuning depends on. */
export function tunedProblem({ m, n, k, batch, a, b, c, accuracy }: Problem): TunedProblem {
  const dense = isDense(a, batch, a.trans ? [k, m] : [m, k]) && isDense(b, batch, b.trans ? [n, k] : [k, n]);
  return {
    ...{ m, n, k, batch },
    ...{ aType: a.type, bType: b.type, cType: c.type },
    ...{ transA: a.trans, transB: b.trans, accuracy },
    layout: dense ? 'dense' : 'strided',
  };
}

const isDense = ({ offset, ld, stride }: Operand, batch: number, [rows, cols]: [number, number]) =>
  offset === 0 && ld === Math.max(1, cols) && (batch === 1 || stride === rows * ld);

/** The fields of TunedProblem that two problems of one kind share. */
const KIND = ['aType', 'bType', 'cType', 'transA', 'transB', 'accuracy', 'layout'] as const;
const SIZES = ['m', 'n', 'k', 'batch'] as const;

export const sameKind = (x: TunedProblem, y: TunedProblem): boolean =>
  KIND.every(name => x[name] === y[name]);

export const sameProblem = (x: TunedProblem, y: TunedProblem): boolean =>
  sameKind(x, y) && SIZES.every(name => x[name] === y[name]);

/** A record with further entries; for a problem that is in both, the newer one counts. */
export function extended(record: TuningRecord, newer: TuningRecord): TuningRecord {
  const kept = record.entries.filter(entry => !newer.entries.some(other => sameProblem(entry, other)));
  return { ...newer, entries: [...kept, ...newer.entries] };
}

/**
 * A record that came from outside: parsed JSON, checked in every field.
 *
 * @throws GemmError `invalid-file` for what is no record, in a line that says which field is wrong
 */
export function readTuningRecord(value: unknown): TuningRecord {
  const record = value as Partial<TuningRecord> | null;
  if (typeof record !== 'object' || record === null) throw refuse('it is no object');
  if (record.schema !== SCHEMA)
    throw refuse(`its schema is ${JSON.stringify(record.schema)}, not "${SCHEMA}"`);
  if (!isText(record.date) || Number.isNaN(Date.parse(record.date))) throw refuse('its date is none');
  if (!isText(record.runtime)) throw refuse('its runtime is no text');
  const { adapter, entries } = record;
  for (const name of ['vendor', 'architecture', 'device', 'description'] as const) {
    if (!isText(adapter?.[name])) throw refuse(`its adapter has no ${name}`);
  }
  if (!Array.isArray(entries)) throw refuse('it has no entries');
  for (const [index, entry] of entries.entries()) {
    const wrong = wrongField(entry);
    if (wrong) throw refuse(`${wrong} of entry ${index} is ${JSON.stringify(entry?.[wrong])}`);
  }
  return record as TuningRecord;
}

const refuse = (reason: string) =>
  new GemmError(
    'invalid-file',
    `this is no tuning record: ${reason}`,
    'Give what `gemm.tune()` or `webgemm tune` made.',
  );

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime = (value: unknown) => Number.isFinite(value) && (value as number) >= 0;
const isFlag = (value: unknown) => typeof value === 'boolean';
const oneOf = (values: readonly string[]) => (value: unknown) => values.includes(value as string);

const FIELDS: Readonly<Record<keyof TuningEntry, (value: unknown) => boolean>> = {
  ...{ m: isCount, n: isCount, k: isCount, batch: isCount },
  aType: oneOf(['f32', 'f16', 'i8', 'u8']),
  bType: oneOf(['f32', 'f16', 'i8', 'u8']),
  cType: oneOf(['f32', 'f16', 'i32']),
  ...{ transA: isFlag, transB: isFlag },
  accuracy: oneOf(['f32', 'strict', 'f16']),
  layout: oneOf(['dense', 'strided']),
  kernel: isText,
  params: value => typeof value === 'object' && value !== null && Object.values(value).every(isCount),
  ...{ ms: isTime, spread: isTime, tflops: isTime },
  relErr: value => value === null || isTime(value),
};

function wrongField(entry: TuningEntry | null | undefined): keyof TuningEntry | undefined {
  const names = Object.keys(FIELDS) as (keyof TuningEntry)[];
  return names.find(name => !FIELDS[name](entry?.[name]));
}
