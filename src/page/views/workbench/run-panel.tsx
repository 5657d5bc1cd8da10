/** Run it, and what came of it. */
import { Button } from '../../components/button.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { Progress } from '../../components/progress.tsx';
import type { WorkbenchOutput } from '../../gpu/jobs/workbench.ts';
import { device, startGpu } from '../../state/device.ts';
import { OutcomeOf } from './outcome.tsx';
import { cancel, canRun, isCurrent, outcome, problem, progress, run, silent, slow } from './running.ts';

/** For those who hear the page. */
const SAID: Readonly<Record<WorkbenchOutput['status'], string>> = {
  'not-compiled': 'it does not compile',
  failed: 'it does not run',
  wrong: 'the result is wrong',
  right: 'the result is right',
};

export function RunPanel() {
  const [running, ran] = [progress.value, outcome.value];
  const ready = device.value.status === 'ready';
  return (
    <section class="section sheet workbench-run" aria-label="Run">
      <div class="row">
        {running ? (
          <Button variant="danger" onClick={cancel}>
            Cancel
          </Button>
        ) : (
          <Button variant="primary" disabled={!ready || !canRun.value} onClick={run}>
            Run
          </Button>
        )}
        <span class="small muted">
          {canRun.value
            ? 'Compile, verify against float64, time beside the original.'
            : 'It can’t be run: what is wrong is said above.'}
        </span>
      </div>
      <p class="visually-hidden" aria-live="polite">
        {ran && `Done: ${SAID[ran.output.status]}`}
      </p>
      {running && <Progress label={`${running.phase} …`} value={running.done ?? null} />}
      {slow.value && (
        <Notice tone="warn" title="Still running">
          <p>
            A kernel that never ends keeps the GPU until the browser takes it away. Your text stays when the
            GPU is restarted.
          </p>
          <p>
            <Button onClick={startGpu}>Restart the GPU</Button>
          </p>
        </Notice>
      )}
      {silent.value && (
        <Notice tone="warn" title="The GPU does not answer">
          <p>
            A kernel that never ends may still keep it. If it stays like this, share your text by link, then
            end the browser and start it again.
          </p>
        </Notice>
      )}
      {problem.value !== null && <ErrorNotice error={problem.value} />}
      {ran && !isCurrent.value && (
        <p class="small muted">This is of what lay here when it was run; it has changed since.</p>
      )}
      {ran && <OutcomeOf outcome={ran} />}
    </section>
  );
}
