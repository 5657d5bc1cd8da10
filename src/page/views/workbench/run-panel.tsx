/** Run it, and what came of it. */
import { Button } from '../../components/button.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { Progress } from '../../components/progress.tsx';
import { device, startGpu } from '../../state/device.ts';
import { OutcomeOf } from './outcome.tsx';
import { cancel, canRun, isCurrent, outcome, problem, progress, run, slow } from './running.ts';

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
        <span class="small muted">Compile, verify against float64, time beside the original.</span>
      </div>
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
      {problem.value !== null && <ErrorNotice error={problem.value} />}
      {ran && !isCurrent.value && (
        <p class="small muted">This is of what lay here when it was run; it has changed since.</p>
      )}
      {ran && <OutcomeOf outcome={ran} />}
    </section>
  );
}
