/** What stands beside this GPU's figures, and on which scale. Kept while another view is shown. */
import { signal } from '@preact/signals';
import type { ScaleKind } from '../../components/scale.ts';
import { h200Ladder, M4_LADDER, type RecordedLadder } from '../../state/recorded.ts';

export const scale = signal<ScaleKind>('log');
export const showM4 = signal(true);
export const showH200 = signal(true);

/** This project's record; null until it is there. */
export const h200 = signal<RecordedLadder | null>(null);
export const h200Failed = signal(false);

/** Fetches the record once. */
export async function loadH200(): Promise<void> {
  if (h200.value) return;
  h200Failed.value = false;
  try {
    h200.value = await h200Ladder();
  } catch {
    h200Failed.value = true; // the chart says so; its box can be ticked again
  }
}

export const recorded = (): (RecordedLadder | null)[] => [
  showM4.value ? M4_LADDER : null,
  showH200.value ? h200.value : null,
];
