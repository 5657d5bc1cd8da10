/** What went wrong, as stable words that a program can branch on. docs/errors.md says what to do about each. */
export const GEMM_ERROR_CODES = [
  'invalid-argument',
  'invalid-size',
  'shape-mismatch',
  'too-large',
  'unsupported',
  'no-gpu',
  'compilation-failed',
  'out-of-memory',
  'device-lost',
  'invalid-file',
] as const;

/** One of GEMM_ERROR_CODES. */
export type GemmErrorCode = (typeof GEMM_ERROR_CODES)[number];

/** Every error that webgemm throws on purpose: a code, what was wrong, and what to do about it. */
export class GemmError extends Error {
  /** What went wrong, as a word to branch on. */
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
