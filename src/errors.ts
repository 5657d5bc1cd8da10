/** What went wrong, as a stable word that a program can branch on. docs/errors.md lists them all. */
export type GemmErrorCode =
  | 'invalid-argument'
  | 'invalid-size'
  | 'shape-mismatch'
  | 'too-large'
  | 'unsupported'
  | 'no-gpu'
  | 'compilation-failed'
  | 'out-of-memory'
  | 'device-lost'
  | 'invalid-file';

/** Every error that webgemm throws on purpose: a code, what was wrong, and what to do about it. */
export class GemmError extends Error {
  readonly code: GemmErrorCode;
  /** What the caller can do, as one sentence; empty where there is nothing to do. */
  readonly hint: string;

  constructor(code: GemmErrorCode, message: string, hint = '', options?: ErrorOptions) {
    super(message, options);
    this.name = 'GemmError';
    this.code = code;
    this.hint = hint;
  }
}
