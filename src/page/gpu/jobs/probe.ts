/** Chooses a size for the ladder from how fast this GPU's lowest rung is. */
import { multiply } from '../../../ladder/multiply.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import { randomMatrix } from '../../../measure/random.ts';
import type { JobContext } from '../open.ts';
import type { Job } from './job.ts';

/** Sizes of square products to choose from. */
const SIZES = [256, 512, 1024, 2048, 4096, 8192];
const SOFTWARE_SIZES = [64, 128];

/** What the probe found. */
export interface Probed {
  /** The largest of the sizes whose rung 1 is expected to stay under the limit. */
  readonly size: number;
  /** Milliseconds that one product of that size with rung 1 is expected to take. */
  readonly ms: number;
}

/** Milliseconds that rung 1 may take: Windows resets a GPU after 2 s. A CPU has other rungs that are slower still. */
const MOST_MS = 1500;
const SOFTWARE_MOST_MS = 250;

/** From here on the launch itself no longer counts, and a time can be scaled by the work. */
const TRUSTED_MS = 40;

export const probe: Job<void, Probed> = async (context, _, { signal }) => {
  const { software } = context.profile;
  const most = software ? SOFTWARE_MOST_MS : MOST_MS;
  const sizes = (software ? SOFTWARE_SIZES : SIZES).filter(size => fits(size, context));
  let chosen: Probed = { size: sizes[0], ms: 0 };
  for (const size of sizes) {
    signal.throwIfAborted();
    const scaled = chosen.ms * (size / chosen.size) ** 3;
    if (scaled > most) break;
    const ms = scaled > TRUSTED_MS * 8 ? scaled : await timeOf(size, context);
    if (ms > most && size > sizes[0]) break;
    chosen = { size, ms };
  }
  return chosen;
};

/** Milliseconds of one product with rung 1, cold. */
async function timeOf(size: number, { device, profile }: JobContext): Promise<number> {
  const shape = { m: size, n: size, k: size };
  const [a, b] = [1, 2].map(seed => randomMatrix(size * size, seed));
  const { timings } = await multiply(device, profile, RUNGS[0], { shape, a, b, type: 'f32' });
  return timings.multiply;
}

const fits = (size: number, { profile: { limits } }: JobContext) =>
  size * size * 4 + 256 <= Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
