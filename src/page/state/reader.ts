/** A place in a document that came from outside, which can say what is wrong with it. Pure. */
import { GemmError } from '../../errors.ts';

const WHAT_TO_DO =
  'Open a file that this page or the command wrote, such as with `webgemm ladder --json`, `webgemm bench --json` or `webgemm tune --out`.';

/** What a file that is no record is refused with. */
export const unreadable = (file: string, what: string, cause?: unknown): GemmError =>
  new GemmError('invalid-file', `${file} ${what}`, WHAT_TO_DO, { cause });

/** Every check throws a GemmError `invalid-file` that names the file and the place. */
export class Reader {
  readonly #value: unknown;
  readonly #file: string;
  readonly #path: string;

  constructor(value: unknown, file: string, path = '') {
    this.#value = value;
    this.#file = file;
    this.#path = path;
  }

  fail(what: string): never {
    throw unreadable(this.#file, `can't be read: ${this.#path || 'it'} ${what}`);
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

  date(): void {
    if (Number.isNaN(Date.parse(this.text()))) this.fail('is no date');
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

  /** Whether there is anything. */
  get isNull(): boolean {
    return this.#value === null;
  }
}
