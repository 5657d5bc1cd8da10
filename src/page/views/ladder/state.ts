/** A climb goes on while another view is shown, so what it has found is kept here. */
import { computed, signal } from '@preact/signals';
import { GemmError } from '../../../errors.ts';
import { speed } from '../../../figures.ts';
import type { Phase, RungResult } from '../../../ladder/climb.ts';
import type { LadderRecord } from '../../../ladder/record.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import { runJob } from '../../state/device.ts';
import { addResult } from '../../state/results.ts';
import { announce, announceSoon } from './announce.ts';
import { size, square, stopProbing } from './size.ts';

export interface Running {
  /** Of the product. */
  readonly size: number;
  /** Ids of the rungs to run, in their order. */
  readonly ids: readonly string[];
  /** The rung that is at work, and what is being done with it; null until the first one begins. */
  readonly at: { readonly id: string; readonly phase: Phase } | null;
}

/** How the last run ended. */
export type Outcome =
  | { readonly kind: 'done'; readonly record: LadderRecord }
  | { readonly kind: 'cancelled'; readonly finished: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly error: unknown };

export type Found = Readonly<Record<string, RungResult>>;

/** What is running; null where nothing is. */
export const running = signal<Running | null>(null);
export const outcome = signal<Outcome | null>(null);

/** Results by size and by the rung's id: figures of different sizes do not belong into one chart. */
const measured = signal<Readonly<Record<number, Found>>>({});

/** Results of the size that is shown: the one at work, else the chosen one. */
export const shownSize = computed(() => running.value?.size ?? size.value);
export const found = computed((): Found => measured.value[shownSize.value ?? 0] ?? {});

let controller: AbortController | undefined;

/** Runs rungs at the chosen size, all of them where none are named. What else goes on in this view ends first. */
export async function run(ids: readonly string[] = RUNGS.map(({ id }) => id)): Promise<void> {
  const n = size.value;
  if (n === null || running.value) return;
  const own = new AbortController();
  controller = own;
  stopProbing();
  outcome.value = null;
  keep(n, without(measured.value[n] ?? {}, ids));
  running.value = { size: n, ids, at: null };
  const finished: RungResult[] = [];
  outcome.value = await runJob(
    'ladder',
    { shape: square(n), ids },
    {
      signal: own.signal,
      onProgress: progress => {
        if ('phase' in progress) {
          running.value = { size: n, ids, at: progress };
        } else {
          finished.push(progress.result);
          keep(n, { ...measured.value[n], [progress.id]: progress.result });
          announceSoon(inWords(progress.result));
        }
      },
    },
  ).then(
    (record): Outcome => {
      addResult(record);
      return { kind: 'done', record };
    },
    (error): Outcome => {
      if (own.signal.aborted) return { kind: 'cancelled', finished: finished.length };
      const lost = error instanceof GemmError && error.code === 'device-lost';
      return lost ? { kind: 'lost' } : { kind: 'failed', error };
    },
  );
  running.value = null;
  announce(summary(outcome.value, finished));
}

export function cancel(): void {
  controller?.abort();
}

function keep(n: number, results: Found): void {
  measured.value = { ...measured.value, [n]: results };
}

const without = (results: Found, ids: readonly string[]): Found =>
  Object.fromEntries(Object.entries(results).filter(([id]) => !ids.includes(id)));

const inWords = ({ rung, id, gflops, status, reason }: RungResult): string =>
  `Rung ${rung}, ${id}: ${gflops === null ? `${STATUS[status]}, ${reason}` : speed(gflops)}.`;

export const STATUS: Readonly<Record<RungResult['status'], string>> = {
  ok: 'right',
  unsupported: 'not on this GPU',
  wrong: 'WRONG',
  failed: 'FAILED',
};

function summary(end: Outcome, finished: readonly RungResult[]): string {
  if (end.kind === 'failed') return ''; // its notice is an alert of its own
  if (end.kind === 'lost') return 'The run ended: the GPU was lost.';
  if (end.kind === 'cancelled') return `Cancelled after ${rungs(finished.length)}.`;
  if (finished.length === 1) return inWords(finished[0]);
  const right = finished.filter(({ status }) => status === 'ok');
  const fastest = right.toSorted((x, y) => (y.gflops ?? 0) - (x.gflops ?? 0))[0];
  const best = fastest ? ` The fastest is ${inWords(fastest)}` : '';
  return `Done: ${rungs(right.length)} of ${finished.length} ran and were verified.${best}`;
}

export const rungs = (count: number): string => `${count} ${count === 1 ? 'rung' : 'rungs'}`;
