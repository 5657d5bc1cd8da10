import { GemmError } from '../errors.ts';
import { naive } from './1-naive.ts';
import { workgroups } from './2-workgroups.ts';
import { coalesced } from './3-coalesced.ts';
import { sharedMemory } from './4-shared-memory.ts';
import { threadTiling } from './5-thread-tiling.ts';
import { unrolled } from './6-unrolled.ts';
import { vectorized } from './7-vectorized.ts';
import { subgroupMatrix } from './8-subgroup-matrix.ts';
import { subgroupShuffle } from './8s-subgroup-shuffle.ts';
import { registerTile } from './9-register-tile.ts';
import { tensorF16 } from './10-tensor-f16.ts';
import { splitF32 } from './11-split-f32.ts';
import type { Rung } from './rung.ts';

/** The ladder, bottom to top. */
export const RUNGS: readonly Rung[] = [
  naive,
  workgroups,
  coalesced,
  sharedMemory,
  threadTiling,
  unrolled,
  vectorized,
  subgroupShuffle,
  subgroupMatrix,
  registerTile,
  tensorF16,
  splitF32,
];

/**
 * The rungs of a list such as `1,4,8s` or `naive,unrolled`, in the ladder's order.
 *
 * @throws GemmError `invalid-argument` for a rung that there is none of
 */
export function findRungs(list: string): readonly Rung[] {
  const names = list
    .split(',')
    .map(name => name.trim())
    .filter(Boolean);
  const known = RUNGS.map(({ rung, id }) => `${rung} (${id})`).join(', ');
  if (names.length === 0)
    throw new GemmError('invalid-argument', 'no rung is named', `The rungs are ${known}.`);
  for (const name of names) {
    if (!RUNGS.some(({ rung, id }) => rung === name || id === name)) {
      throw new GemmError('invalid-argument', `there is no rung "${name}"`, `The rungs are ${known}.`);
    }
  }
  return RUNGS.filter(({ rung, id }) => names.includes(rung) || names.includes(id));
}
