/** A race goes on while another view is shown, so what it knows is kept here. */
import { computed, effect, signal } from '@preact/signals';
import type { BenchRecord } from '../../../bench/record.ts';
import { GemmError } from '../../../errors.ts';
import type { PeerName, RaceProgress } from '../../gpu/jobs/race.ts';
import { device, runJob } from '../../state/device.ts';
import { addResult } from '../../state/results.ts';
import { replaceParams, route } from '../../state/route.ts';
import { type RaceType, shapeOf, type Typed, usual } from './shape.ts';

export const PEERS = ['tensorflow', 'onnx-web', 'jax'] as const satisfies readonly PeerName[];

/** Null until the GPU is known, or the user or a link has said something. */
export const typed = signal<Typed | null>(null);
export const type = signal<RaceType>('f32');
export const chosen = signal<readonly PeerName[]>([]);
/** What the peers of this build download, in bytes as a server compresses them; null where that is not known. */
export const sizes = signal<Partial<Record<PeerName, number | null>> | null>(null);
export const progress = signal<RaceProgress | null>(null);
export const problem = signal<unknown>(null);
export const record = signal<BenchRecord | null>(null);

export const shape = computed(() => typed.value && shapeOf(typed.value));

let controller: AbortController | undefined;

// A link says what is to be raced, and starts nothing.
effect(() => {
  const { view, params } = route.value;
  const said = (name: string) => params.get(name);
  if (view !== 'race' || !said('m')) return;
  typed.value = { m: said('m') ?? '', n: said('n') ?? '', k: said('k') ?? '' };
  type.value = said('type') === 'f16' ? 'f16' : 'f32';
  chosen.value = PEERS.filter(name => said('peers')?.split(',').includes(name));
});

effect(() => {
  const { value } = device;
  if (value.status === 'opening' || typed.value) return;
  const { m, n, k } = usual(value.status === 'ready' && value.info.profile.software);
  typed.value = { m: String(m), n: String(n), k: String(k) };
});

/** Changes what is to be raced, and the page's address with it. */
export function change(to: { typed?: Typed; type?: RaceType; chosen?: readonly PeerName[] }): void {
  const { m, n, k } = to.typed ?? typed.value!;
  const next = { type: to.type ?? type.value, peers: (to.chosen ?? chosen.value).join(',') };
  replaceParams({ m, n, k, ...next });
}

/** Asks which peers this build has. */
export async function loadSizes(): Promise<void> {
  if (sizes.value) return;
  try {
    sizes.value = await (await fetch('./peers.json')).json();
  } catch (cause) {
    problem.value = new GemmError(
      'invalid-file',
      'the list of peers could not be loaded',
      'Load the page again.',
      {
        cause,
      },
    );
  }
}

export async function start(): Promise<void> {
  if (!shape.value) return;
  controller = new AbortController();
  const { signal } = controller;
  problem.value = null;
  record.value = null;
  progress.value = { label: 'Starting …', step: 0, steps: 1 };
  const peers = chosen.value.filter(name => sizes.value && name in sizes.value);
  try {
    const found = await runJob(
      'race',
      { shape: shape.value, type: type.value, peers },
      {
        signal,
        onProgress: value => {
          progress.value = value;
        },
      },
    );
    record.value = found;
    addResult(found);
  } catch (error) {
    const lost = error instanceof GemmError && error.code === 'device-lost'; // the page says that on its own
    if (!signal.aborted && !lost) problem.value = error;
  } finally {
    progress.value = null;
  }
}

export const cancel = (): void => controller?.abort();
