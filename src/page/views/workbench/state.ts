/** What lies on the workbench. It is kept while another view is shown, and while a lost GPU is restarted. */
import { computed, effect, signal, untracked } from '@preact/signals';
import { GemmError } from '../../../errors.ts';
import type { Params } from '../../../kernels/kernel.ts';
import type { RungProgram, Shape } from '../../../ladder/rung.ts';
import type { Profile } from '../../../profile.ts';
import type { Pass } from '../../../program.ts';
import { EXAMPLE } from '../../picture/model/example.ts';
import { device } from '../../state/device.ts';
import { rebase } from './diff.ts';
import { freeNames, wrongNumber, wrongParameter } from './parameters.ts';
import { candidatesOf, type InputType, kernelOf, programOf, rejects, type SourceId } from './sources.ts';

/** A pass's WGSL as it was edited. */
export interface Edit {
  readonly text: string;
  /** The original that it was made from; null where that is not known, as with a link. */
  readonly base: string | null;
}

export type Typed = Readonly<Record<string, string>>;
export type Grid = readonly [x: string, y: string, z: string];

export interface Bench {
  readonly source: SourceId;
  /** Of A and B, for the library's kernels; a rung has its own. */
  readonly type: InputType;
  /** m, n and k as typed; null until somebody chooses. */
  readonly size: { readonly m: string; readonly n: string; readonly k: string } | null;
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

export const bench = signal<Bench>(freshBench('rung:4'));

/** Where the editor's cursor is to go. */
export const cursor = signal<{ readonly offset: number } | null>(null);

/** What lay here before a link was opened, where something of it was edited. */
export const displaced = signal<Bench | null>(null);

const profile = computed<Profile | null>(() =>
  device.value.status === 'ready' ? device.value.info.profile : null,
);

/** The last device that was seen: while it is restarted, what was built for it stays. Before there is one, an example. */
let lastProfile: Profile = EXAMPLE;
const buildFor = computed(() => {
  lastProfile = profile.value ?? lastProfile;
  return lastProfile;
});

const usualSize = computed(() => {
  const size = buildFor.value.software ? '64' : '1024';
  return { m: size, n: size, k: size };
});

/** m, n and k as typed, or as they are by default. */
export const sizeTexts = computed(() => bench.value.size ?? usualSize.value);

const MOST_SIDE = 16384;
const MOST_CELLS = 2 ** 24;
const MOST_WORK = 2048 ** 3;

export interface Problems {
  readonly size: Readonly<Record<'m' | 'n' | 'k', string | null>>;
  readonly params: Readonly<Record<string, string | null>>;
  /** What is wrong with parameters together, in the kernel's own words. */
  readonly together: string | null;
  /** Why nothing can be built; null where something is. */
  readonly general: string | null;
}

export interface Built {
  readonly shape: Shape;
  readonly program: RungProgram;
}

/** The original for what is chosen, or what is wrong with the choice. */
export const built = computed(() => buildOf(bench.value));

export function buildOf(it: Bench): { readonly built: Built | null; readonly problems: Problems } {
  const texts = it.size ?? usualSize.value;
  const size = {
    m: wrongNumber(texts.m, 1, MOST_SIDE),
    n: wrongNumber(texts.n, 1, MOST_SIDE),
    k: wrongNumber(texts.k, 1, MOST_SIDE),
  };
  const params = Object.fromEntries(
    Object.entries(it.params ?? {}).map(([name, typed]) => [name, wrongParameter(name, typed)]),
  );
  const problems: Problems = { size, params, together: null, general: null };
  const [m, n, k] = [Number(texts.m), Number(texts.n), Number(texts.k)];
  if (Object.values(size).some(Boolean)) return { built: null, problems };
  if (Math.max(m * n, m * k, k * n) > MOST_CELLS || m * n * k > MOST_WORK) {
    const general =
      'this is too large for the workbench: at most 2048×2048×2048 in all, and 4096×4096 a matrix';
    return { built: null, problems: { ...problems, general } };
  }
  if (Object.values(params).some(Boolean)) return { built: null, problems };
  const shape = { m, n, k };
  try {
    const program = programOf(it.source, shape, it.type, paramsOf(it, shape), buildFor.value);
    return { built: { shape, program }, problems };
  } catch (error) {
    const { message, hint = '' } = error as GemmError;
    const text = [message, hint].filter(Boolean).join('. ');
    const fields = error instanceof GemmError && error.code === 'invalid-argument' && it.params !== null;
    return { built: null, problems: { ...problems, [fields ? 'together' : 'general']: text } };
  }
}

/** The kernel's parameters as numbers: those that were typed over those that it would take. */
function paramsOf({ source, type, params }: Bench, shape: Shape): Params | null {
  if (!params) return null;
  const typed = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, Number(value)]));
  return { ...candidatesOf(source, shape, type, buildFor.value)[0], ...typed };
}

/** Parameters worth trying here, the kernel's best guess first. */
export const candidates = computed<readonly Params[]>(() => {
  const { m, n, k } = sizeTexts.value;
  const shape = { m: Number(m), n: Number(n), k: Number(k) };
  if (Object.values(shape).some(size => !Number.isInteger(size) || size < 1)) return [];
  return candidatesOf(bench.value.source, shape, bench.value.type, buildFor.value);
});

/** The parameters as the fields show them. */
export const paramTexts = computed<Typed>(() => {
  const [first = {}] = candidates.value;
  const usual = Object.fromEntries(freeNames(first).map(name => [name, String(first[name])]));
  return { ...usual, ...bench.value.params };
});

