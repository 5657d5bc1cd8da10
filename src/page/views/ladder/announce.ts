/** What a screen reader hears of a climb: finished rungs, gathered, so that a quick climb is not a flood. */
import { signal } from '@preact/signals';

const GATHER_MS = 3000;

/** The text of the live region. */
export const announced = signal('');

let waiting: string[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says it together with what else happens in the next seconds. */
export function announceSoon(text: string): void {
  waiting.push(text);
  timer ??= setTimeout(() => announce(waiting.join(' ')), GATHER_MS);
}

/** Says it at once, in place of what was waiting. */
export function announce(text: string): void {
  clearTimeout(timer);
  timer = undefined;
  waiting = [];
  announced.value = text;
}
