/** What came of a run: compiler messages, right or wrong and where, times beside the original. */
import { duration, gflops, percent, scientific, times } from '../../../figures.ts';
import { Facts } from '../../components/facts.tsx';
import { Notice } from '../../components/notice.tsx';
import { Prose } from '../../components/prose.tsx';
import { Table } from '../../components/table.tsx';
import type { Timed, Timing } from '../../gpu/jobs/workbench.ts';
import { HeatMap } from './heat-map.tsx';
import { Messages } from './messages.tsx';
import type { Outcome } from './running.ts';

export function OutcomeOf({ outcome }: { readonly outcome: Outcome }) {
  const { output, edited, shape } = outcome;
  const { messages } = output;
  switch (output.status) {
    case 'not-compiled':
      return (
        <Notice tone="bad" title="It does not compile">
          <Messages messages={messages} of={outcome.of} />
        </Notice>
      );
    case 'failed':
      return (
        <Notice tone="bad" title="It does not run">
          <p>
            <Prose text={output.reason} />
          </p>
          <Messages messages={messages} of={outcome.of} />
        </Notice>
      );
    case 'wrong':
      return (
        <>
          <Notice tone="bad" title="The result is wrong">
            <p>{output.verdict.failure}</p>
            <p>So it was not timed: a wrong result has no speed.</p>
            <Messages messages={messages} of={outcome.of} />
          </Notice>
          <HeatMap cells={output.cells} />
        </>
      );
    case 'right': {
      const { verdict, timings, timer } = output;
      return (
        <>
          <Notice tone="good" title={edited ? 'Right' : 'Right: this is the original'}>
            <p>Every cell is as close to float64 as its arithmetic allows.</p>
            <Messages messages={messages} of={outcome.of} />
          </Notice>
          <Headline timings={timings} work={2 * shape.m * shape.n * shape.k} />
          <Table
            caption={`Median times (and interquartile range) at ${shape.m}×${shape.n}×${shape.k}, ${edited ? 'both measured in turn, ' : ''}by ${timer === 'wall-clock' ? 'the wall clock' : 'GPU timestamps'}`}
            rows={timings}
            keyOf={({ label }) => label}
            columns={[
              { head: 'Pass', cell: ({ label }) => label },
              { head: 'Original', number: true, cell: ({ original }) => timed(original) },
              ...(edited
                ? [
                    { head: 'Yours', number: true, cell: ({ edited: mine }: Timing) => timed(mine) },
                    { head: 'Speed', number: true, cell: (it: Timing) => times(ratio(it)) },
                  ]
                : []),
            ]}
          />
          <Facts
            items={[
              ['Relative error', scientific(verdict.relErr)],
              ['Worst cell', `${percent(verdict.worst)} of what is allowed`],
            ]}
          />
        </>
      );
    }
  }
}

const ratio = ({ original, edited }: Timing) => (edited ? original.ms / edited.ms : null);
const timed = (it: Timed | null) => (it ? `${duration(it.ms)} (${percent(it.spread)})` : 'as it was');

/** The one figure that it is about. */
function Headline({ timings, work }: { readonly timings: readonly Timing[]; readonly work: number }) {
  const product = timings.find(timing => timing.product);
  if (!product) return null;
  const rate = ({ ms }: Timed) => `${gflops(work / ms / 1e6)} GFLOP/s`;
  const { original, edited } = product;
  if (!edited) return <p class="workbench-headline figure">{rate(original)}</p>;
  const factor = original.ms / edited.ms;
  return (
    <p class="workbench-headline">
      <strong class="figure">{times(factor)}</strong> the original’s speed:{' '}
      <span class="figure">{rate(edited)}</span> against <span class="figure">{rate(original)}</span>
      {Math.abs(factor - 1) <= Math.max(original.spread, edited.spread) && (
        <span class="muted"> (no more than the times vary by themselves)</span>
      )}
    </p>
  );
}
