/** One result, alone or beside another one. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/facts.tsx';
import { SelectField } from '../../components/field.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { View } from '../../components/view.tsx';
import { ShareButton } from '../../share/share-button.tsx';
import { summaryOf } from '../../share/summary.ts';
import type { PageRecord } from '../../state/read-record.ts';
import { h200Record } from '../../state/recorded.ts';
import { exportRecords, type Result, results } from '../../state/results.ts';
import { hrefOf, replaceParams, route } from '../../state/route.ts';
import { Comparison } from './comparison.tsx';
import { Figures } from './figures.tsx';
import { dateWords } from './words.ts';

/** The record that comes with the page, as a link names it. */
const H200 = 'h200';

export function Opened({ result: { id, record } }: { readonly result: Result }) {
  const summary = summaryOf(record);
  const { beside, problem } = useBeside(record);
  const { title, device, driver, runtime, date, clock } = summary;
  const choices = results.value.filter(other => other.id !== id && other.record.schema === record.schema);
  return (
    <View title={title} lead={`${device}, ${dateWords(date)}`}>
      <div class="row">
        <a href={hrefOf('results')}>← All results</a>
        <Button onClick={() => exportRecords([record])}>Export</Button>
        <ShareButton record={record} {...(beside ? { beside } : {})} />
      </div>
      <section class="section sheet" aria-label="About this result">
        <Facts
          items={[
            ['GPU', device],
            ...(driver && driver !== device ? ([['Driver', driver]] as const) : []),
            ['Measured in', runtime],
            ['Timed by', clock || 'not said'],
            ['Measured', dateWords(date)],
          ]}
        />
        <div class="results-beside">
          <SelectField
            label="Compare with"
            value={route.value.params.get('with') ?? ''}
            options={[
              { value: '', label: 'nothing' },
              ...(record.schema === 'webgemm-ladder/1'
                ? [{ value: H200, label: 'NVIDIA H200, which comes with the page' }]
                : []),
              ...choices.map(other => ({ value: String(other.id), label: labelOf(other) })),
            ]}
            onChange={value => replaceParams({ open: String(id), ...(value ? { with: value } : {}) })}
          />
        </div>
      </section>
      <section class="section" aria-label="Figures">
        {problem !== undefined && <ErrorNotice error={problem} />}
        {beside ? <Comparison left={summary} right={summaryOf(beside)} /> : <Figures summary={summary} />}
      </section>
    </View>
  );
}

interface Beside {
  /** Undefined while there is nothing, or it is still being loaded. */
  readonly beside?: PageRecord | undefined;
  /** Why it could not be loaded. */
  readonly problem?: unknown;
}

/** What the address says to compare with. */
function useBeside(record: PageRecord): Beside {
  const name = route.value.params.get('with');
  const [recorded, setRecorded] = useState<Beside>({});
  const wanted = name === H200 && record.schema === 'webgemm-ladder/1';
  useEffect(() => {
    if (!wanted) return;
    h200Record().then(
      beside => setRecorded({ beside }),
      problem => setRecorded({ problem }),
    );
  }, [wanted]);
  if (wanted) return recorded;
  const found = results.value.find(({ id }) => String(id) === name)?.record;
  return found?.schema === record.schema ? { beside: found } : {};
}

function labelOf({ record }: Result): string {
  const { title, device, date } = summaryOf(record);
  return `${title}, ${device}, ${dateWords(date)}`;
}
