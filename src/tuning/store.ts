/** Where tuning records are kept between runs. */
import { adapterKey, type TuningAdapter, type TuningRecord } from './record.ts';

/**
 * Keeps tuning records, one for each adapter. What can't be read or written is the store's to report by a rejection: a
 * Gemm then works without it.
 */
export interface TuningStore {
  /** The record of an adapter, or null. It is checked before it is used. */
  load(adapter: TuningAdapter): Promise<TuningRecord | null>;
  /** Keeps a record in place of the one of its adapter. */
  save(record: TuningRecord): Promise<void>;
}

/** A store that lasts as long as the page or process. */
export function memoryStore(): TuningStore {
  const records = new Map<string, TuningRecord>();
  return {
    load: async adapter => records.get(adapterKey(adapter)) ?? null,
    save: async record => {
      records.set(adapterKey(record.adapter), record);
    },
  };
}
