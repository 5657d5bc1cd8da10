import { dotI8 } from './dot-i8.ts';
import { gemv } from './gemv.ts';
import type { Kernel } from './kernel.ts';
import { plain } from './plain.ts';
import { smallBatched } from './small-batched.ts';
import { splitK } from './split-k.ts';

/** Every kernel of the library. The order means nothing: choose.ts compares their estimates. */
export const KERNELS: readonly Kernel[] = [plain, gemv, splitK, smallBatched, dotI8];
