/** What a record says, in one form for every kind of record: for tables, bars, comparisons and pictures. Pure. */
import type { LadderRecord } from '../../ladder/record.ts';
import { RUNGS } from '../../ladder/rungs.ts';
import { describeShape } from '../../trial/shapes.ts';
import type { TuningRecord } from '../../tuning/record.ts';
import type { PageRecord } from '../state/read-record.ts';
import { benchSummary } from './bench-summary.ts';
import { clockName, deviceName, kernelWords, originOf, type Summary } from './figure.ts';

export function summaryOf(record: PageRecord): Summary {
  switch (record.schema) {
    case 'webgemm-ladder/1':
      return ladderSummary(record);
    case 'webgemm-bench/1':
      return benchSummary(record);
    case 'webgemm-tuning/1':
      return tuningSummary(record);
  }
}

function ladderSummary(record: LadderRecord): Summary {
  const { problem, timer, rungs } = record;
  return {
    kind: 'Ladder',
    title: `Ladder, ${describeShape(problem)}`,
    ...originOf(record),
    clock: clockName(timer.kind),
    remark: '',
    figures: rungs.map(({ rung, id, gflops, ms, spread, relErr, status, reason, detail }) => ({
      what: `${rung} ${RUNGS.find(other => other.id === id)?.idea ?? id}`,
      ...{ who: '', how: detail ?? '', gflops, ms, spread, relErr },
      behind: null,
      failure: status === 'ok' ? null : (reason ?? status),
    })),
  };
}

function tuningSummary({ adapter, date, runtime, entries }: TuningRecord): Summary {
  const products = entries.length === 1 ? 'one product' : `${entries.length} products`;
  return {
    kind: 'Tuning',
    title: `Tuning of ${products}`,
    ...{ device: deviceName(adapter), driver: adapter.description, runtime, date },
    ...{ clock: '', remark: '' },
    figures: entries.map(entry => {
      const { aType, bType, accuracy, kernel, params, tflops, ms, spread, relErr } = entry;
      const types = aType === bType ? aType : `${aType}·${bType}`;
      return {
        what: [describeShape(entry), types, accuracy === 'strict' ? 'strict' : ''].filter(Boolean).join(' '),
        ...{ who: '', how: kernelWords(kernel, params), gflops: tflops * 1000 },
        ...{ ms, spread, relErr, behind: null, failure: null },
      };
    }),
  };
}
