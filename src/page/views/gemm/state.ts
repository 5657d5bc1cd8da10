/** The product that is described, what the library would do with it, and what was measured: kept while other views are shown. */
import { computed, effect, signal } from '@preact/signals';
import type { BenchResult } from '../../../bench/record.ts';
import { GemmError } from '../../../errors.ts';
import type { Profile } from '../../../profile.ts';
import type { GemmResult } from '../../gpu/jobs/gemm.ts';
import type { Tuned } from '../../gpu/jobs/tune.ts';
import { device, runJob } from '../../state/device.ts';
import { addResult } from '../../state/results.ts';
import { addTuning, tuning } from '../../state/tuning.ts';
import { OTHER_DEVICES } from './devices.ts';
import {
  blamed,
  DEFAULTS,
  errorsAlone,
  type FieldErrors,
  type Fields,
  failureOf,
  optionsOf,
  textOf,
} from './fields.ts';
import { type Outline, outline, type Unserved, unservedOf } from './outline.ts';
import { recordOf } from './record.ts';
import { commonest } from './words.ts';

export const fields = signal<Fields>(DEFAULTS);

/** This device, as long as the browser has not said that there is none; it outlives a lost one. */
const here = signal<Profile | null>(null);
/** The ceilings of this device; null before they were measured. */
export const ceilings = signal<readonly BenchResult[] | null>(null);

effect(() => {
  const state = device.value;
  if (state.status === 'missing') here.value = null;
  if (state.status !== 'ready') return;
  here.value = state.info.profile;
  ceilings.value = null; // what opens after a restart may be another GPU
  // A CPU takes seconds for what a GPU does in no time.
  if (state.info.profile.software && fields.peek() === DEFAULTS) {
    fields.value = { ...DEFAULTS, m: '128', n: '128', k: '128' };
  }
});

/** The device that is explained for; null while the browser looks for one. */
export const shown = computed<{ readonly name: string | null; readonly profile: Profile } | null>(() => {
  const other = OTHER_DEVICES.find(({ id }) => id === fields.value.device);
  if (other) return other;
  if (here.value) return { name: null, profile: here.value };
  const { status } = device.value;
  return status === 'missing' || status === 'failed' ? OTHER_DEVICES[0] : null;
});

export interface Explained {
  readonly errors: FieldErrors;
  /** What is wrong with no field of its own. */
  readonly problem: GemmError | null;
  /** The product, where no kernel can serve it. */
  readonly unserved: Unserved | null;
  /** The library's own choice. */
  readonly free: Outline | null;
  /** The same with the forced kernel. */
  readonly forced: Outline | null;
}

/** What the compiler said of an expression; only a GPU can tell. */
const refusedExpression = signal<{ readonly epilogue: string; readonly text: string } | null>(null);

export const explained = computed<Explained>(() => {
  const all = fields.value;
  const nothing = { problem: null, unserved: null, free: null, forced: null };
  const errors = errorsAlone(all);
  if (Object.keys(errors).length > 0 || !shown.value) return { errors, ...nothing };
  const { profile } = shown.value;
  const record = tuning.value;
  const attempt = (it: Fields) => outline(optionsOf(it), profile, record, it.kernel);
  let free: Outline | null = null;
  const failure = failureOf(() => {
    free = outline(optionsOf(all), profile, record);
  });
  if (failure) {
    const field = blamed({ ...all, kernel: '' }, attempt);
    const unserved = failure.code === 'unsupported' ? unservedOf(optionsOf(all), profile) : null;
    // A field has room for one line; every kernel's reason stands where the choice would.
    const text = unserved ? commonest(unserved.reasons) : textOf(failure);
    return field
      ? { errors: { [field]: text }, ...nothing, unserved }
      : { errors, ...nothing, unserved, problem: unserved ? null : failure };
  }
  const refused = refusedExpression.value;
  if (refused?.epilogue === all.epilogue) errors.epilogue = refused.text;
  if (all.kernel === '') return { errors, ...nothing, free };
  let forced: Outline | null = null;
  const refusal = failureOf(() => {
    forced = attempt(all);
  });
  if (refusal) errors.kernel = textOf(refusal);
  return { errors, ...nothing, free, forced };
});

