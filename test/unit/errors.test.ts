import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GEMM_ERROR_CODES, GemmError } from '../../src/errors.ts';

test('docs/errors.md lists every code, once, and no other', () => {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const listed = [...text.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, code]) => code);
  expect(listed).toEqual([...GEMM_ERROR_CODES]);
});

test('an error has a code, a message, a hint and a cause', () => {
  const cause = new Error('deep down');
  const error = new GemmError('too-large', 'much too large', 'Take less.', { cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'GemmError', code: 'too-large', hint: 'Take less.', cause });
  expect(String(error)).toBe('GemmError: much too large');
  expect(new GemmError('no-gpu', 'none').hint).toBe('');
});
