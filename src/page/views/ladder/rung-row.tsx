/** A rung's row in the chart: its name, figures or state, its button, and what it opens to. */
import type { ComponentChildren } from 'preact';
import { duration, scientific } from '../../../figures.ts';
import type { RungResult } from '../../../ladder/climb.ts';
import type { Rung } from '../../../ladder/rung.ts';
import type { BarsRow } from '../../components/bars.tsx';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';
import { Prose } from '../../components/prose.tsx';
import { device } from '../../state/device.ts';
import { useLoaded } from './loaded.ts';
import { toggle } from './opened.ts';
import { size } from './size.ts';
import { cancel, type Running, run, STATUS } from './state.ts';
import { Working } from './working.tsx';

export interface RowInput {
  readonly rung: Rung;
  readonly values: readonly (number | null)[];
  readonly remarks: readonly ComponentChildren[];
  readonly result: RungResult | undefined;
  /** What this GPU lacks for it; null where it runs, or where nobody knows. */
  readonly lacks: string | null;
  readonly running: Running | null;
  readonly open: boolean;
}

export const headingId = (rung: string) => `rung-${rung}`;
const panelId = (rung: string) => `rung-${rung}-opened`;

export function rungRow({ rung, values, remarks, result, lacks, running, open }: RowInput): BarsRow {
  const note = noteOf(rung, result, lacks, running);
  return {
    key: rung.id,
    label: <Head rung={rung} open={open} />,
    values,
    remarks,
    ...(note ? { note } : {}),
    ...(result?.status === 'ok' ? { facts: factsOf(result) } : {}),
    aside: <RunButton rung={rung} lacks={lacks} running={running} />,
    below: open && (
      <section id={panelId(rung.rung)} aria-labelledby={headingId(rung.rung)} class="ladder-opened">
        <Opened rung={rung} result={result} />
      </section>
    ),
  };
}

function Head({ rung: { rung, id, idea }, open }: { readonly rung: Rung; readonly open: boolean }) {
  return (
    <h3 class="ladder-head" id={headingId(rung)}>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? panelId(rung) : undefined}
        onClick={() => toggle(rung)}
      >
        <span class="ladder-number">
          <span class="visually-hidden">Rung </span>
          {rung}
        </span>
        <span>
          {idea} <code class="muted">{id}</code>
        </span>
      </button>
    </h3>
  );
}

function noteOf(
  { id }: Rung,
  result: RungResult | undefined,
  lacks: string | null,
  running: Running | null,
): ComponentChildren {
  if (result && result.status !== 'ok') return <Why status={result.status} reason={result.reason ?? ''} />;
  if (result) return null;
  if (lacks) return <Why status="unsupported" reason={lacks} />;
  if (running?.at?.id === id) return <Working phase={running.at.phase} />;
  return running?.ids.includes(id) ? 'waits' : null;
}

function Why({ status, reason }: { readonly status: RungResult['status']; readonly reason: string }) {
  return (
    <>
      <strong class={status === 'unsupported' ? undefined : 'ladder-bad'}>{STATUS[status]}</strong>:{' '}
      <Prose text={reason} />
    </>
  );
}

const factsOf = ({ ms, relErr }: RungResult) => (
  <>
    {duration(ms)} a product, verified: error {scientific(relErr)}
  </>
);

interface RunButtonProps {
  readonly rung: Rung;
  readonly lacks: string | null;
  readonly running: Running | null;
}

/** Runs this rung alone; while it does, stops it, so that the focus stays where it is. */
function RunButton({ rung: { rung, id }, lacks, running }: RunButtonProps) {
  if (running && running.ids.length === 1 && running.ids[0] === id) {
    return (
      <Button variant="danger" aria-label={`Cancel rung ${rung}`} onClick={cancel}>
        Stop
      </Button>
    );
  }
  const able = device.value.status === 'ready' && size.value !== null && running === null && lacks === null;
  return (
    <Button disabled={!able} aria-label={`Run rung ${rung}`} onClick={() => run([id])}>
      Run
    </Button>
  );
}

/** Not with the chart: most rows stay closed. */
export const loadDetails = () => import('./details.tsx');

function Opened(props: { readonly rung: Rung; readonly result: RungResult | undefined }) {
  const loaded = useLoaded(loadDetails);
  if (loaded === null) return <p class="small muted">Loading …</p>;
  if ('error' in loaded) {
    return (
      <Notice tone="bad" title="This could not be loaded">
        <p>The network failed, or the site was renewed since this page was opened: load the page again.</p>
      </Notice>
    );
  }
  return <loaded.value.RungDetails {...props} />;
}
