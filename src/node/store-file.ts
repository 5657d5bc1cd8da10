/** Keeps tuning records in files: one of the caller's, or one for each GPU in the user's cache folder. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { adapterKey, type TuningAdapter, type TuningRecord } from '../tuning/record.ts';
import type { TuningStore } from '../tuning/store.ts';
import { cacheFolder } from './software.ts';

/**
 * A store in a file. `matmul()` and the command use the one in the cache folder; give `createGemm` this one to use it, too.
 *
 * @param path the file, for one GPU's record; if left out, one for each GPU in webgemm's cache folder: WEBGEMM_CACHE, or
 *   `webgemm` in XDG_CACHE_HOME or in ~/.cache
 */
export function fileStore(path?: string): TuningStore {
  const fileOf = (adapter: TuningAdapter) => path ?? tuningFile(adapter);
  return {
    async load(adapter) {
      try {
        return JSON.parse(await readFile(fileOf(adapter), 'utf8')) as TuningRecord;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    async save(record) {
      const file = fileOf(record.adapter);
      // Under another name first: whoever reads it meanwhile finds the old one whole.
      const draft = `${file}.${randomUUID()}.part`;
      await mkdir(dirname(file), { recursive: true });
      try {
        await writeFile(draft, `${JSON.stringify(record, null, 1)}\n`);
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
  };
}

/** Where the record of an adapter lies if no path is given. */
export const tuningFile = (adapter: TuningAdapter): string =>
  join(cacheFolder(), `tuning-${adapterKey(adapter)}.json`);
