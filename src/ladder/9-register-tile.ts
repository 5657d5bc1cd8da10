/**
 * Rung 9, register tile: rung 6 grown until the f32 units, and not workgroup memory, set the pace.
 *
 * A 4×4 block reads eight numbers from workgroup memory for 16 multiply-adds, and a GPU can multiply several times
 * faster than it reads. A block of 8×16 reads 24 for 128. That needs 128 registers for the sums alone, so fewer threads
 * fit on the GPU to hide each other's waiting for memory: instead, each thread fetches its part of the next tiles
 * into registers before it multiplies the present ones, and the wait passes while it works; and it reads the numbers of
 * the next k from workgroup memory before it multiplies those of this one. A is turned 4×4 in registers on its way in.
 *
 * From here on the rungs are the library's own kernels: ../kernels/register-tile.ts has the mapping and the WGSL. A
 * device with little room, and a small product, get smaller tiles.
 */
import { registerTile as kernel } from '../kernels/register-tile.ts';
import { fromKernel, tileOf } from './from-kernel.ts';

export const registerTile = fromKernel({
  rung: '9',
  id: 'register-tile',
  idea: 'up to 8×16 cells a thread, tiles fetched early',
  kernel,
  inputs: 'f32',
  detail: (_problem, _profile, params) => `${tileOf(params)}, ${params.tm}×${params.tn} cells a thread`,
});
