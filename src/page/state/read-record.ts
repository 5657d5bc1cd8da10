/** Reads records that come from files, and says what is wrong with those that are none. Pure. */
import type { BenchRecord } from '../../bench/record.ts';
import type { LadderRecord } from '../../ladder/record.ts';
import { readTuningRecord, type TuningRecord } from '../../tuning/record.ts';
import { Reader, unreadable } from './reader.ts';

/** A record by its `schema`; another kind is another line here and a reader in READERS. */
export type PageRecord = LadderRecord | BenchRecord | TuningRecord;

const READERS: { readonly [Schema in PageRecord['schema']]: (at: Reader, content: unknown) => void } = {
  'webgemm-ladder/1': checkLadder,
  'webgemm-bench/1': checkBench,
  'webgemm-tuning/1': (_, content) => readTuningRecord(content),
};

/**
 * The records in a file's text: one record, or a list of them.
 *
 * @throws GemmError `invalid-file` that names the file and the first place that is wrong
 */
export function parseRecords(text: string, file: string): PageRecord[] {
  const content = parseJson(text, file);
  return Array.isArray(content)
    ? content.map((one, index) => parseRecord(one, `${file}, record ${index + 1}`))
    : [parseRecord(content, file)];
}

/** @throws GemmError `invalid-file` */
export function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(file, 'is not JSON', cause);
  }
}

/** @throws GemmError `invalid-file` */
export function parseRecord(content: unknown, file: string): PageRecord {
  const at = new Reader(content, file);
  const schema = at.field('schema').text();
  if (!Object.hasOwn(READERS, schema)) {
    at.field('schema').fail(`is "${schema}" and this page reads ${Object.keys(READERS).join(', ')}`);
  }
  try {
    READERS[schema as PageRecord['schema']](at, content);
  } catch (error) {
    // The tuner's own reader knows no file.
    const { message } = error as Error;
    if (message.startsWith(file)) throw error;
    throw unreadable(file, `can't be read: ${message}`, error);
  }
  return content as PageRecord;
}

function checkLadder(at: Reader): void {
  checkOrigin(at);
  at.field('version').text();
  for (const name of ['m', 'n', 'k']) at.field('problem').field(name).size();
  at.field('timer').field('kind').text();
  for (const rung of at.field('rungs').list()) {
    for (const name of ['rung', 'id']) rung.field(name).text();
    rung.field('status').oneOf(['ok', 'unsupported', 'wrong', 'failed']);
    for (const name of ['ms', 'spread', 'gflops', 'relErr', 'worst', 'compileMs', 'overBelow', 'overFirst']) {
      rung.field(name).numberOrNull();
    }
    for (const name of ['reason', 'detail']) rung.field(name).textOrNull();
    for (const pass of rung.field('prepare').list()) {
      pass.field('label').text();
      pass.field('ms').is('number', 'a number');
    }
  }
}

function checkBench(at: Reader): void {
  checkOrigin(at);
  at.field('machine').text();
  at.field('versions').is('object', 'an object');
  for (const result of at.field('results').list()) {
    result.field('group').oneOf(['ours', 'peer', 'cublas', 'ceiling', 'ladder']);
    result.field('name').text();
    for (const name of ['dtype', 'accuracy', 'kernel', 'timer', 'failure']) result.field(name).textOrNull();
    for (const name of ['ms', 'spread', 'tflops', 'gbps', 'relErr', 'worst']) {
      result.field(name).numberOrNull();
    }
    const shape = result.field('shape');
    if (!shape.isNull) {
      const sizes = shape.list();
      if (sizes.length !== 3) shape.fail('is not m, n and k');
      for (const size of sizes) size.size();
    }
    result.field('batch').size();
    for (const name of ['transA', 'transB']) result.field(name).is('boolean', 'true or false');
  }
}

/** Where and when: the same in ladders and benches. */
function checkOrigin(at: Reader): void {
  at.field('date').date();
  const adapter = at.field('adapter');
  for (const name of ['vendor', 'architecture', 'device', 'description']) adapter.field(name).text();
  adapter.field('software').is('boolean', 'true or false');
  for (const feature of adapter.field('features').list()) feature.text();
  adapter.field('limits').is('object', 'an object');
  for (const name of ['name', 'version', 'platform']) at.field('runtime').field(name).text();
}
