/** The size, the button, and how far a climb is. */
import { bytes, duration } from '../../../figures.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import { Button } from '../../components/button.tsx';
import { NumberField } from '../../components/field.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { Progress } from '../../components/progress.tsx';
import { device } from '../../state/device.ts';
import { exportRecords } from '../../state/results.ts';
import { hrefOf } from '../../state/route.ts';
import { chooseSize, expectedMs, keepSize, profile, size, sizeError, sizeText, usualSizes } from './size.ts';
import { cancel, found, type Outcome, outcome, type Running, run, rungs, running } from './state.ts';
import { PHASES } from './working.tsx';

/** Browsers give up on a GPU that does not answer; Windows resets it after 2 s. */
const LONG_MS = 1800;

export function RunPanel() {
  const busy = running.value !== null;
  const ready = device.value.status === 'ready';
  return (
    <section class="section sheet ladder-panel" aria-label="Run the ladder">
      <div class="row-fields">
        <NumberField
          label="Size"
          value={sizeText.value}
          disabled={busy}
          error={sizeError.value}
          onInput={chooseSize}
          onFocus={keepSize}
        />
        <fieldset class="ladder-sizes">
          <legend class="field-label">Usual sizes</legend>
          <div>
            {usualSizes.value.map(n => (
              <Button
                key={n}
                aria-pressed={sizeText.value === String(n)}
                disabled={busy}
                onClick={() => chooseSize(String(n))}
              >
                {n}
              </Button>
            ))}
          </div>
        </fieldset>
        {busy ? (
          <Button variant="danger" onClick={cancel}>
            Cancel
          </Button>
        ) : (
          <Button variant="primary" disabled={!ready || size.value === null} onClick={() => run()}>
            Run all {RUNGS.length} rungs
          </Button>
        )}
      </div>
      {size.value !== null && <Work n={size.value} />}
      {running.value && <HowFar {...running.value} />}
      {outcome.value && <End of={outcome.value} />}
    </section>
  );
}

/** What the size means. */
function Work({ n }: { readonly n: number }) {
  const expected = expectedMs(n);
  return (
    <>
      <p class="small muted">
        C = A·B, each {n}×{n}: {operationsOf(n)} operations for a product, and {bytes(3 * n * n * 4)} of f32
        matrices.
        {profile.value?.software &&
          ' This is a software GPU: the CPU does the work, and a real GPU’s figures differ.'}
      </p>
      {expected !== null && expected > LONG_MS && (
        <Notice tone="warn" title={`Rung 1 may need ${duration(expected)} for one product of this size`}>
          <p>
            {profile.value?.software
              ? 'All rungs together take minutes.'
              : 'Browsers reset a GPU that is busy for that long. Take a smaller size, or run the faster rungs one by one.'}
          </p>
        </Notice>
      )}
    </>
  );
}

function operationsOf(n: number): string {
  const units = ['', 'thousand', 'million', 'billion', 'trillion'];
  const count = 2 * n ** 3;
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(count) / 3)));
  return `${Number((count / 1000 ** unit).toPrecision(3))} ${units[unit]}`;
}

function HowFar({ ids, at }: Running) {
  const finished = ids.filter(id => found.value[id]).length;
  const rung = RUNGS.find(({ id }) => id === at?.id);
  const place = ids.length > 1 ? ` (${ids.indexOf(at?.id ?? '') + 1} of ${ids.length})` : '';
  const within = at && !found.value[at.id] ? PHASES.indexOf(at.phase) / PHASES.length : 0;
  return (
    <Progress
      label={rung ? `Rung ${rung.rung}, ${rung.id}: ${at?.phase} …${place}` : 'Waiting for the GPU …'}
      value={(finished + within) / ids.length}
      spoken={false}
    />
  );
}

function End({ of }: { readonly of: Outcome }) {
  if (of.kind === 'failed') return <ErrorNotice error={of.error} />;
  if (of.kind === 'lost') {
    return <p class="small">The run ended when the GPU was lost. Restart the GPU, and run again.</p>;
  }
  if (of.kind === 'cancelled') {
    return (
      <p class="small">
        Cancelled
        {of.finished > 0
          ? `. What was measured of ${rungs(of.finished)} stays in the chart.`
          : ' before a rung was finished.'}
      </p>
    );
  }
  const { record } = of;
  const right = record.rungs.filter(({ status }) => status === 'ok').length;
  return (
    <div class="row">
      <p class="small">
        {record.rungs.length === 1 ? 'Done' : `Done: ${right} of ${record.rungs.length} rungs ran`}
        {right > 0 && ', verified against float64'}. The record is under{' '}
        <a href={hrefOf('results')}>Results</a>.
      </p>
      <Button onClick={() => exportRecords([record])}>Save it as JSON</Button>
    </div>
  );
}
