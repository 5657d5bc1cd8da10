/** The ladder on this GPU: run it, and see what each idea buys beside recorded ladders. */
import { gflops } from '../../../figures.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import { Bars, type BarsRow } from '../../components/bars.tsx';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/field.tsx';
import { GpuProblem } from '../../components/gpu-problem.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Progress } from '../../components/progress.tsx';
import { View } from '../../components/view.tsx';
import { device } from '../../state/device.ts';
import { M4_LADDER } from '../../state/recorded.ts';
import { cancel, climb, done, phase, problem, size, sizes } from './state.ts';

export default function Ladder() {
  const running = phase.value !== null;
  const ready = device.value.status === 'ready';
  return (
    <View
      title="The matmul ladder"
      lead="One matrix product, made fast step by step. Each rung adds one idea to the rung below it; it runs on your GPU, is verified against float64, and then timed."
    >
      <GpuProblem />
      <section class="section sheet" aria-label="Run">
        <div class="row-fields">
          <SelectField
            label="Size"
            value={String(size.value)}
            options={sizes.value.map(n => ({ value: String(n), label: `${n} × ${n} × ${n}` }))}
            disabled={running || !ready}
            onChange={value => {
              size.value = Number(value);
            }}
          />
          {running ? (
            <Button variant="danger" onClick={cancel}>
              Cancel
            </Button>
          ) : (
            <Button variant="primary" disabled={!ready} onClick={climb}>
              Run the ladder
            </Button>
          )}
        </div>
        {phase.value && (
          <Progress label={phase.value} value={Object.keys(done.value).length / RUNGS.length} />
        )}
        {problem.value !== null && <ErrorNotice error={problem.value} />}
      </section>
      <section class="section" aria-label="Results">
        <Bars
          label="GFLOP/s of each rung"
          series={['your GPU', `${M4_LADDER.name}, ${M4_LADDER.size}³`]}
          format={value => `${gflops(value)} GFLOP/s`}
          rows={RUNGS.map(rowOf)}
        />
      </section>
    </View>
  );
}

function rowOf({ rung, id, idea }: (typeof RUNGS)[number]): BarsRow {
  const result = done.value[id];
  const note = result?.status === 'ok' ? undefined : result?.reason;
  return {
    key: id,
    label: (
      <>
        <strong>{rung}</strong> {idea}
      </>
    ),
    values: [result?.gflops ?? null, M4_LADDER.gflops[id]],
    ...(note ? { note } : {}),
  };
}
