import {
  accessSync,
  closeSync,
  constants,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { GemmError } from '../../errors.ts';

/**
 * A file that appears whole or not at all: it is written under another name and then renamed. It is opened before the
 * work, so that a path that can't be written to is found before a minute was spent on what should go there.
 */
export class OutputFile {
  readonly path: string;
  readonly #draft: string;

  /** @throws GemmError `invalid-argument` where nothing can be written there */
  constructor(path: string) {
    this.path = path;
    const target = resolve(path);
    this.#draft = `${target}.${process.pid}.part`;
    try {
      if (statSync(target, { throwIfNoEntry: false })?.isDirectory()) {
        throw Object.assign(new Error(), { code: 'EISDIR' });
      }
      closeSync(openSync(this.#draft, 'wx'));
      if (statSync(target, { throwIfNoEntry: false })) accessSync(target, constants.W_OK);
    } catch (cause) {
      this.discard();
      throw unwritable(path, cause);
    }
  }

  /** @throws GemmError `invalid-argument` where it can't be written after all, such as on a full disk */
  write(content: string | Uint8Array): void {
    try {
      writeFileSync(this.#draft, content);
      renameSync(this.#draft, resolve(this.path));
    } catch (cause) {
      throw unwritable(this.path, cause);
    } finally {
      this.discard();
    }
  }

  /** Leaves nothing behind; harmless after `write`. */
  discard(): void {
    try {
      rmSync(this.#draft, { force: true });
    } catch {
      // The folder itself is not there: neither is the draft.
    }
  }
}

function unwritable(path: string, cause: unknown): GemmError {
  const reason = fileError(cause);
  const hint = 'Give a path in a folder that exists and that you may write to.';
  return new GemmError('invalid-argument', `${path} can't be written: ${reason}`, hint, { cause });
}

const REASONS: Record<string, string> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ERR_FS_FILE_TOO_LARGE: 'files over 2 GiB are not supported',
};

/** What the system said of a file, in words. */
export function fileError(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}
