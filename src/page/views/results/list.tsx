/** All results, the newest first. */
import { Button } from '../../components/button.tsx';
import type { Figure, Summary } from '../../share/figure.ts';
import { summaryOf } from '../../share/summary.ts';
import { exportRecords, type Result, results } from '../../state/results.ts';
import { hrefOf } from '../../state/route.ts';
import { speed } from './figures.tsx';
import { remove } from './state.ts';
import { dateWords } from './words.ts';

export function List() {
  const all = results.value.toReversed();
  if (all.length === 0) {
    return (
      <section class="section" aria-label="Kept results">
        <p>There is nothing here yet.</p>
        <p class="muted">
          Run the <a href={hrefOf('ladder')}>ladder</a>, measure <a href={hrefOf('gemm')}>a product</a>, run a{' '}
          <a href={hrefOf('race')}>race</a>, or open what <code>npx webgemm ladder --json</code> wrote.
        </p>
      </section>
    );
  }
  return (
    <section class="section" aria-label="Kept results">
      <ul class="results">
        {all.map(result => (
          <Row key={result.id} result={result} />
        ))}
      </ul>
      {all.length > 1 && (
        <div>
          <Button variant="danger" onClick={() => remove(results.value)}>
            Remove all
          </Button>
        </div>
      )}
    </section>
  );
}

/** Whose the best figure is, in a few words. */
const wordsOf = (kind: Summary['kind'], { what, who }: Figure) =>
  kind === 'Race' ? who : kind === 'Ladder' ? `rung ${what.split(' ')[0]}` : what;

function Row({ result }: { readonly result: Result }) {
  const { id, source, record } = result;
  const { kind, title, device, runtime, date, figures } = summaryOf(record);
  const best = figures.filter(({ gflops }) => gflops !== null).sort((x, y) => y.gflops! - x.gflops!)[0];
  return (
    <li class="results-item">
      <div class="results-what">
        <a class="results-title" href={hrefOf('results', { open: String(id) })}>
          {title}
        </a>
        <span class="small">{device}</span>
        <span class="small muted">
          {dateWords(date)} · {runtime} · {source === 'measured' ? 'measured here' : 'opened from a file'}
        </span>
      </div>
      <div class="results-best">
        {best && (
          <>
            <span class="figure">{speed(best.gflops)}</span>
            <span class="small muted">{wordsOf(kind, best)}</span>
          </>
        )}
      </div>
      <div class="row results-actions">
        <Button aria-label={`Export ${title}`} onClick={() => exportRecords([record])}>
          Export
        </Button>
        <Button variant="quiet" aria-label={`Remove ${title}`} onClick={() => remove([result])}>
          Remove
        </Button>
      </div>
    </li>
  );
}
