/** What tuning found on this device: kept in this browser, to be saved to a file and read from one. */
import { effect, signal } from '@preact/signals';
import { GemmError } from '../../errors.ts';
import { describeProfile, type Profile } from '../../profile.ts';
import {
  adapterKey,
  extended,
  readTuningRecord,
  sameAdapter,
  type TuningRecord,
  tuningAdapter,
} from '../../tuning/record.ts';
import { indexedDBStore } from '../../tuning/store-indexeddb.ts';
import { device } from './device.ts';
import { parseJson } from './read-record.ts';
import { download } from './results.ts';

/** The record of this device; null where nothing was tuned. */
export const tuning = signal<TuningRecord | null>(null);

/** Why what was tuned lasts no longer than this page; null where the browser keeps it. */
export const notKept = signal<string | null>(null);

effect(() => {
  if (device.value.status === 'ready') loadTuning(device.value.info.profile);
});

async function loadTuning(profile: Profile): Promise<void> {
  try {
    const found = await indexedDBStore().load(tuningAdapter(profile));
    if (found) tuning.value = readTuningRecord(found);
  } catch (error) {
    notKept.value = (error as Error).message;
  }
}

/** Takes what was just tuned, or read from a file, before what was known. */
export async function addTuning(record: TuningRecord): Promise<void> {
  await keep(tuning.value ? extended(tuning.value, record) : record);
}

/** Forgets all that was tuned on this device. */
export async function clearTuning(): Promise<void> {
  if (tuning.value) await keep({ ...tuning.value, entries: [] });
}

async function keep(record: TuningRecord): Promise<void> {
  tuning.value = record;
  try {
    await indexedDBStore().save(record);
    notKept.value = null;
  } catch (error) {
    notKept.value = (error as Error).message;
  }
}

/** Saves the record as the document that `webgemm tune --out` writes. */
export function exportTuning(record: TuningRecord): void {
  const name = `webgemm-tuning-${adapterKey(record.adapter)}.json`;
  download(name, `${JSON.stringify(record, null, 1)}\n`, 'application/json');
}

/**
 * Adds a record from a file.
 *
 * @throws GemmError `invalid-file` for what is no record, or another GPU's
 */
export async function importTuning(file: File, profile: Profile): Promise<TuningRecord> {
  const record = readTuningRecord(parseJson(await file.text(), file.name));
  if (!sameAdapter(record.adapter, tuningAdapter(profile))) {
    const { device: name, architecture, vendor } = record.adapter;
    throw new GemmError(
      'invalid-file',
      `${file.name} was tuned on another GPU, ${name || architecture || vendor}; this one is ${describeProfile(profile)}`,
      WHAT_TO_DO,
    );
  }
  // Under this device's own name: browsers tell less of a GPU than Node does.
  await addTuning({ ...record, adapter: tuningAdapter(profile) });
  return record;
}

const WHAT_TO_DO = 'Open a file that this page exported or `webgemm tune --out` wrote on the same GPU.';
