import { adapterKey, type TuningRecord } from './record.ts';
import type { TuningStore } from './store.ts';

const DATABASE = 'webgemm';
const TABLE = 'tuning';

/**
 * A store in the browser's IndexedDB, for pages and workers of one origin. Its promises reject where the browser keeps
 * nothing, as some do in private windows.
 */
export function indexedDBStore(): TuningStore {
  return {
    load: adapter =>
      inTable('readonly', table => table.get(adapterKey(adapter))).then(
        found => found ?? null,
      ) as Promise<TuningRecord | null>,
    save: async record => {
      await inTable('readwrite', table => table.put(record, adapterKey(record.adapter)));
    },
  };
}

/** Whether there is an IndexedDB here: not in Node, and not on every page. */
export function hasIndexedDB(): boolean {
  try {
    return Boolean(globalThis.indexedDB);
  } catch {
    return false; // some browsers throw where a page may store nothing
  }
}

/** Opens the database, does one thing in it, and closes it again: an open one keeps other versions from upgrading it. */
async function inTable(
  mode: IDBTransactionMode,
  work: (table: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
  const database = await settled(opening);
  try {
    return await settled(work(database.transaction(TABLE, mode).objectStore(TABLE)));
  } finally {
    database.close();
  }
}

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
