/** The workbench on this page. It is kept while another view is shown, and while a lost GPU is restarted. */
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Params } from '../../../kernels/kernel.ts';
import type { RungProgram } from '../../../ladder/rung.ts';
import type { Profile } from '../../../profile.ts';
import { EXAMPLE } from '../../picture/model/example.ts';
import { device } from '../../state/device.ts';
import {
  type Bench,
  build,
  carriedOver,
  fitting,
  freshBench,
  type Grid,
  isEdited,
  mainPass,
  type Size,
  type Typed,
  usualSize,
} from './bench.ts';
import { freeNames, wrongNumber } from './parameters.ts';
import { candidatesOf, type SourceId } from './sources.ts';

export const bench = signal<Bench>(freshBench('rung:4'));

/** Where the editor's cursor is to go. */
export const cursor = signal<{ readonly offset: number } | null>(null);

/** What lay here before a link was opened, where something of it was edited. */
export const displaced = signal<Bench | null>(null);

/** The last device that was seen: while it is restarted, what was built for it stays. Before there is one, an example. */
let lastProfile: Profile = EXAMPLE;
const profile = computed(() => {
  if (device.value.status === 'ready') lastProfile = device.value.info.profile;
  return lastProfile;
});

/** m, n and k as typed, or as they are by default. */
export const sizeTexts = computed<Size>(() => bench.value.size ?? usualSize(profile.value));

/** The original for what is chosen, or what is wrong with the choice. */
export const built = computed(() => build(bench.value, profile.value));

/** Parameters worth trying here, the kernel's best guess first. */
export const candidates = computed<readonly Params[]>(() => {
  const { m, n, k } = sizeTexts.value;
  const shape = { m: Number(m), n: Number(n), k: Number(k) };
  if (Object.values(shape).some(size => !Number.isInteger(size) || size < 1)) return [];
  return candidatesOf(bench.value.source, shape, bench.value.type, profile.value);
});

/** The parameters as the fields show them. */
export const paramTexts = computed<Typed>(() => {
  const [first = {}] = candidates.value;
  const usual = Object.fromEntries(freeNames(first).map(name => [name, String(first[name])]));
  return { ...usual, ...bench.value.params };
});

/**
 * The program whose text is shown. Where none can be built, it is the last one of this source, which stays while a field
 * is being typed in; else one for the kernel's own parameters, or for a device that has what this one lacks.
 */
export const shown = computed<RungProgram | null>(() => {
  const now = bench.value;
  const { source } = now;
  const usual = { ...now, params: null };
  const program =
    built.value.built?.program ??
    (lastShown?.source === source ? lastShown.program : undefined) ??
    build(usual, profile.value).built?.program ??
    build(usual, EXAMPLE).built?.program;
  lastShown = program ? { source, program } : null;
  return program ?? null;
});
let lastShown: { readonly source: SourceId; readonly program: RungProgram } | null = null;

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

export const wrongWorkgroups = (typed: string): string | null =>
  wrongNumber(typed, 1, profile.value.limits.maxComputeWorkgroupsPerDimension);

/** Shows a pass, with the cursor at a place of it. */
export function show(pass: number, offset?: number): void {
  if (pass !== bench.value.pass) bench.value = { ...bench.value, pass };
  cursor.value = offset === undefined ? null : { offset };
}

/** The size that was asked for; a kernel that can't serve it is given another one for as long as it is chosen. */
let wished: Size | null = null;

/** What was done to each source is kept until it is chosen again. */
const kept = new Map<SourceId, Bench>();

/** Changes what is chosen; texts that were edited are carried over to the new original where that is possible. */
export function choose(change: Partial<Pick<Bench, 'type' | 'size' | 'params'>>): void {
  if (change.size) wished = change.size;
  lay({ ...bench.value, ...change });
}

export function chooseSource(source: SourceId): void {
  const before = bench.value;
  kept.set(before.source, before);
  lay(fitting({ ...(kept.get(source) ?? freshBench(source)), size: wished }, profile.value));
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
    bench.value = fitting(linked, profile.value);
  } else {
    const { edits = {}, grids = {} } = kept.get(linked.source) ?? {};
    lay(fitting({ ...linked, edits, grids }, profile.value));
  }
}

export function bringBack(): void {
  if (displaced.value) lay(displaced.value);
  displaced.value = null;
}

function lay(next: Bench): void {
  bench.value = carriedOver(next, profile.value);
}

// A device that opens may come with another original.
effect(() => {
  if (device.value.status === 'ready') untracked(() => lay(bench.value));
});

/** What the editor holds now. */
export function editText(index: number, text: string): void {
  const original = shown.value?.passes[index].wgsl;
  if (original === undefined) return;
  const { [index]: edit, ...others } = bench.value.edits;
  const base = edit?.base ?? original;
  bench.value = {
    ...bench.value,
    edits: text === original ? others : { ...others, [index]: { text, base } },
  };
}

export function editGrid(index: number, grid: Grid): void {
  const original = shown.value?.passes[index].workgroups.join();
  const { [index]: _, ...others } = bench.value.grids;
  bench.value = { ...bench.value, grids: grid.join() === original ? others : { ...others, [index]: grid } };
}

/** Back to the original, for one pass. */
export function restore(index: number): void {
  const { [index]: _, ...edits } = bench.value.edits;
  const { [index]: __, ...grids } = bench.value.grids;
  bench.value = { ...bench.value, edits, grids };
}
