/**
 * The picture of a rung's mapping shows what the kernel does: its WGSL, made to note every index that a thread of one
 * workgroup reads and writes, notes what the model says, thread by thread and in the same order.
 */
import { expect, test } from 'vitest';
import type { Params } from '../../src/kernels/kernel.ts';
import type { Rung, Shape } from '../../src/ladder/rung.ts';
import { findRungs, RUNGS } from '../../src/ladder/rungs.ts';
import { chosenFor } from '../../src/page/picture/model/kernels.ts';
import { hasMapping, mappingOf, pictureShape } from '../../src/page/picture/model/mappings.ts';
import { type Trace, trace } from '../../src/page/picture/model/trace.ts';
import type { Profile } from '../../src/profile.ts';
import { driver, useTestGpu } from './device.ts';
import { type Accesses, watch } from './picture.ts';

const gpu = useTestGpu();

/** Rungs of long straight-line code, longer yet with a note at each access. */
const WRITTEN_OUT = ['6', '7', '9'];

/** Room for more notes than the model expects, so that an access that it does not know of is seen. */
const SPARE = 64;

function accessesOf({ mapping, all }: Trace): Accesses {
  const accesses: Accesses = new Map();
  for (const { array, how, at } of all.flatMap(({ instructions }) => instructions)) {
    const name = `${array} ${how}`;
    if (!accesses.has(name))
      accesses.set(
        name,
        Array.from({ length: mapping.threads }, (): number[] => []),
      );
    at.forEach((index, thread) => {
      if (index >= 0) accesses.get(name)![thread].push(index);
    });
  }
  return accesses;
}

interface Drawn {
  readonly profile: Profile;
  readonly shape: Shape;
  /** Whether the last tile of C is looked at, or the first. */
  readonly last: boolean;
  /** A kernel's, in place of those that the page draws. */
  readonly params?: Params;
}

/** Holds what the kernel notes of one tile's workgroup against the model. */
async function expectAsDrawn({ rung, build }: Rung, { profile, shape, last, params }: Drawn) {
  const chosen = chosenFor(rung, shape, profile, params);
  const mapping = mappingOf(rung, shape, profile, chosen);
  const { m, n } = mapping.tile;
  const expected = last ? trace(mapping, shape, shape.m / m - 1, shape.n / n - 1) : trace(mapping, shape);
  const accesses = accessesOf(expected);
  // A value in a register has no index of its own to be noted when it is written.
  accesses.delete('registers write');
  const most = [...accesses.values()].reduce((sum, threads) => sum + threads[0].length, SPARE);
  const program = { ...build(shape, profile), ...chosen?.program() };
  const noted = await watch(gpu(), program, shape, mapping.arrays, expected.group, most);
  expect([...noted.keys()].filter(site => noted.get(site)!.flat().length > 0).sort()).toEqual(
    [...accesses.keys()].sort(),
  );
  for (const [site, threads] of accesses) {
    for (const [thread, indices] of threads.entries()) {
      expect(noted.get(site)![thread], `${site} by thread ${thread}`).toEqual(indices);
    }
  }
}

/** The accesses are the same on every driver; where the written-out kernels are compiled in seconds, they are looked at. */
const slow = driver !== 'lavapipe-26';

for (const rung of RUNGS.filter(({ rung }) => hasMapping(rung))) {
  for (const last of [false, true]) {
    test(`rung ${rung.rung}, the ${last ? 'last' : 'first'} tile of C`, async ({ skip }) => {
      const { profile } = gpu();
      const missing = rung.missing(profile);
      if (missing !== null) skip(missing);
      skip(slow && WRITTEN_OUT.includes(rung.rung), `${driver} compiles it for minutes`);
      await expectAsDrawn(rung, { profile, shape: pictureShape(rung.rung, profile), last });
    });
  }
}

/** Of the tiles that rung 9 takes on hardware, the smallest: the others are too long for a software GPU's compiler. */
const TILE = { bm: 64, bn: 64, tm: 8, tn: 8, slices: 1 };

test.for<[what: string, params: Params]>([
  ['A and B as they lie', { ...TILE, bk: 16, pack: 0 }],
  ['in shorter steps', { ...TILE, bk: 8, pack: 0 }],
  ['A and B packed', { ...TILE, bk: 16, pack: 1 }],
])('rung 9 as on hardware, %s', async ([, params], { skip }) => {
  skip(slow, `${driver} compiles it for minutes`);
  const [rung] = findRungs('9');
  const { profile } = gpu();
  await expectAsDrawn(rung, { profile, shape: { m: 128, n: 128, k: 48 }, last: true, params });
});

/** What both kernels take on hardware, as small as it gets. */
const PIPELINE = { bm: 32, bn: 32, sm: 16, sn: 16, stages: 2, slices: 1 };

const PIPELINES: readonly (readonly [rung: string, what: string, params: Params])[] = [
  ['10', 'a step early', { ...PIPELINE, prefetch: 1, pack: 1, config: 0 }],
  ['10', 'two steps early', { ...PIPELINE, prefetch: 2, pack: 1, config: 0 }],
  ['10', 'only A is packed', { ...PIPELINE, prefetch: 2, pack: 2, config: 0 }],
  ['10', 'two steps in one go', { ...PIPELINE, prefetch: 4, pack: 1, config: 0 }],
  ['10', 'A and B as they lie', { ...PIPELINE, prefetch: 2, pack: 0, config: 0 }],
  ['10', 'as they lie, a step early', { ...PIPELINE, prefetch: 1, pack: 0, config: 0 }],
  ['10', 'as they lie, two steps in one go', { ...PIPELINE, prefetch: 4, pack: 0, config: 0 }],
  ['10', 'as they lie, with fewer threads', { ...PIPELINE, sm: 32, prefetch: 2, pack: 0, config: 0 }],
  // Without flushes: the sums' way through workgroup memory is not drawn.
  ['11', 'a step early', { ...PIPELINE, prefetch: 1, flush: 0 }],
  ['11', 'two steps early', { ...PIPELINE, prefetch: 2, flush: 0 }],
];

for (const [place, what, params] of PIPELINES) {
  test(`rung ${place} as a pipeline, ${what}`, async ({ skip }) => {
    const [rung] = findRungs(place);
    const { profile } = gpu();
    const missing = rung.missing(profile);
    if (missing !== null) skip(missing);
    skip(slow, `${driver} compiles it for minutes`);
    const bk = profile.matrixConfigs[0].K;
    // Long enough for the loop to fetch what it puts into workgroup memory, and whole rounds.
    const shape = { m: 64, n: 64, k: 8 * bk };
    await expectAsDrawn(rung, { profile, shape, last: true, params: { ...params, bk } });
  });
}
