/** What lies on the workbench, as it was typed, and the program that it stands for on a device. Pure. */
import { GemmError } from '../../../errors.ts';
import type { Params } from '../../../kernels/kernel.ts';
import type { RungProgram, Shape } from '../../../ladder/rung.ts';
import type { Profile } from '../../../profile.ts';
import type { Pass } from '../../../program.ts';
import { rebase } from './diff.ts';
import { wrongNumber, wrongParameter } from './parameters.ts';
import { candidatesOf, type InputType, kernelOf, programOf, rejects, type SourceId } from './sources.ts';

/** A pass's WGSL as it was edited. */
export interface Edit {
  readonly text: string;
  /** The original that it was made from; null where that is not known, as with a link. */
  readonly base: string | null;
}

/** m, n and k as typed. */
export interface Size {
  readonly m: string;
  readonly n: string;
  readonly k: string;
}

export type Typed = Readonly<Record<string, string>>;
export type Grid = readonly [x: string, y: string, z: string];

export interface Bench {
  readonly source: SourceId;
  /** Of A and B, for the library's kernels; a rung has its own. */
  readonly type: InputType;
  /** Null until somebody chooses. */
  readonly size: Size | null;
  /** A kernel's parameters as typed; null until somebody chooses. */
  readonly params: Typed | null;
  /** The pass that is shown; null for the one that matters most. */
  readonly pass: number | null;
  readonly edits: Readonly<Record<number, Edit>>;
  /** Workgroups of a pass as typed, where they are not the original's. */
  readonly grids: Readonly<Record<number, Grid>>;
}

export const freshBench = (source: SourceId): Bench => ({
  ...{ source, type: 'f32', size: null, params: null, pass: null, edits: {}, grids: {} },
});

export const isEdited = ({ edits, grids }: Bench): boolean =>
  Object.keys(edits).length > 0 || Object.keys(grids).length > 0;

/** A size in small is enough on a CPU. */
export function usualSize({ software }: Profile): Size {
  const size = software ? '64' : '1024';
  return { m: size, n: size, k: size };
}

const MOST_SIDE = 16384;
const MOST_CELLS = 2 ** 24;
const MOST_WORK = 2048 ** 3;

export interface Problems {
  readonly size: Readonly<Record<keyof Size, string | null>>;
  readonly params: Readonly<Record<string, string | null>>;
  /** What is wrong with parameters together, in the kernel's own words. */
  readonly together: string | null;
  /** Why nothing can be built; null where something is, or the fields say why. */
  readonly general: string | null;
}

export interface Built {
  readonly shape: Shape;
  readonly program: RungProgram;
}

/** The original for what is chosen, or what is wrong with the choice. */
export function build(
  bench: Bench,
  profile: Profile,
): { readonly built: Built | null; readonly problems: Problems } {
  const { m, n, k } = bench.size ?? usualSize(profile);
  const [wrongM, wrongN, wrongK] = [m, n, k].map(typed => wrongNumber(typed, 1, MOST_SIDE));
  const size = { m: wrongM, n: wrongN, k: wrongK };
  const typed = Object.entries(bench.params ?? {});
  const params = Object.fromEntries(typed.map(([name, value]) => [name, wrongParameter(name, value)]));
  const problems: Problems = { size, params, together: null, general: null };
  if ([...Object.values(size), ...Object.values(params)].some(Boolean)) return { built: null, problems };

  const shape = { m: Number(m), n: Number(n), k: Number(k) };
  if (isTooLarge(shape)) {
    const general =
      'This is too large for the workbench: at most 2048×2048×2048 in all, and 4096×4096 a matrix.';
    return { built: null, problems: { ...problems, general } };
  }
  try {
    const chosen = paramsOf(bench, shape, profile);
    const program = programOf(bench.source, shape, bench.type, chosen, profile);
    return { built: { shape, program }, problems };
  } catch (error) {
    const { message, hint = '' } = error as GemmError;
    const text = [message, hint].filter(Boolean).join('. ');
    const byParams = error instanceof GemmError && error.code === 'invalid-argument' && bench.params !== null;
    return { built: null, problems: { ...problems, [byParams ? 'together' : 'general']: text } };
  }
}

const isTooLarge = ({ m, n, k }: Shape) =>
  Math.max(m * n, m * k, k * n) > MOST_CELLS || m * n * k > MOST_WORK;

/** The kernel's parameters as numbers: those that were typed over those that it would take. */
function paramsOf({ source, type, params }: Bench, shape: Shape, profile: Profile): Params | null {
  if (!params) return null;
  const typed = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, Number(value)]));
  return { ...candidatesOf(source, shape, type, profile)[0], ...typed };
}

/** With the texts that were edited made from the present original, where that is possible. */
export function carriedOver(bench: Bench, profile: Profile): Bench {
  const program = build(bench, profile).built?.program;
  if (!program) return bench;
  const edits = Object.fromEntries(
    Object.entries(bench.edits).flatMap(([index, { text, base }]): [string, Edit][] => {
      const original = program.passes[Number(index)]?.wgsl;
      if (original === undefined || base === null || base === original) return [[index, { text, base }]];
      const rebased = rebase(base, text, original);
      if (rebased === original) return [];
      return [[index, rebased === null ? { text, base } : { text: rebased, base: original }]];
    }),
  );
  return { ...bench, edits };
}

/** With a size that its kernel serves, where it is for another kind of shape: one row, or a small C. */
export function fitting(bench: Bench, profile: Profile): Bench {
  if (!kernelOf(bench.source)) return bench;
  const { m, n, k } = bench.size ?? usualSize(profile);
  const small = (typed: string) => String(Math.min(64, Number(typed) || 64));
  const sizes = [bench.size, { m: '1', n, k }, { m: small(m), n: small(n), k }];
  const serves = (size: Size | null) => {
    const texts = size ?? { m, n, k };
    const shape = { m: Number(texts.m), n: Number(texts.n), k: Number(texts.k) };
    const whole = Object.values(shape).every(it => Number.isInteger(it) && it > 0);
    return whole && rejects(bench.source, shape, bench.type, profile) === null;
  };
  const size = sizes.find(serves);
  return size === undefined ? bench : { ...bench, size };
}

/** What multiplies has more to say than what prepares or adds up. */
export function mainPass({ passes }: RungProgram): number {
  const lengths = passes.map(({ wgsl }) => wgsl.length);
  return lengths.indexOf(Math.max(...lengths));
}

/** The passes that differ from the original, as they are to be run. */
export function editedPasses({ edits, grids }: Bench, program: RungProgram): (Pass | null)[] {
  return program.passes.map((pass, index) => {
    const [edit, grid] = [edits[index], grids[index]];
    if (!edit && !grid) return null;
    const workgroups = grid
      ? ([Number(grid[0]), Number(grid[1]), Number(grid[2])] as const)
      : pass.workgroups;
    return { ...pass, wgsl: edit?.text ?? pass.wgsl, workgroups };
  });
}
