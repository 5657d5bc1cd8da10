/** The size of the ladder's product: typed, picked, from the address, or what the probe finds right for this GPU. */
import { computed, effect, signal } from '@preact/signals';
import { GemmError } from '../../../errors.ts';
import { checkShape } from '../../../ladder/climb.ts';
import type { Shape } from '../../../ladder/rung.ts';
import type { Profile } from '../../../profile.ts';
import type { Probed } from '../../gpu/jobs/probe.ts';
import { device, runJob } from '../../state/device.ts';
import { replaceParams, route } from '../../state/route.ts';

const USUAL = [256, 512, 1024, 2048, 4096, 8192];
const USUAL_ON_CPU = [64, 128, 256];
const WITHOUT_GPU = 1024;

/** What was chosen, as it was typed; null while the default stands. */
const chosen = signal<string | null>(null);
const probed = signal<Probed | null>(null);

export const profile = computed<Profile | null>(() =>
  device.value.status === 'ready' ? device.value.info.profile : null,
);

/** Sizes to pick from. */
export const usualSizes = computed(() => (profile.value?.software ? USUAL_ON_CPU : USUAL));

/** What stands in the field. */
export const sizeText = computed(
  () => chosen.value ?? String(probed.value?.size ?? (profile.value ? usualSizes.value[0] : WITHOUT_GPU)),
);

type Parsed = { readonly size: number } | { readonly error: string };

const parsed = computed((): Parsed => {
  const text = sizeText.value.trim();
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) return { error: 'Type a whole number from 1 up.' };
  const size = Number(text);
  try {
    if (profile.value) checkShape(square(size), profile.value);
  } catch (error) {
    if (error instanceof GemmError) return { error: `${error.message}. ${error.hint}` };
    throw error;
  }
  return { size };
});

/** The size; null where what was typed is none. */
export const size = computed(() => ('size' in parsed.value ? parsed.value.size : null));
export const sizeError = computed(() => ('error' in parsed.value ? parsed.value.error : undefined));

export const square = (n: number): Shape => ({ m: n, n, k: n });

/** Milliseconds that rung 1 needs for one product of this size, scaled up from the probe; null below and without it. */
export function expectedMs(n: number): number | null {
  if (!probed.value || n <= probed.value.size) return null;
  return probed.value.ms * (n / probed.value.size) ** 3;
}

export function chooseSize(text: string): void {
  chosen.value = text;
  if (size.value !== null) shareSize(size.value);
}

/** Whoever is in the field finds what was there: the probe changes it no more. */
export function keepSize(): void {
  chosen.value ??= sizeText.value;
}

/** The address keeps the size, beside what else it says. */
function shareSize(n: number): void {
  replaceParams({ ...Object.fromEntries(route.value.params), size: String(n) });
}

/** What the address asks for; typing goes on beside it until it asks for something else. */
const asked = computed(() => (route.value.view === 'ladder' ? route.value.params.get('size') : null));

effect(() => {
  if (asked.value !== null) chosen.value = asked.value;
});

let probing: AbortController | undefined;

/** Work that somebody waits for goes before the probe. */
export const stopProbing = (): void => probing?.abort();

effect(() => {
  if (device.value.status !== 'ready') return;
  const own = new AbortController();
  probing = own;
  runJob('probe', undefined, { signal: own.signal }).then(
    found => {
      probed.value = found;
    },
    // Without it the smallest size is the default; a lost device is told by the page.
    () => {},
  );
});
