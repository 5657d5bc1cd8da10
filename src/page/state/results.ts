/** What was measured in this browser, and what was opened from files; kept here until it is removed. */
import { signal } from '@preact/signals';
import { GemmError } from '../../errors.ts';
import { type PageRecord, parseRecord, parseRecords } from './read-record.ts';
import { unreadable } from './reader.ts';

export interface Result {
  /** Grows with the time at which it was added. */
  readonly id: number;
  readonly source: 'measured' | 'imported';
  readonly record: PageRecord;
}

const KEY = 'webgemm.result.';
/** More than any record has; a file of another kind should not keep the page busy. */
const MOST_BYTES = 32 * 2 ** 20;

/** The newest last. */
export const results = signal<readonly Result[]>(stored());

/** Why what was added last is lost when the page is closed; null while results are kept. */
export const notKept = signal<string | null>(null);

// Another tab of the page added or removed some.
addEventListener('storage', ({ key }) => {
  if (key === null || key.startsWith(KEY)) results.value = stored();
});

let last = 0;

export function addResult(record: PageRecord, source: Result['source'] = 'measured'): Result {
  // Tabs that add at the same time must not take the same one.
  last = Math.max(last + 1, Date.now() * 1000 + Math.floor(Math.random() * 1000));
  const result = { id: last, source, record };
  putBack([result]);
  return result;
}

/** Adds results that were removed. */
export function putBack(removed: readonly Result[]): void {
  results.value = [...results.value, ...removed].sort((x, y) => x.id - y.id);
  for (const result of removed) keep(result);
}

export function removeResult(id: number): void {
  results.value = results.value.filter(result => result.id !== id);
  try {
    localStorage.removeItem(KEY + id);
    notKept.value = null; // there is room again, or was no lack of it
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

/**
 * Adds the records of a file; all of them, or none where one is wrong. One that is here already is not added again.
 *
 * @returns what the file holds, as it is here now
 * @throws GemmError `invalid-file`
 */
export async function importFile(file: File): Promise<readonly Result[]> {
  if (file.size > MOST_BYTES) throw unreadable(file.name, 'is too large to be a record: it has over 32 MiB');
  const text = await file.text().catch(cause => {
    throw new GemmError('invalid-file', `${file.name} can't be read`, 'Choose a file, not a folder.', {
      cause,
    });
  });
  const records = parseRecords(text, file.name);
  return records.map(record => find(record) ?? addResult(record, 'imported'));
}

function find(record: PageRecord): Result | undefined {
  const text = JSON.stringify(record);
  return results.value.find(result => JSON.stringify(result.record) === text);
}

/** Saves one record as the document that the command prints, or several as a list of them. */
export function exportRecords(records: readonly PageRecord[]): void {
  const document = records.length === 1 ? records[0] : records;
  const name = records.length === 1 ? fileName(records[0]) : 'webgemm-results';
  download(`${name}.json`, `${JSON.stringify(document, null, 2)}\n`, 'application/json');
}

/** Has the browser save a file. */
export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // Not at once: the browser may only begin to read it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A file's name for a record, without its ending. */
export function fileName({ schema, adapter, date }: PageRecord): string {
  const kind = schema.split('/')[0];
  const gpu = adapter.device || adapter.architecture || adapter.vendor || 'gpu';
  return `${kind}-${gpu}-${date.slice(0, 10)}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function keep({ id, source, record }: Result): void {
  try {
    localStorage.setItem(KEY + id, JSON.stringify({ source, record }));
  } catch (error) {
    const full = error instanceof DOMException && error.name === 'QuotaExceededError';
    notKept.value = full
      ? 'This browser has no more room for results: the newest last only as long as this page. Export what you need, and remove some.'
      : 'This browser keeps nothing for this page: results last only as long as the page. Export what you need.';
  }
}

function stored(): Result[] {
  try {
    return Object.keys(localStorage)
      .filter(key => key.startsWith(KEY))
      .flatMap(key => readStored(Number(key.slice(KEY.length)), localStorage.getItem(key)))
      .sort((x, y) => x.id - y.id);
  } catch {
    return []; // storage is switched off
  }
}

/** None where another version of the page wrote something that this one can't read; it stays for that one. */
function readStored(id: number, text: string | null): Result[] {
  try {
    const { source, record } = JSON.parse(text ?? '') as Omit<Result, 'id'>;
    return [{ id, source, record: parseRecord(record, 'a kept result') }];
  } catch {
    return [];
  }
}
