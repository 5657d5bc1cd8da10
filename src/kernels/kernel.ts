/**
 * What every kernel of the library is: a name, a space of parameters, a reason where it can't serve, an estimate of its
 * time, and a program. All of it is pure; `choose` compares kernels without a device.
 */
import type { Arithmetic } from '../measure/tolerance.ts';
import type { Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import type { Program } from '../program.ts';

/** Parameters of a kernel by name: tile sizes, cells a thread, steps; what a tuning record holds. */
export type Params = Readonly<Record<string, number>>;

/** A kernel of the library: data and pure functions, so that it can be compared and tried without a device. */
export interface Kernel {
  /** What it is forced by and what `explain()` calls it. */
  readonly name: string;
  /** What it does, in a line. */
  readonly idea: string;
  /** Why it can't serve this problem on this device whatever its parameters, or null. */
  rejects(problem: Problem, profile: Profile): string | null;
  /** Parameters worth trying, the best guess first. Never empty where the kernel serves. */
  candidates(problem: Problem, profile: Profile): readonly Params[];
  /** Parameters that the tuner may try beside those, in any order; nothing else is tried where it is left out. */
  space?(problem: Problem, profile: Profile): readonly Params[];
  /** How it computes, as far as its error depends on that. */
  arithmetic(problem: Problem): Arithmetic;
  /** Estimated milliseconds, for comparing kernels; how it is made up is said in choose.ts. */
  estimate(problem: Problem, profile: Profile, params: Params): number;
  /** The passes for these parameters. */
  build(problem: Problem, profile: Profile, params: Params): Program;
}

/** Whether these are parameters of one kernel: the same names, whatever they hold. */
export const sameNames = (x: Params = {}, y: Params = {}): boolean =>
  Object.keys(x).sort().join() === Object.keys(y).sort().join();
