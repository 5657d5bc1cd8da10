/** What the commands that measure have in common: what stands above their table, and how they end. */
import type { OpenGpu } from '../gpu.ts';
import { adapterName, backendOf } from './format.ts';
import type { Screen, Stream } from './screen.ts';

/**
 * The device and what runs it, what is about to be done, and what a software GPU's figures are worth.
 *
 * @param aside follows `what` in a weaker colour
 * @param small on a software GPU, that sizes were chosen to suit it; null where they were given
 */
export function heading(
  { profile, runtime }: OpenGpu,
  screen: Screen,
  { what, aside, small }: { readonly what: string; readonly aside: string; readonly small: string | null },
): string {
  const { bold, dim, yellow } = screen.colour;
  const { dawn, version, platform } = runtime;
  const lines = [
    `${bold(adapterName(profile))} ${dim(`· ${backendOf(platform)}, Dawn ${dawn}, Node ${version}`)}`,
    `${what} ${dim(`· ${aside}`)}`,
  ];
  if (profile.software) {
    lines.push(yellow("This is a software GPU: the CPU does the work. A real one's figures differ."));
    if (small) lines.push(yellow(small));
  }
  return `${lines.join('\n')}\n`;
}

/** Where a software GPU's small shapes were not asked for. */
export const SMALL_SHAPES = 'Small shapes were chosen so that it takes under a minute.';

/** Ends with the document where JSON goes out, which nothing else may be mixed into; otherwise with the table and a footer. */
export function conclude(
  screen: Screen,
  json: Stream | undefined,
  document: unknown,
  footer: () => string,
): void {
  if (json) {
    screen.erase();
    json.write(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    screen.settle();
    screen.print(footer());
  }
}
