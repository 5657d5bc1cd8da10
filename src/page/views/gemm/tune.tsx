/** Tuning of the product on this device, and all that was tuned here: kept in this browser, exported, imported, cleared. */
import { useRef, useState } from 'preact/hooks';
import { describeParams } from '../../../explain.ts';
import { duration, scientific, times } from '../../../figures.ts';
import { operations } from '../../../problem.ts';
import { describeShape } from '../../../trial/shapes.ts';
import type { TuningEntry } from '../../../tuning/record.ts';
import type { Measured, Tried } from '../../../tuning/search.ts';
import { Button } from '../../components/button.tsx';
import { Details } from '../../components/details.tsx';
import { NumberField } from '../../components/field.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { device } from '../../state/device.ts';
import { clearTuning, exportTuning, importTuning, notKept, tuning } from '../../state/tuning.ts';
import { Underway } from './measure.tsx';
import { cancel, explained, fields, running, tuned, tuneProduct } from './state.ts';
import { short } from './words.ts';

export function Tune() {
  const [budget, setBudget] = useState('20');
  const seconds = Number(budget);
  const valid = budget.trim() !== '' && seconds > 0 && seconds <= 3600;
  const { free } = explained.value;
  const ready = device.value.status === 'ready' && fields.value.device === '';
  const busy = running.value?.task === 'tune';
  const able = ready && running.value === null && free !== null && operations(free.problem) > 0;
  return (
    <section class="section" aria-labelledby="gemm-tune">
      <h2 id="gemm-tune">Tune it here</h2>
      <p class="muted">
        Tries kernels and parameters for this product on your GPU. Every candidate is verified before it is
        timed; the fastest is used from then on, for similar products, too, and is kept in this browser.
      </p>
      <div class="row-fields">
        <NumberField
          label="Budget in seconds"
          value={budget}
          disabled={busy}
          error={valid ? undefined : 'Give seconds, more than 0 and up to 3600.'}
          onInput={setBudget}
        />
        {busy ? (
          <Button variant="danger" onClick={cancel}>
            Stop and keep the best
          </Button>
        ) : (
          <Button disabled={!able || !valid} onClick={() => tuneProduct(seconds)}>
            Tune
          </Button>
        )}
      </div>
      <Underway tasks={['tune']} />
      <Found />
      <Kept />
    </section>
  );
}

/** Before and after, and what was tried. */
function Found() {
  if (!tuned.value) return null;
  const { problem, before, best, tried, reason } = tuned.value.result;
  const { m, n, k, batch, a, b } = problem;
  const shape = describeShape({ m, n, k, batch, transA: a.trans, transB: b.trans });
  if (!best) {
    return (
      <Notice tone="warn" title="Nothing was found">
        <p>{reason}</p>
      </Notice>
    );
  }
  const rows: { what: string; it: Measured | null }[] = [
    { what: 'before', it: before },
    { what: 'after', it: best },
  ];
  return (
    <div class="sheet section" role="status">
      <p class="gemm-figures">
        <strong>{before ? times(before.ms / best.ms) : duration(best.ms)}</strong>{' '}
        <span>
          {before ? 'the speed of the choice before' : 'with the fastest'}, for{' '}
          <span class="figure">{shape}</span>
        </span>
      </p>
      {reason && <p class="small muted">Ended early: {reason}.</p>}
      <Table
        caption="What was chosen before, and what is fastest"
        rows={rows}
        keyOf={({ what }) => what}
        columns={[
          { head: '', cell: ({ what }) => what },
          { head: 'Kernel', cell: ({ it }) => (it ? <code>{it.kernel}</code> : 'not measured') },
          { head: 'Time', number: true, cell: ({ it }) => duration(it?.ms ?? null) },
          { head: 'Error', number: true, cell: ({ it }) => scientific(it?.relErr ?? null) },
          { head: 'Parameters', cell: ({ it }) => it && describeParams(it.params) },
        ]}
      />
      <Details summary={`All ${tried.length} candidates`}>
        <Candidates tried={tried} />
      </Details>
    </div>
  );
}

function Candidates({ tried }: { readonly tried: readonly Tried[] }) {
  const time = ({ ms }: Tried) => ms ?? Number.POSITIVE_INFINITY;
  return (
    <Table
      caption="The fastest first"
      rows={[...tried].sort((x, y) => time(x) - time(y))}
      keyOf={({ kernel, params }) => `${kernel} ${describeParams(params)}`}
      columns={[
        { head: 'Kernel', cell: ({ kernel }) => <code>{kernel}</code> },
        { head: 'Time', number: true, cell: ({ ms }) => duration(ms) },
        { head: 'Verdict', cell: ({ status, reason }) => (reason ? `${status}: ${reason}` : status) },
        { head: 'Parameters', cell: ({ params }) => describeParams(params) },
      ]}
    />
  );
}

/** What is kept of this device. */
function Kept() {
  const [problem, setProblem] = useState<unknown>(null);
  const file = useRef<HTMLInputElement>(null);
  const record = tuning.value;
  const entries = record?.entries ?? [];
  const state = device.value;
  const open = async (chosen: File) => {
    if (state.status !== 'ready') return;
    setProblem(null);
    await importTuning(chosen, state.info.profile).catch(setProblem);
  };
  return (
    <div class="section">
      <h3>Tuned on this device</h3>
      {entries.length === 0 ? (
        <p class="muted">Nothing yet.</p>
      ) : (
        <Table
          caption={`${entries.length} ${entries.length > 1 ? 'products' : 'product'}, ${notKept.value === null ? 'kept in this browser' : 'until this page is closed'}`}
          rows={entries}
          keyOf={entry => JSON.stringify(entry)}
          columns={[
            { head: 'Product', cell: entry => <span class="figure">{productOf(entry)}</span> },
            { head: 'Kernel', cell: ({ kernel }) => <code>{kernel}</code> },
            { head: 'Time', number: true, cell: ({ ms }) => duration(ms) },
            { head: 'GFLOP/s', number: true, cell: ({ tflops }) => short(tflops * 1000) },
            { head: 'Parameters', cell: ({ params }) => describeParams(params) },
          ]}
        />
      )}
      {notKept.value !== null && (
        <Notice tone="warn" title="The browser keeps nothing for this page">
          <p>Export what was tuned, to have it later. It says: {notKept.value}</p>
        </Notice>
      )}
      {problem !== null && <ErrorNotice error={problem} />}
      <div class="row">
        <Button disabled={entries.length === 0} onClick={() => record && exportTuning(record)}>
          Export
        </Button>
        <Button disabled={state.status !== 'ready'} onClick={() => file.current?.click()}>
          Import
        </Button>
        <Button variant="danger" disabled={entries.length === 0} onClick={clearTuning}>
          Clear
        </Button>
        <input
          ref={file}
          class="visually-hidden"
          type="file"
          accept=".json,application/json"
          aria-label="A tuning record to import"
          tabIndex={-1}
          onChange={async ({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? [];
            if (chosen) await open(chosen);
            currentTarget.value = ''; // so that the same file can be opened again
          }}
        />
      </div>
    </div>
  );
}

function productOf({ m, n, k, batch, aType, bType, cType, transA, transB, accuracy }: TuningEntry): string {
  const types = aType === bType ? aType : `${aType}×${bType}`;
  const narrowed = accuracy === 'f32' ? '' : `, accuracy ${accuracy}`;
  return `${describeShape({ m, n, k, batch, transA, transB })} ${types}→${cType}${narrowed}`;
}
