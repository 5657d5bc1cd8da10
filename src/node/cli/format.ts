/** The terminal's colours; numbers and names are written as everywhere else. */
import { Chalk, type ChalkInstance, default as chalk, chalkStderr } from 'chalk';

export * from '../../figures.ts';

/** Colours for a stream; none where NO_COLOR says so (https://no-color.org), which chalk itself does not read. */
export function colours(stream: 'stdout' | 'stderr'): ChalkInstance {
  if (process.env.NO_COLOR) return new Chalk({ level: 0 });
  return stream === 'stdout' ? chalk : chalkStderr;
}

/** Values, comma by comma, in lines of at most `width` columns; every line but the first is indented. */
export function wrapped(
  values: readonly string[],
  { width, indent }: { width: number; indent: number },
): string {
  const lines = [''];
  for (const [index, value] of values.entries()) {
    const text = index < values.length - 1 ? `${value}, ` : value;
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + text.trimEnd().length > width) lines.push(text);
    else lines[last] += text;
  }
  return lines.map(line => line.trimEnd()).join(`\n${' '.repeat(indent)}`);
}
