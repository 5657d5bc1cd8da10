/** The product to race on: presets, what was typed, and what is wrong with it. Pure. */
import { bytes } from '../../../figures.ts';
import type { Shape } from '../../../ladder/rung.ts';
import type { Profile } from '../../../profile.ts';
import { describeShape } from '../../../trial/shapes.ts';
import type { RaceInput } from '../../gpu/jobs/race.ts';

/** Sizes as they were typed. */
export interface Typed {
  readonly m: string;
  readonly n: string;
  readonly k: string;
}

export type RaceType = RaceInput['type'];

interface Preset extends Shape {
  readonly words: string;
}

const preset = (m: number, n: number, k: number, words = ''): Preset => ({ m, n, k, words });

const REAL = [
  ...[256, 512, 1024, 2048, 4096].map(size => preset(size, size, size)),
  preset(1, 4096, 4096, 'a token through a layer'),
  preset(128, 4096, 4096, 'a prompt through a layer'),
  preset(2048, 14336, 4096, 'a long prompt'),
  preset(16384, 128, 1024, 'tall'),
  preset(128, 128, 16384, 'deep'),
];
const SOFTWARE = [
  preset(64, 64, 64),
  preset(128, 128, 128),
  preset(1, 256, 256, 'a row'),
  preset(32, 32, 1024, 'deep'),
];

export const presets = (software: boolean): readonly Preset[] => (software ? SOFTWARE : REAL);

/** The size that a race begins with. */
export const usual = (software: boolean): Shape => presets(software)[software ? 0 : 2];

export const presetLabel = ({ words, ...shape }: Preset): string =>
  [describeShape(shape), words].filter(Boolean).join(', ');

/** The shape that was typed; null where one of the sizes is none. */
export function shapeOf({ m, n, k }: Typed): Shape | null {
  const sizes = [m, n, k].map(sizeOf);
  if (sizes.includes(null)) return null;
  const [rows, columns, depth] = sizes as number[];
  return { m: rows, n: columns, k: depth };
}

/** What is wrong with a size; undefined where it is right. */
export const sizeProblem = (text: string): string | undefined =>
  sizeOf(text) === null ? 'A whole number from 1 up.' : undefined;

const sizeOf = (text: string): number | null => {
  const size = /^\s*\d{1,7}\s*$/.test(text) ? Number(text) : 0;
  return size > 0 ? size : null;
};

/** Why a GPU has no room for the product: peers bind each matrix as a whole. Null where it has. */
export function roomProblem({ m, n, k }: Shape, type: RaceType, { limits }: Profile): string | null {
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  const size = type === 'f16' ? 2 : 4;
  const [name, needed] = (
    [
      ['A', m * k * size],
      ['B', k * n * size],
      ['C', m * n * size],
    ] as const
  ).reduce((x, y) => (y[1] > x[1] ? y : x));
  return needed > most ? `${name} has ${bytes(needed)}, and this GPU binds ${bytes(most)} at most.` : null;
}
