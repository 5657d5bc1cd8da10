/** The options that several commands share, and the checks of their values. */
import type { Command } from 'commander';
import { GemmError } from '../../errors.ts';
import type { OpenOptions } from '../gpu.ts';
import { SOFTWARE_GPUS } from '../software.ts';

export interface GpuOptions {
  readonly software?: boolean;
  readonly adapter?: string;
}

export const withGpuOptions = (command: Command): Command =>
  command
    .option('--software', 'take a software GPU, also where there is a real one')
    .option('--adapter <name>', `a part of the GPU's name, or a software GPU: ${SOFTWARE_GPUS.join(', ')}`);

/** @throws GemmError `invalid-argument` where the two options contradict each other */
export function openOptions({ software = false, adapter }: GpuOptions): OpenOptions {
  if (adapter === undefined) return { software };
  if (!adapter.trim()) {
    throw new GemmError('invalid-argument', '--adapter is empty', 'Give a part of the name of a GPU.');
  }
  if (software && !SOFTWARE_GPUS.some(name => name === adapter)) {
    throw new GemmError(
      'invalid-argument',
      `--software and --adapter ${adapter} contradict each other: that is no software GPU`,
      `Leave one of them out; the software GPUs are ${SOFTWARE_GPUS.join(', ')}.`,
    );
  }
  return { software, adapter };
}

/** A parser for the value of a size option such as `--size`. */
export const sizeOf = (option: string) => (text: string) => {
  const size = /^\d+$/.test(text) ? Number(text) : 0;
  if (size < 1 || !Number.isSafeInteger(size)) {
    throw new GemmError('invalid-size', `${option} is "${text}"`, 'Sizes are whole numbers from 1 up.');
  }
  return size;
};

/** A parser for a time in seconds, up to `most`; gives milliseconds. */
export const secondsOf =
  (option: string, most = 600) =>
  (text: string) => {
    const seconds = /^\d*\.?\d+$/.test(text) ? Number(text) : 0;
    if (!(seconds > 0 && seconds <= most)) {
      throw new GemmError(
        'invalid-argument',
        `${option} is "${text}"`,
        `Give seconds, more than 0 and up to ${most}, such as 0.5.`,
      );
    }
    return seconds * 1000;
  };
