/** The terminal's colours; numbers and names are written as everywhere else. */
import { Chalk, type ChalkInstance, default as chalk, chalkStderr } from 'chalk';

export * from '../../figures.ts';

/** Colours for a stream; none where NO_COLOR says so (https://no-color.org), which chalk itself does not read. */
export function colours(stream: 'stdout' | 'stderr'): ChalkInstance {
  if (process.env.NO_COLOR) return new Chalk({ level: 0 });
  return stream === 'stdout' ? chalk : chalkStderr;
}
