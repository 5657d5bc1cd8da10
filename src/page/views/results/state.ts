/** What the view of results keeps while another one is shown. */
import { signal } from '@preact/signals';
import { importFile, putBack, type Result, removeResult } from '../../state/results.ts';

/** What came of the last import. */
export const imported = signal<{ readonly count: number; readonly errors: readonly unknown[] } | null>(null);

/** What was removed last, and can be brought back. */
export const removed = signal<readonly Result[]>([]);

/** Files that are wrong do not keep the others from being opened. */
export async function importAll(files: Iterable<File>): Promise<void> {
  const errors: unknown[] = [];
  let count = 0;
  for (const file of files) {
    try {
      count += (await importFile(file)).length;
    } catch (error) {
      errors.push(error);
    }
  }
  imported.value = { count, errors };
}

export function remove(gone: readonly Result[]): void {
  for (const { id } of gone) removeResult(id);
  removed.value = gone;
  imported.value = null;
}

export function undo(): void {
  putBack(removed.value);
  removed.value = [];
}
