/** What a Gemm knows from tuning: the records it was given, those of its stores, and what it measures itself. */
import type { Suggestion } from '../choose.ts';
import { GemmError } from '../errors.ts';
import type { Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import { lookup } from './lookup.ts';
import {
  extended,
  readTuningRecord,
  sameAdapter,
  type TuningAdapter,
  type TuningRecord,
  tuningAdapter,
} from './record.ts';
import type { TuningStore } from './store.ts';
import { hasIndexedDB, indexedDBStore } from './store-indexeddb.ts';

/** Tuning that a Gemm may be given: a record, or a store that has one. */
export type TuningSource = TuningRecord | TuningStore;

export class Knowledge {
  readonly #profile: Profile;
  readonly #store: TuningStore | null;
  #records: readonly TuningRecord[];
  #ignored: readonly string[];

  private constructor(
    profile: Profile,
    store: TuningStore | null,
    records: readonly TuningRecord[],
    ignored: readonly string[],
  ) {
    this.#profile = profile;
    this.#store = store;
    this.#records = records;
    this.#ignored = ignored;
  }

  /** Nothing but what comes with the library. */
  static none(profile: Profile): Knowledge {
    return new Knowledge(profile, null, [], []);
  }

  /**
   * @param given what to know; the browser's IndexedDB where it is undefined and there is one
   *
   * @throws GemmError `invalid-file` for a given record that is none. What a store holds is never an error
   */
  static async load(
    profile: Profile,
    given: TuningSource | readonly TuningSource[] | undefined,
  ): Promise<Knowledge> {
    const sources = given === undefined ? (hasIndexedDB() ? [indexedDBStore()] : []) : [given].flat();
    const adapter = tuningAdapter(profile);
    const records: TuningRecord[] = [];
    const ignored: string[] = [];
    for (const source of sources) {
      const found = isStore(source) ? await loadFrom(source, adapter) : readTuningRecord(source);
      if (typeof found === 'string') ignored.push(found);
      else if (found && !sameAdapter(found.adapter, adapter)) ignored.push(foreign(found.adapter));
      else if (found) records.push(found);
    }
    return new Knowledge(profile, sources.find(isStore) ?? null, records, ignored);
  }

  /** Records that could not be used or kept, each with the reason in a line. */
  get ignored(): readonly string[] {
    return this.#ignored;
  }

  /** What is known of a problem, best first. */
  suggest(problem: Problem): readonly Suggestion[] {
    return lookup(problem, this.#profile, this.#records);
  }

  /** Takes what was just measured before all else, and adds it to what the store holds of its adapter. */
  async learn(record: TuningRecord, store: TuningStore | null = this.#store): Promise<void> {
    const [latest, ...others] = this.#records;
    this.#records = [latest ? extended(latest, record) : record, ...others];
    try {
      if (store) await saveTo(store, record);
    } catch (error) {
      this.#ignored = [...this.#ignored, `the tuning can't be kept: ${(error as Error).message}`];
    }
  }
}

/**
 * Adds a record to what a store holds of its adapter.
 *
 * @throws what the store throws
 */
export async function saveTo(store: TuningStore, record: TuningRecord): Promise<void> {
  const before = await loadFrom(store, record.adapter);
  const kept = before && typeof before !== 'string' && sameAdapter(before.adapter, record.adapter);
  await store.save(kept ? extended(before, record) : record);
}

const isStore = (source: TuningSource): source is TuningStore =>
  typeof (source as Partial<TuningStore> | null)?.load === 'function';

/** What a store has for an adapter, or why that can't be used, in a line. */
async function loadFrom(store: TuningStore, adapter: TuningAdapter): Promise<TuningRecord | string | null> {
  try {
    const found = await store.load(adapter);
    return found && readTuningRecord(found);
  } catch (error) {
    const reason =
      error instanceof GemmError ? error.message : `it can't be read: ${(error as Error).message}`;
    return `the stored tuning is not used: ${reason}`;
  }
}

const foreign = ({ vendor, device, description }: TuningAdapter) =>
  `a tuning record is not used: it is of another GPU, ${device || description || vendor || 'without a name'}`;
