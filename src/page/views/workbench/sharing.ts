/** Copying the text, and the workbench as a link; opening such a link. */
import { signal, untracked } from '@preact/signals';
import { hrefOf, replaceParams, route } from '../../state/route.ts';
import { isEdited } from './bench.ts';
import { choiceWords, linkWords, readLink } from './link.ts';
import { bench, open } from './state.ts';

/** What was copied, as a line; null where nothing was. */
export const copied = signal<string | null>(null);
/** The link that was made last, to be copied by hand too. */
export const link = signal<string | null>(null);
/** Why the link that was opened can't be read. */
export const brokenLink = signal<Error | null>(null);

/** The words of the address that this page wrote itself. */
let written = '';

export async function copyText(text: string): Promise<void> {
  copied.value = (await toClipboard(text)) ? 'The WGSL was copied.' : 'The browser did not allow copying.';
}

export async function copyLink(): Promise<void> {
  const words = await linkWords(bench.value);
  const made = new URL(hrefOf('workbench', words), location.href).href;
  link.value = made;
  write(words);
  copied.value = (await toClipboard(made)) ? 'The link was copied.' : 'Copy the link from the field.';
}

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** True while a link is being read: until then, what lies here is not what the address means. */
const opening = signal(false);

/** Keeps the address in step with what is chosen, so that it leads back here. Edits go into it when they are shared. */
export function followChoice(): void {
  if (opening.value || route.value.view !== 'workbench') return;
  const words = choiceWords(bench.value);
  const address = new URLSearchParams(written);
  const holdsEdits = [...address.keys()].some(name => /^(wgsl|grid)\d/.test(name));
  const chosen = [...address].filter(([name]) => !/^(wgsl|grid)\d/.test(name));
  const same =
    chosen.length === Object.keys(words).length && chosen.every(([name, value]) => words[name] === value);
  if (!same || (holdsEdits && !isEdited(bench.value))) untracked(() => write(words));
}

function write(words: Readonly<Record<string, string>>): void {
  written = new URLSearchParams(words).toString();
  replaceParams(words);
}

/** Opens what the address holds, unless this page wrote it. Nothing is run. */
export async function followAddress(): Promise<void> {
  const { view, params } = route.value;
  const words = params.toString();
  if (view !== 'workbench' || words === written) return;
  written = words;
  if (words === '') return; // the navigation led here: what lies here stays, and the address will say so
  opening.value = true;
  [brokenLink.value, link.value] = [null, null];
  try {
    open(await readLink(params));
  } catch (error) {
    brokenLink.value = error as Error;
  } finally {
    opening.value = false;
  }
}
