/** The records of this visit: what was measured here, and what was opened from files. */
import { signal } from '@preact/signals';
import { type PageRecord, parseRecords } from './read-record.ts';

export interface Result {
  readonly id: number;
  readonly source: 'measured' | 'imported';
  readonly record: PageRecord;
}

/** The newest last. */
export const results = signal<readonly Result[]>([]);

let next = 0;

export function addResult(record: PageRecord, source: Result['source'] = 'measured'): Result {
  const result = { id: next++, source, record };
  results.value = [...results.value, result];
  return result;
}

export function removeResult(id: number): void {
  results.value = results.value.filter(result => result.id !== id);
}

/**
 * Adds the records of a file; all of them, or none where one is wrong.
 *
 * @throws GemmError `invalid-file`
 */
export async function importFile(file: File): Promise<readonly Result[]> {
  const records = parseRecords(await file.text(), file.name);
  return records.map(record => addResult(record, 'imported'));
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

function fileName({ schema, adapter, date }: PageRecord): string {
  const kind = schema.split('/')[0];
  const gpu = adapter.device || adapter.architecture || adapter.vendor || 'gpu';
  return `${kind}-${gpu}-${date.slice(0, 10)}`.toLowerCase().replace(/[^a-z0-9-]+/g, '-');
}
