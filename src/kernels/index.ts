import type { Kernel } from './kernel.ts';
import { plain } from './plain.ts';

/** Every kernel of the library. The order means nothing: choose.ts compares their estimates. */
export const KERNELS: readonly Kernel[] = [plain];
