/** Reads records that come from files, and says what is wrong with those that are none. Pure. */
import { GemmError } from '../../errors.ts';
import type { LadderRecord } from '../../ladder/record.ts';

/** A record by its `schema`; another kind is another line here and a reader in READERS. */
export type PageRecord = LadderRecord;

const READERS: { readonly [Schema in PageRecord['schema']]: (at: Reader) => void } = {
  'webgemm-ladder/1': checkLadder,
};

/**
 * The records in a file's text: one record, or a list of them.
 *
 * @throws GemmError `invalid-file` that names the file and the first place that is wrong
 */
export function parseRecords(text: string, file: string): PageRecord[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new GemmError('invalid-file', `${file} is not JSON`, WHAT_TO_DO, { cause });
  }
  return Array.isArray(content)
    ? content.map((one, index) => parseRecord(one, `${file}, record ${index + 1}`))
    : [parseRecord(content, file)];
}

/** @throws GemmError `invalid-file` */
export function parseRecord(content: unknown, file: string): PageRecord {
  const at = new Reader(content, file, '');
  const schema = at.field('schema').text();
  const check = READERS[schema as PageRecord['schema']];
  if (!check) {
    at.field('schema').fail(`is "${schema}" and this page reads ${Object.keys(READERS).join(', ')}`);
  }
  check(at);
  return content as PageRecord;
}

function checkLadder(at: Reader): void {
  const date = at.field('date');
  if (Number.isNaN(Date.parse(date.text()))) date.fail('is no date');
  at.field('version').text();
  const adapter = at.field('adapter');
  for (const name of ['vendor', 'architecture', 'device', 'description']) adapter.field(name).text();
  adapter.field('software').is('boolean', 'true or false');
  for (const feature of adapter.field('features').list()) feature.text();
  adapter.field('limits').is('object', 'an object');
  for (const name of ['name', 'version', 'platform']) at.field('runtime').field(name).text();
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

const WHAT_TO_DO = 'Open a file that this page or the command wrote, such as with `webgemm ladder --json`.';

/** A place in a document, which can say what is wrong with it. */
class Reader {
  readonly #value: unknown;
  readonly #file: string;
  readonly #path: string;

  constructor(value: unknown, file: string, path: string) {
    this.#value = value;
    this.#file = file;
    this.#path = path;
  }

  fail(what: string): never {
    const place = this.#path ? `${this.#path} ${what}` : `it ${what}`;
    throw new GemmError('invalid-file', `${this.#file} can't be read: ${place}`, WHAT_TO_DO);
  }

  is(type: 'string' | 'number' | 'boolean' | 'object', words: string): void {
    if (this.#value === undefined) this.fail('is missing');
    if (typeof this.#value !== type || this.#value === null) this.fail(`is not ${words}`);
  }

  field(name: string): Reader {
    this.is('object', 'an object');
    const value = (this.#value as Record<string, unknown>)[name];
    return new Reader(value, this.#file, this.#path ? `${this.#path}.${name}` : name);
  }

  list(): Reader[] {
    if (!Array.isArray(this.#value)) this.fail('is not a list');
    return this.#value.map((value, index) => new Reader(value, this.#file, `${this.#path}[${index}]`));
  }

  text(): string {
    this.is('string', 'a text');
    return this.#value as string;
  }

  textOrNull(): void {
    if (this.#value !== null) this.text();
  }

  numberOrNull(): void {
    if (this.#value !== null) this.is('number', 'a number or null');
  }

  size(): void {
    if (!Number.isSafeInteger(this.#value) || Number(this.#value) < 1)
      this.fail('is not a whole number from 1 up');
  }

  oneOf(words: readonly string[]): void {
    if (!words.includes(this.text())) this.fail(`is none of ${words.join(', ')}`);
  }
}
