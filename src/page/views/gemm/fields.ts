/**
 * What the form holds: texts, as they were typed, as they stand in the page's address, and as the problem that they mean.
 * Pure.
 */
import { GemmError } from '../../../errors.ts';
import {
  type Accuracy,
  type Activation,
  type InputType,
  normalize,
  type OutputType,
  type ProblemOptions,
} from '../../../problem.ts';

/** Every field by its name in the address; empty where the library decides. */
export const DEFAULTS = {
  ...{ m: '1024', n: '1024', k: '1024', batch: '1' },
  /** Types of A, of B where it is another one, and of C. */
  ...{ type: 'f32', bType: '', cType: '', accuracy: 'f32' },
  /** `1` where the operand is stored transposed. */
  ...{ transA: '', transB: '' },
  ...{ alpha: '1', beta: '0', bias: 'none', activation: 'none', clipMin: '0', clipMax: '6' },
  ...{ residual: '', epilogue: '' },
  /** The only kernel to consider, and the device to explain for; this one, where it is empty. */
  ...{ kernel: '', device: '' },
} as const;

export type FieldName = keyof typeof DEFAULTS;
export type Fields = Readonly<Record<FieldName, string>>;
export type FieldErrors = Partial<Record<FieldName, string>>;

export const FIELD_NAMES = Object.keys(DEFAULTS) as readonly FieldName[];

/** What the address says of the fields: those that differ from the defaults. */
export const toParams = (fields: Fields): Record<string, string> =>
  Object.fromEntries(
    FIELD_NAMES.filter(name => fields[name] !== DEFAULTS[name]).map(name => [name, fields[name]]),
  );

/** The fields of an address. What it does not name is the default. */
export const fromParams = (params: URLSearchParams): Fields =>
  Object.fromEntries(FIELD_NAMES.map(name => [name, params.get(name) ?? DEFAULTS[name]])) as Fields;

/** An empty field is no number, and no 0. */
const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));

/** The fields as the library takes them; not checked. */
export function optionsOf(fields: Fields): ProblemOptions {
  const { m, n, k, batch, alpha, beta, type, bType, cType, clipMin, clipMax } = fields;
  return {
    ...{ m: numberOf(m), n: numberOf(n), k: numberOf(k), batch: numberOf(batch) },
    ...{ alpha: numberOf(alpha), beta: numberOf(beta) },
    type: type as InputType,
    ...(bType === '' ? {} : { bType: bType as InputType }),
    ...(cType === '' ? {} : { cType: cType as OutputType }),
    ...{ transA: fields.transA === '1', transB: fields.transB === '1', residual: fields.residual === '1' },
    bias: fields.bias as 'none' | 'row' | 'column',
    activation:
      fields.activation === 'clip'
        ? { clip: [numberOf(clipMin), numberOf(clipMax)] }
        : (fields.activation as Activation),
    accuracy: fields.accuracy as Accuracy,
    ...(fields.epilogue.trim() === '' ? {} : { epilogue: fields.epilogue }),
  };
}

/** Fields that are right or wrong by themselves. */
const ALONE = ['m', 'n', 'k', 'batch', 'alpha', 'beta'] as const;

/** Fields that may be wrong together, the one to be blamed first. */
const TOGETHER = [
  ...(['kernel', 'clipMin', 'alpha', 'beta', 'activation', 'cType', 'bType', 'type', 'accuracy'] as const),
  ...(['batch', 'm', 'n', 'k'] as const),
];

/** What is wrong with numbers that stand alone, each at its field. */
export function errorsAlone(fields: Fields): FieldErrors {
  const errors: FieldErrors = {};
  const numbers = fields.activation === 'clip' ? ([...ALONE, 'clipMin', 'clipMax'] as const) : ALONE;
  for (const name of numbers) {
    if (Number.isNaN(numberOf(fields[name]))) {
      errors[name] = fields[name].trim() === '' ? 'Give a number.' : `“${fields[name].trim()}” is no number.`;
    } else {
      const failure = failureOf(() => normalize(optionsOf({ ...DEFAULTS, [name]: fields[name] })));
      if (failure) errors[name] = textOf(failure);
    }
  }
  return errors;
}

/**
 * The field to blame for what is wrong with all of them together: the first one with whose default it is right.
 *
 * @param attempt throws a GemmError for fields that do not work
 */
export function blamed(fields: Fields, attempt: (fields: Fields) => unknown): FieldName | null {
  return (
    TOGETHER.find(
      name =>
        fields[name] !== DEFAULTS[name] && !failureOf(() => attempt({ ...fields, [name]: DEFAULTS[name] })),
    ) ?? null
  );
}

/** A GemmError as a field shows it: what is wrong, and what would be right. */
export const textOf = ({ message, hint }: GemmError): string => [message, hint].filter(Boolean).join('. ');

/** The GemmError that a piece of work throws, or null. */
export function failureOf(work: () => unknown): GemmError | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof GemmError) return error;
    throw error;
  }
}
