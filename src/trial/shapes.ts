/** The shapes that are measured and tuned, by name, and how a user writes one. Pure. */
import { GemmError } from '../errors.ts';
import type { ProblemOptions } from '../problem.ts';

/** A product's sizes, and which operands are stored transposed; what a user writes as `MxNxK` or `MxNxKxBATCH`. */
export type TrialShape = Pick<ProblemOptions, 'm' | 'n' | 'k' | 'batch' | 'transA' | 'transB'>;

const shape = (m: number, n: number, k: number, batch = 1): TrialShape => ({
  m,
  n,
  k,
  ...(batch > 1 ? { batch } : {}),
});

const square = [256, 512, 1024, 2048, 4096, 8192].map(size => shape(size, size, size));

const odd = [shape(1000, 1000, 1000), shape(1023, 1025, 1027), shape(4095, 4095, 4095)];

const languageModels = [
  shape(1, 4096, 4096),
  shape(1, 14336, 4096),
  shape(1, 4096, 14336),
  shape(1, 128256, 4096),
  shape(8, 4096, 4096),
  shape(32, 14336, 4096),
  shape(128, 4096, 4096),
  shape(128, 4096, 14336),
  shape(512, 14336, 4096),
  shape(2048, 4096, 4096),
  shape(2048, 14336, 4096),
];

const deep = [shape(64, 64, 65536), shape(128, 128, 16384)];

const tall = [shape(65536, 64, 64), shape(16384, 128, 1024), shape(4096, 512, 512)];

const batched = [shape(512, 512, 64, 32), shape(512, 64, 512, 32), shape(64, 64, 64, 256)];

const transposes = [
  { transA: false, transB: false },
  { transA: false, transB: true },
  { transA: true, transB: false },
  { transA: true, transB: true },
].map(which => ({ ...shape(2048, 4096, 4096), ...which }));

/** Small enough that a GPU that is a CPU does all of them in seconds, one of each kind. */
const quick = [
  shape(128, 128, 128),
  shape(127, 129, 65),
  shape(1, 512, 512),
  shape(32, 32, 2048),
  shape(64, 64, 64, 4),
];

/** Named sets of shapes. `all` is every one but those of `quick`. */
export const SHAPE_SETS = {
  square,
  odd,
  'language-models': languageModels,
  deep,
  tall,
  batched,
  transposes,
  all: [...square, ...odd, ...languageModels, ...deep, ...tall, ...batched, ...transposes.slice(1)],
  quick,
} as const satisfies Readonly<Record<string, readonly TrialShape[]>>;

/**
 * The shapes that a user names: sets and `MxNxK` or `MxNxKxBATCH`, with commas between them; each shape once.
 *
 * @throws GemmError `invalid-argument` for what is neither
 */
export function parseShapes(text: string): readonly TrialShape[] {
  const shapes = text.split(',').flatMap(word => parseOne(word.trim()));
  return [...new Map(shapes.map(it => [describeShape(it), it])).values()];
}

function parseOne(word: string): readonly TrialShape[] {
  if (Object.hasOwn(SHAPE_SETS, word)) return SHAPE_SETS[word as keyof typeof SHAPE_SETS];
  const sizes = word.split(/[x×]/).map(size => (/^\d+$/.test(size) ? Number(size) : Number.NaN));
  const whole = sizes.every(size => Number.isSafeInteger(size) && size > 0);
  if (!whole || sizes.length < 3 || sizes.length > 4) {
    throw new GemmError(
      'invalid-argument',
      `"${word}" is neither a shape nor a set of shapes`,
      `Give MxNxK or MxNxKxBATCH with whole numbers from 1 up, such as 1024x1024x512, or one of ${Object.keys(SHAPE_SETS).join(', ')}.`,
    );
  }
  const [m, n, k, batch] = sizes;
  return [shape(m, n, k, batch)];
}

/** `32 × 512×512×64`, with `TN` behind it where A is stored transposed. */
export function describeShape({ m, n, k, batch = 1, transA, transB }: TrialShape): string {
  const layout = transA || transB ? ` ${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}` : '';
  return `${batch > 1 ? `${batch} × ` : ''}${m}×${n}×${k}${layout}`;
}
