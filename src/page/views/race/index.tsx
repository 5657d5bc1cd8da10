/** The library and its peers on one product, on this GPU. */
import './race.css';
import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { GpuProblem } from '../../components/gpu-problem.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { Progress } from '../../components/progress.tsx';
import { View } from '../../components/view.tsx';
import { ShareButton } from '../../share/share-button.tsx';
import { summaryOf } from '../../share/summary.ts';
import { device } from '../../state/device.ts';
import { exportRecords } from '../../state/results.ts';
import { hrefOf } from '../../state/route.ts';
import { Figures } from '../results/figures.tsx';
import { PeerFields } from './peer-fields.tsx';
import { ProductFields } from './product-fields.tsx';
import { roomProblem } from './shape.ts';
import { cancel, chosen, loadSizes, problem, progress, record, shape, start, type, typed } from './state.ts';

export default function Race() {
  useEffect(() => {
    loadSizes();
  }, []);
  const ready = device.value.status === 'ready' ? device.value.info.profile : null;
  const running = progress.value !== null;
  const room = ready && shape.value ? roomProblem(shape.value, type.value, ready) : null;
  return (
    <View
      title="Race"
      lead="The same product by webgemm and by other libraries, on your GPU. Each result is verified against float64, and all are timed in the same way: many products enqueued, one wait, in turn, by the wall clock."
    >
      <GpuProblem />
      <section class="section sheet" aria-label="Set up a race">
        <ProductFields disabled={running} />
        <PeerFields disabled={running || !typed.value} />
        {room && <Notice tone="warn" title={room} />}
        <div class="row">
          {running ? (
            <Button variant="danger" onClick={cancel}>
              Cancel
            </Button>
          ) : (
            <Button variant="primary" disabled={!ready || !shape.value || room !== null} onClick={start}>
              Start the race
            </Button>
          )}
          {chosen.value.length === 0 && !running && (
            <span class="small muted">Without another library, webgemm runs alone.</span>
          )}
        </div>
        {progress.value && (
          <Progress label={progress.value.label} value={progress.value.step / progress.value.steps} />
        )}
        {problem.value !== null && <ErrorNotice error={problem.value} />}
      </section>
      {record.value && <Outcome />}
    </View>
  );
}

function Outcome() {
  const found = record.value!;
  const summary = summaryOf(found);
  return (
    <section class="section" aria-labelledby="outcome">
      <div class="row race-outcome">
        <h2 id="outcome">{summary.title}</h2>
        <Button onClick={() => exportRecords([found])}>Export</Button>
        <ShareButton record={found} />
      </div>
      <Figures summary={summary} />
      <p class="small muted">
        It is kept among the <a href={hrefOf('results')}>results</a>.
      </p>
    </section>
  );
}