/** What would run: the forced kernel, where one is. */
export const chosen = computed(() => explained.value.forced ?? explained.value.free);

/** A product that was measured in this visit. */
export interface Measured {
  readonly id: number;
  readonly outline: Outline;
  readonly forced: boolean;
  readonly result: GemmResult;
}

/** The newest last. */
export const measured = signal<readonly Measured[]>([]);
/** What the last tuning found. */
export const tuned = signal<Tuned | null>(null);

export type Task = 'measure' | 'roofs' | 'tune';

/** What is going on, in words, and how far it is; null where nothing runs. */
export const running = signal<{ task: Task; label: string; share: number | null } | null>(null);
/** What went wrong in the last run. */
export const failed = signal<{ task: Task; error: unknown } | null>(null);

let controller = new AbortController();

export const cancel = (): void => controller.abort(new DOMException('cancelled', 'AbortError'));

export function measureProduct(): Promise<void> {
  return perform('measure', 'Starting …', async signal => {
    const outlined = chosen.peek();
    if (!outlined) return;
    const { kernel, epilogue } = fields.peek();
    const result = await runJob(
      'gemm',
      { options: outlined.options, kernel, tuning: tuning.peek() },
      {
        signal,
        onProgress: ({ phase, share }) => {
          running.value = { task: 'measure', label: PHASES[phase], share };
        },
      },
    ).catch(error => {
      // Kernels that do not compile are set aside, so it is the expression.
      if (error instanceof GemmError && error.code === 'compilation-failed') {
        refusedExpression.value = { epilogue, text: textOf(error) };
      }
      throw error;
    });
    const id = measured.value.length;
    measured.value = [...measured.value, { id, outline: outlined, forced: kernel !== '', result }];
    const record = here.value && recordOf(outlined, result, here.value);
    if (record) addResult(record);
    if (!ceilings.peek()) await takeCeilings('measure', signal);
  });
}

export const measureCeilings = (): Promise<void> =>
  perform('roofs', 'Starting …', signal => takeCeilings('roofs', signal));

async function takeCeilings(task: Task, signal: AbortSignal): Promise<void> {
  running.value = { task, label: 'Measuring what this GPU can do at the most', share: null };
  ceilings.value = await runJob('ceilings', undefined, { signal });
}

export function tuneProduct(budgetSeconds: number): Promise<void> {
  return perform('tune', 'Starting …', async signal => {
    const outlined = explained.peek().free;
    if (!outlined) return;
    const input = { options: outlined.options, budgetSeconds, tuning: tuning.peek() };
    try {
      tuned.value = await runJob('tune', input, {
        signal,
        onProgress: ({ phase, done, total }) => {
          const share = { checking: 0, measuring: 0.6, deciding: 0.8 }[phase];
          const width = phase === 'checking' ? 0.6 : 0.2;
          running.value = {
            task: 'tune',
            label: `${STEPS[phase]} ${Math.min(done + 1, total)} of ${total}`,
            share: share + (width * done) / Math.max(1, total),
          };
        },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      running.value = {
        task: 'tune',
        label: 'Ending what is under way; what was measured is kept',
        share: null,
      };
      tuned.value = await runJob('tuned', undefined);
    }
    const record = tuned.value?.record;
    if (record && record.entries.length > 0) await addTuning(record);
  });
}

async function perform(
  task: Task,
  label: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (running.peek()) return;
  controller = new AbortController();
  const { signal } = controller;
  failed.value = null;
  running.value = { task, label, share: null };
  try {
    await work(signal);
  } catch (error) {
    const lost = error instanceof GemmError && error.code === 'device-lost'; // the page says that on its own
    if (!signal.aborted && !lost) failed.value = { task, error };
  } finally {
    running.value = null;
  }
}

const PHASES = {
  compiling: 'Compiling, and checking the kernel on a small product',
  'making operands': 'Making random operands',
  running: 'Running',
  checking: 'Comparing the result with float64',
  'warming up': 'Warming up',
  measuring: 'Measuring',
} as const;

const STEPS = {
  checking: 'Checking candidate',
  measuring: 'Measuring candidate',
  deciding: 'Deciding between the fastest,',
} as const;
