import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blankResult } from '../../src/bench/record.ts';
import { parseRecords } from '../../src/page/state/read-record.ts';

const text = readFileSync(new URL('../../bench/records/h200-ladder.json', import.meta.url), 'utf8');

/** The record with one thing changed. */
function changed(
  change: (record: Record<string, never> & { rungs: Record<string, unknown>[] }) => void,
): string {
  const record = JSON.parse(text);
  change(record);
  return JSON.stringify(record);
}

test('reads what the command writes, alone and as a list', () => {
  expect(parseRecords(text, 'one.json')).toEqual([JSON.parse(text)]);
  expect(parseRecords(`[${text},${text}]`, 'two.json')).toHaveLength(2);
});

test.each([
  ['{', /^x.json is not JSON$/],
  ['3', /it is not an object/],
  ['{}', /schema is missing/],
  [
    changed(record => Object.assign(record, { schema: 'other/1' })),
    /schema is "other\/1" and this page reads/,
  ],
  [changed(record => Object.assign(record, { date: 'soon' })), /date is no date/],
  [changed(record => Object.assign(record.rungs[2], { gflops: '12' })), /rungs\[2\]\.gflops is not a number/],
  [changed(record => Object.assign(record.rungs[0], { status: 'fine' })), /rungs\[0\]\.status is none of ok/],
  [changed(record => Object.assign(record, { rungs: null })), /rungs is not a list/],
  [changed(record => Object.assign(record, { problem: { m: 0, n: 1, k: 1 } })), /problem\.m is not a whole/],
  [`[${text},{}]`, /record 2 can't be read: schema is missing/],
])('%#: a file that is no record says why', (content, message) => {
  expect(() => parseRecords(content, 'x.json')).toThrowError(
    expect.objectContaining({ code: 'invalid-file', message: expect.stringMatching(message) }),
  );
});

/** A bench with one result, as the command prints it. */
function bench(change: Record<string, unknown> = {}): string {
  const { adapter, runtime, date } = JSON.parse(text);
  const result = { ...blankResult('ours', 'webgemm'), shape: [64, 64, 64], dtype: 'f32', ...change };
  const schema = 'webgemm-bench/1';
  return JSON.stringify({ schema, date, machine: 'x', adapter, runtime, versions: {}, results: [result] });
}

const tuning = readFileSync(new URL('../../bench/records/tuning-swiftshader.json', import.meta.url), 'utf8');

test('reads benches and tunings, too', () => {
  const both = parseRecords(`[${bench()},${tuning}]`, 'both.json');
  expect(both).toEqual([JSON.parse(bench()), JSON.parse(tuning)]);
});

test.each([
  [bench({ shape: [64, 64] }), /^x\.json can't be read: results\[0\]\.shape is not m, n and k$/],
  [bench({ shape: [64, 0, 64] }), /results\[0\]\.shape\[1\] is not a whole number/],
  [bench({ tflops: 'fast' }), /results\[0\]\.tflops is not a number or null/],
  [bench({ group: 'others' }), /results\[0\]\.group is none of ours/],
  [JSON.stringify({ ...JSON.parse(tuning), entries: 1 }), /^x\.json can't be read: .*it has no entries$/],
])('%#: a bench or tuning that is broken says why', (content, message) => {
  expect(() => parseRecords(content, 'x.json')).toThrowError(
    expect.objectContaining({ code: 'invalid-file', message: expect.stringMatching(message) }),
  );
});
