/** Results that come with the page: what others measured. Loaded when they are shown. */
import type { LadderRecord } from '../../ladder/record.ts';
import { RUNGS } from '../../ladder/rungs.ts';
import { parseRecord } from './read-record.ts';

/** GFLOP/s by rung id; null where a rung has no figure. */
export interface RecordedLadder {
  readonly name: string;
  readonly size: number;
  readonly gflops: Readonly<Record<string, number | null>>;
}

/** The reference's figures: 4096³ in Chrome on an M4 MacBook Air. */
export const M4_LADDER: RecordedLadder = {
  name: 'Apple M4',
  size: 4096,
  gflops: Object.fromEntries(RUNGS.map(({ id, m4 }) => [id, m4])),
};

/** This project's own record on an NVIDIA H200. */
export async function h200Record(): Promise<LadderRecord> {
  const { default: record } = await import('../../../bench/records/h200-ladder.json', {
    with: { type: 'json' },
  });
  return parseRecord(record, 'h200-ladder.json') as LadderRecord;
}

export async function h200Ladder(): Promise<RecordedLadder> {
  const { problem, rungs } = await h200Record();
  const gflops = Object.fromEntries(rungs.map(rung => [rung.id, rung.gflops]));
  return { name: 'NVIDIA H200', size: problem.m, gflops };
}
