/** The mapping of every rung, made of the constants and parameters that its WGSL is made of. */
import { tileFor as splitF32Tile } from '../../../kernels/split-f32.ts';
import { tileFor as subgroupMatrixTile } from '../../../kernels/subgroup-matrix.ts';
import { SIDE as SIDE_2 } from '../../../ladder/2-workgroups.ts';
import { SIDE as SIDE_3 } from '../../../ladder/3-coalesced.ts';
import { TILE as TILE_4 } from '../../../ladder/4-shared-memory.ts';
import * as rung5 from '../../../ladder/5-thread-tiling.ts';
import * as rung6 from '../../../ladder/6-unrolled.ts';
import * as rung7 from '../../../ladder/7-vectorized.ts';
import { chooseMatrix, GRID, stepOf } from '../../../ladder/8-subgroup-matrix.ts';
import * as rung8s from '../../../ladder/8s-subgroup-shuffle.ts';
import type { Shape } from '../../../ladder/rung.ts';
import { type Profile, subgroupSizeFor } from '../../../profile.ts';
import type { MatrixTile } from '../../../wgsl/matrix-layout.ts';
import { type Chosen, chosenFor } from './kernels.ts';
import { matrixPipeline } from './matrix-pipeline.ts';
import { matrixTile } from './matrix-tile.ts';
import { oneCell } from './plain.ts';
import { registerTile } from './register-tile.ts';
import { sharedMemory, threadTiling, vectorized } from './staged.ts';
import { matrices, shuffle } from './subgroups.ts';
import type { Mapping } from './trace.ts';

/** A rung's mapping of a shape on a device that the rung runs on. */
type MapRung = (shape: Shape, lanes: number, profile: Profile, chosen: Chosen | null) => Mapping;

const MAPPINGS: Readonly<Record<string, MapRung>> = {
  '1': (shape, lanes) => oneCell(shape, lanes, 1, 'row'),
  '2': (shape, lanes) => oneCell(shape, lanes, SIDE_2, 'row'),
  '3': (shape, lanes) => oneCell(shape, lanes, SIDE_3, 'col'),
  '4': (shape, lanes) => sharedMemory(shape, lanes, TILE_4),
  '5': (shape, lanes) => threadTiling(shape, lanes, rung5, 'as loops'),
  '6': (shape, lanes) => threadTiling(shape, lanes, rung6, 'out'),
  '7': (shape, lanes) => vectorized(shape, lanes, rung7),
  '8s': (shape, lanes) => shuffle(shape, lanes, rung8s),
  '8': (shape, lanes, profile) => {
    const choice = chooseMatrix(profile);
    if ('missing' in choice) throw new RangeError(choice.missing);
    const { M, N, K, componentType, resultComponentType } = choice.config;
    const bytes = { inputs: bytesOf(componentType), result: bytesOf(resultComponentType) };
    return matrices(shape, lanes, { M, N, K, STEP: stepOf(choice.config), GRID, bytes });
  },
  '9': (shape, lanes, _, chosen) => registerTile(shape, lanes, chosen!.params),
  '10': (shape, _, profile, chosen) => {
    const { problem, params } = chosen!;
    return onMatrixUnits(shape, subgroupMatrixTile(problem, profile, params));
  },
  '11': (shape, _, profile, chosen) => {
    const { problem, params } = chosen!;
    return onMatrixUnits(shape, splitF32Tile(problem, profile, params));
  },
};

/** A tile of the library's matrix kernels. */
const onMatrixUnits = (shape: Shape, tile: MatrixTile): Mapping =>
  tile.stages === 2 ? matrixPipeline(shape, tile) : matrixTile(shape, tile);

const bytesOf = (type: string) => (type === 'f32' ? 4 : 2);

/** Lanes of a subgroup where the device does not tell: what most GPUs have. */
const USUAL_LANES = 32;

export const lanesOf = (profile: Profile): number => {
  const subgroup = subgroupSizeFor(profile);
  return 'size' in subgroup ? subgroup.size : USUAL_LANES;
};

/** The rungs that have a picture, by their place in the ladder. */
export const hasMapping = (rung: string): boolean => rung in MAPPINGS;

/**
 * A rung's mapping of a shape whose sizes are multiples of its tile.
 *
 * @param chosen what a rung that is a kernel is given
 */
export const mappingOf = (
  rung: string,
  shape: Shape,
  profile: Profile,
  chosen = chosenFor(rung, shape, profile),
): Mapping => MAPPINGS[rung](shape, lanesOf(profile), profile, chosen);

/** Along a side of C, and along K: small enough to see a cell, large enough to see more than one tile. */
const SIDE = 32;
const MOST = 64;

/** A shape to show a rung's mapping with: two tiles a side where a tile is small, and two steps of K, or more. */
export function pictureShape(rung: string, profile: Profile): Shape {
  const { tile, depth = 2 * tile.k } = mappingOf(rung, { m: 0, n: 0, k: 0 }, profile);
  const side = (tile: number) => (tile >= MOST ? tile : Math.max(2 * tile, SIDE));
  return { m: side(tile.m), n: side(tile.n), k: Math.max(depth, SIDE) };
}
