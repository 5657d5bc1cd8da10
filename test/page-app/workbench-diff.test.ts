import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changesOf, diff, rebase } from '../../src/page/views/workbench/diff.ts';

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 });

test('what is changed by the hunks of a diff is the other text', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const result: string[] = [];
      let done = 0;
      for (const { from, to, at, lines } of diff(before, after)) {
        result.push(...before.slice(done, from));
        expect(result).toHaveLength(at);
        result.push(...lines);
        done = to;
      }
      expect([...result, ...before.slice(done)]).toEqual(after);
    }),
  );
});

test('a diff is empty where texts are the same, and no longer than it must be', () => {
  expect(diff(['a', 'b'], ['a', 'b'])).toEqual([]);
  expect(diff(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'd', 'e'])).toEqual([
    { from: 1, to: 2, at: 1, lines: ['x'] },
    { from: 4, to: 4, at: 4, lines: ['e'] },
  ]);
  expect(changesOf('a\nb\nc', 'a\nc\nd')).toEqual({ changed: [3], removedBefore: [2] });
});

test('an edit is carried over to another original, unless both change the same line', () => {
  const base = 'const K = 64u;\n\nfn main() {\n  a();\n}';
  const theirs = base.replace('64u', '128u');
  const mine = base.replace('a();', 'b();');
  expect(rebase(base, mine, theirs)).toBe(theirs.replace('a();', 'b();'));
  expect(rebase(base, base.replace('64u', '32u'), theirs)).toBeNull();
  expect(rebase(base, theirs, theirs)).toBe(theirs);
  expect(rebase(base, base, theirs)).toBe(theirs);
});

test('rebasing onto the base itself changes nothing', () => {
  fc.assert(
    fc.property(text, text, (base, mine) => {
      const [from, to] = [base.join('\n'), mine.join('\n')];
      expect(rebase(from, to, from)).toBe(to);
    }),
  );
});