/** The last program that could be built for this source: it stays while a field is being typed in. */
let lastShown: { readonly source: SourceId; readonly program: RungProgram } | null = null;
export const shown = computed<RungProgram | null>(() => {
  const now = bench.value;
  const { source } = now;
  const program =
    built.value.built?.program ??
    (lastShown?.source === source ? lastShown.program : buildOf({ ...now, params: null }).built?.program);
  lastShown = program ? { source, program } : null;
  return program ?? null;
});

/** What multiplies has more to say than what prepares or adds up. */
const mainPass = ({ passes }: RungProgram): number => {
  const lengths = passes.map(({ wgsl }) => wgsl.length);
  return lengths.indexOf(Math.max(...lengths));
};

/** The pass that is shown, and its text. */
export const current = computed(() => {
  const { pass, edits } = bench.value;
  const program = shown.value;
  if (!program) return null;
  const index = Math.min(pass ?? mainPass(program), program.passes.length - 1);
  const original = program.passes[index];
  const edit = edits[index];
  // The text was made from an original that the present one could not be reconciled with.
  const stale = edit !== undefined && edit.base !== null && edit.base !== original.wgsl;
  return { index, original, text: edit?.text ?? original.wgsl, stale };
});

/** Shows a pass, with the cursor at a place of it. */
export function show(pass: number, offset?: number): void {
  if (pass !== bench.value.pass) bench.value = { ...bench.value, pass };
  cursor.value = offset === undefined ? null : { offset };
}

export const isEdited = ({ edits, grids }: Bench): boolean =>
  Object.keys(edits).length > 0 || Object.keys(grids).length > 0;

/** The passes that differ from the original, as they are to be run; what is wrong with a grid as typed. */
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

export const wrongWorkgroups = (typed: string): string | null =>
  wrongNumber(typed, 1, buildFor.value.limits.maxComputeWorkgroupsPerDimension);

/** Changes what is chosen; texts that were edited are carried over to the new original where that is possible. */
export function choose(change: Partial<Pick<Bench, 'type' | 'size' | 'params'>>): void {
  if (change.size) wished = change.size;
  bench.value = carriedOver({ ...bench.value, ...change });
}

function carriedOver(next: Bench): Bench {
  const program = buildOf(next).built?.program;
  if (!program) return next;
  const edits = Object.fromEntries(
    Object.entries(next.edits).flatMap(([index, { text, base }]): [string, Edit][] => {
      const theirs = program.passes[Number(index)]?.wgsl;
      if (theirs === undefined || base === null || base === theirs) return [[index, { text, base }]];
      const rebased = rebase(base, text, theirs);
      if (rebased === theirs) return [];
      return [[index, rebased === null ? { text, base } : { text: rebased, base: theirs }]];
    }),
  );
  return { ...next, edits };
}

// A device that opens may come with another original.
effect(() => {
  if (!profile.value) return;
  untracked(() => {
    bench.value = carriedOver(bench.value);
  });
});

/** The size that was asked for; a kernel that can't serve it is given another one for as long as it is chosen. */
let wished: Bench['size'] = null;

/** What was done to each source is kept until it is chosen again. */
const kept = new Map<SourceId, Bench>();

export function chooseSource(source: SourceId): void {
  const before = bench.value;
  kept.set(before.source, before);
  const next = kept.get(source) ?? freshBench(source);
  bench.value = carriedOver(fitting({ ...next, size: wished }));
}

/** A kernel for another kind of shape gets one that it serves. */
function fitting(next: Bench): Bench {
  if (!kernelOf(next.source)) return next;
  const { m, n, k } = next.size ?? usualSize.value;
  const small = (typed: string) => String(Math.min(64, Number(typed) || 64));
  const sizes = [next.size, { m: '1', n, k }, { m: small(m), n: small(n), k }];
  const serves = (size: Bench['size']) => {
    const texts = size ?? { m, n, k };
    const shape = { m: Number(texts.m), n: Number(texts.n), k: Number(texts.k) };
    const whole = Object.values(shape).every(it => Number.isInteger(it) && it > 0);
    return whole && rejects(next.source, shape, next.type, buildFor.value) === null;
  };
  const size = sizes.find(serves);
  return size === undefined ? next : { ...next, size };
}

/**
 * Lays what a link holds on the workbench. A link without edits leads to what was done to its source here; one with
 * edits takes the place of what was edited, which can be had back.
 */
export function open(linked: Bench): void {
  const before = bench.value;
  kept.set(before.source, before);
  wished = linked.size ?? wished;
  if (isEdited(linked)) {
    displaced.value = isEdited(before) ? before : null;
    bench.value = fitting(linked);
  } else {
    const { edits = {}, grids = {} } = kept.get(linked.source) ?? {};
    bench.value = carriedOver(fitting({ ...linked, edits, grids }));
  }
}

export function bringBack(): void {
  if (displaced.value) bench.value = carriedOver(displaced.value);
  displaced.value = null;
}

/** What the editor holds now. */
export function editText(index: number, text: string): void {
  const original = shown.value?.passes[index].wgsl;
  if (original === undefined) return;
  const { [index]: edit, ...others } = bench.value.edits;
  const base = edit?.base ?? original;
  const edits = text === original ? others : { ...others, [index]: { text, base } };
  bench.value = { ...bench.value, edits };
}

export function editGrid(index: number, grid: Grid): void {
  const original = shown.value?.passes[index].workgroups.join();
  const { [index]: _, ...others } = bench.value.grids;
  bench.value = { ...bench.value, grids: grid.join() === original ? others : { ...others, [index]: grid } };
}

/** Back to the original, for the pass that is shown. */
export function restore(index: number): void {
  const { [index]: _, ...edits } = bench.value.edits;
  const { [index]: __, ...grids } = bench.value.grids;
  bench.value = { ...bench.value, edits, grids };
}
