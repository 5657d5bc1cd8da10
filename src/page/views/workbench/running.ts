/** A run, and what came of the last one. It goes on while another view is shown. */
import { computed, effect, signal } from '@preact/signals';
import { GemmError } from '../../../errors.ts';
import type { Shape } from '../../../ladder/rung.ts';
import type { WorkbenchOutput, WorkbenchProgress } from '../../gpu/jobs/workbench.ts';
import { device, runJob } from '../../state/device.ts';
import { type Bench, editedPasses, isEdited } from './bench.ts';
import { bench, built, wrongWorkgroups } from './state.ts';

export interface Outcome {
  readonly output: WorkbenchOutput;
  readonly shape: Shape;
  /** Whether it is of something edited, or of the original itself. */
  readonly edited: boolean;
  /** What was run. */
  readonly of: Bench;
}

export const progress = signal<WorkbenchProgress | null>(null);
/** It has been running for so long that it may never end. */
export const slow = signal(false);
export const outcome = signal<Outcome | null>(null);
export const problem = signal<unknown>(null);

/** Whether what was run is what lies on the workbench. */
export const isCurrent = computed(() => {
  const of = outcome.value?.of;
  const now = bench.value;
  return (
    of !== undefined &&
    (['source', 'type', 'size', 'params', 'edits', 'grids'] as const).every(key => of[key] === now[key])
  );
});

/** Whether everything that was typed makes sense, so that there is something to run. */
export const canRun = computed(() => {
  const grids = Object.values(bench.value.grids).flat();
  return built.value.built !== null && grids.every(typed => wrongWorkgroups(typed) === null);
});

const SLOW_MS = 8000;

/** The GPU was asked for, and has not come for so long that something may still keep it. */
export const silent = signal(false);
effect(() => {
  silent.value = false;
  if (device.value.status !== 'opening') return;
  const watch = setTimeout(() => {
    silent.value = true;
  }, SLOW_MS);
  return () => clearTimeout(watch);
});

let controller: AbortController | undefined;

export async function run(): Promise<void> {
  const what = built.value.built;
  if (!what || !canRun.value || progress.value) return;
  const of = bench.value;
  const edited = editedPasses(of, what.program);
  const mine = new AbortController();
  controller = mine;
  [problem.value, outcome.value] = [null, null];
  progress.value = { phase: 'compiling' };
  let watch = setTimeout(() => {});
  const seen = (now: WorkbenchProgress) => {
    progress.value = now;
    slow.value = false;
    clearTimeout(watch);
    watch = setTimeout(() => {
      slow.value = true;
    }, SLOW_MS);
  };
  seen(progress.value);
  try {
    const input = { shape: what.shape, original: what.program, edited };
    const output = await runJob('workbench', input, { signal: mine.signal, onProgress: seen });
    outcome.value = { output, shape: what.shape, edited: isEdited(of), of };
  } catch (error) {
    const lost = error instanceof GemmError && error.code === 'device-lost'; // the page says that on its own
    if (!mine.signal.aborted && !lost) problem.value = error;
  } finally {
    clearTimeout(watch);
    slow.value = false;
    progress.value = null;
  }
}

export const cancel = (): void => controller?.abort();
