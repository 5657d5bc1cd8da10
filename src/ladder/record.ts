/** The document that a climb leaves behind: what `--json` prints, the page exports and bench/records keeps. */

import type { MatrixConfig, Profile, ProfileLimits } from '../profile.ts';
import type { Climb, RungResult } from './climb.ts';
import type { Shape } from './rung.ts';

/** What ran a measurement, beside the adapter: Node with Dawn, or a browser. */
export interface RecordRuntime {
  readonly name: string;
  readonly version: string;
  readonly dawn: string | null;
  readonly platform: string;
}

/** The part of a profile that says whose figures these are. */
export interface RecordAdapter {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  readonly software: boolean;
  readonly features: readonly string[];
  readonly subgroupMinSize: number;
  readonly subgroupMaxSize: number;
  readonly matrixConfigs: readonly MatrixConfig[];
  readonly limits: ProfileLimits;
}

/** What a rung gained; null where that is not known. */
export interface Gains {
  /** Speed over the rung below it in this climb: 8 and 8s both stand on 7, and 9 on the faster of them. */
  readonly overBelow: number | null;
  /** Speed over rung 1. */
  readonly overFirst: number | null;
}

/** A rung's result with what it gained. Numbers that are not known are null, never 0. */
export interface RungRecord extends RungResult, Gains {}

export interface LadderRecord {
  readonly schema: 'webgemm-ladder/1';
  /** When it was measured, as ISO 8601 in UTC. */
  readonly date: string;
  /** The version of webgemm that measured. */
  readonly version: string;
  readonly adapter: RecordAdapter;
  readonly runtime: RecordRuntime;
  readonly problem: Shape;
  readonly timer: Climb['timer'];
  readonly rungs: readonly RungRecord[];
}

export interface RecordSource {
  readonly version: string;
  readonly profile: Profile;
  readonly runtime: RecordRuntime;
  readonly shape: Shape;
  readonly climb: Climb;
  readonly date?: Date;
}

export function ladderRecord({ version, profile, runtime, shape, climb, date }: RecordSource): LadderRecord {
  return {
    schema: 'webgemm-ladder/1',
    date: (date ?? new Date()).toISOString(),
    version,
    adapter: recordAdapter(profile),
    runtime,
    problem: shape,
    timer: climb.timer,
    rungs: withGains(climb.rungs),
  };
}

export function recordAdapter({ wgslFeatures: _, ...adapter }: Profile): RecordAdapter {
  return adapter;
}

/** Adds to every result what it gained over the rung below it and over rung 1. */
export function withGains(results: readonly RungResult[]): RungRecord[] {
  const gains = gainsOf(results);
  return results.map((result, index) => ({ ...result, ...gains[index] }));
}

type Speed = Pick<RungResult, 'rung' | 'gflops'>;

/** What each rung of a climb gained, in the climb's order. */
export function gainsOf(rungs: readonly Speed[]): Gains[] {
  const first = rungs.find(({ rung }) => rung === '1');
  return rungs.map(rung => ({ overBelow: ratio(rung, below(rung, rungs)), overFirst: ratio(rung, first) }));
}

/** The fastest rung on the next lower step that was climbed. */
function below({ rung }: Speed, rungs: readonly Speed[]): Speed | undefined {
  const lower = rungs.filter(other => place(other.rung) < place(rung));
  const step = Math.max(...lower.map(other => place(other.rung)));
  return lower
    .filter(other => place(other.rung) === step)
    .sort((x, y) => (y.gflops ?? 0) - (x.gflops ?? 0))[0];
}

/** The step of the ladder: 8 for both `8` and `8s`. */
const place = (rung: string) => Number.parseInt(rung, 10);

const ratio = (of: Speed, over: Speed | undefined) =>
  of.gflops && over?.gflops ? of.gflops / over.gflops : null;
