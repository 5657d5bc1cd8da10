import type { Shape } from '../../src/ladder/rung.ts';

const shape = (m: number, n: number, k: number): Shape => ({ m, n, k });

/**
 * Sizes at which some rung begins another tile or another step of K: 16 (rungs 2 to 4, and 8s's columns with 4 lanes),
 * 32 (rungs 5 to 8 with 8×8×8 matrices, 8s's rows, and its columns with 8 lanes), 64 (two tiles of those, and 8s's columns with
 * 16 lanes), and the lanes themselves, which are 8s's step of K.
 */
const TILES = [16, 32, 64];
const LANES = [4, 8];

/** Every boundary of every tile and one to each side of it, ragged in one dimension alone and in all. */
const boundaries = TILES.flatMap(tile =>
  [tile - 1, tile, tile + 1].flatMap(size => [
    shape(size, 32, 32),
    shape(32, size, 32),
    shape(32, 32, size),
    shape(size, size, size),
  ]),
);

const steps = LANES.flatMap(lanes => [lanes - 1, lanes, lanes + 1].map(k => shape(32, 32, k)));

const others = [
  [1, 1, 1],
  [1, 1, 70],
  [1, 70, 1],
  [70, 1, 1],
  [2, 2, 2],
  [1, 64, 64],
  [64, 1, 64],
  [64, 64, 1],
  [1, 33, 65],
  [67, 1, 31],
  [33, 47, 1],
  [3, 5, 7],
  [11, 13, 17],
  [19, 23, 29],
  [37, 41, 43],
  [53, 59, 61],
  [70, 2, 35],
  [2, 70, 35],
  [48, 48, 48],
  [64, 32, 16],
  [16, 64, 32],
].map(([m, n, k]) => shape(m, n, k));

const name = ({ m, n, k }: Shape) => `${m}×${n}×${k}`;

/** The shapes by name; small enough for a GPU that is a CPU. */
export const SHAPES: ReadonlyMap<string, Shape> = new Map(
  [...boundaries, ...steps, ...others].map(it => [name(it), it]),
);
