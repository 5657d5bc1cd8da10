import { dotI8 } from './dot-i8.ts';
import { gemv } from './gemv.ts';
import type { Kernel } from './kernel.ts';
import { plain } from './plain.ts';
import { registerTile } from './register-tile.ts';
import { smallBatched } from './small-batched.ts';
import { splitF32 } from './split-f32.ts';
import { splitK } from './split-k.ts';
import { subgroupMatrix } from './subgroup-matrix.ts';

/** Every kernel of the library. The order means nothing: choose.ts compares their estimates. */
export const KERNELS: readonly Kernel[] = [
  plain,
  gemv,
  splitK,
  smallBatched,
  dotI8,
  registerTile,
  subgroupMatrix,
  splitF32,
];
