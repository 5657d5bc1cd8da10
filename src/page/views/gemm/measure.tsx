/** The product on this device: measured beside what was expected, and under the device's roofs. */
import type { ComponentChildren } from 'preact';
import { duration, percent, scientific, times } from '../../../figures.ts';
import { describeProblem, operations } from '../../../problem.ts';
import { Button } from '../../components/button.tsx';
import { Details } from '../../components/details.tsx';
import { Facts } from '../../components/facts.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Progress } from '../../components/progress.tsx';
import { Table } from '../../components/table.tsx';
import { device } from '../../state/device.ts';
import { intensity, type Outline, trafficBytes } from './outline.ts';
import { Roofline } from './roofline.tsx';
import { allowed, labelOf, pointOf, type Roofs, roofOf, roofsOf } from './roofline-model.ts';
import {
  cancel,
  ceilings,
  chosen,
  explained,
  failed,
  fields,
  type Measured,
  measureCeilings,
  measured,
  measureProduct,
  running,
  type Task,
} from './state.ts';
import { expected, rate, short, work } from './words.ts';

export function Measure() {
  const outline = chosen.value;
  const ready = device.value.status === 'ready' && fields.value.device === '';
  const idle = running.value === null;
  const something = outline !== null && operations(outline.problem) > 0;
  const busy = running.value?.task === 'measure' || running.value?.task === 'roofs';
  return (
    <section class="section" aria-labelledby="gemm-measure">
      <h2 id="gemm-measure">On your GPU</h2>
      <div class="row">
        {busy ? (
          <Button variant="danger" onClick={cancel}>
            Cancel
          </Button>
        ) : (
          <Button variant="primary" disabled={!ready || !idle || !something} onClick={measureProduct}>
            Measure
          </Button>
        )}
        {!busy && !ceilings.value && (
          <Button disabled={!ready || !idle} onClick={measureCeilings}>
            Measure only the roofs
          </Button>
        )}
        {!busy && <span class="small muted">{advice(ready, something)}</span>}
      </div>
      <Underway tasks={['measure', 'roofs']} />
      <Results />
    </section>
  );
}

function advice(ready: boolean, something: boolean): string {
  if (device.value.status === 'missing') return 'There is no GPU to measure on.';
  if (fields.value.device !== '') return 'Explained for another device: choose this one to measure.';
  if (explained.value.unserved) return 'There is no kernel to measure.';
  if (ready && !something) return 'There is nothing to multiply.';
  return 'Runs once and is compared with float64, then is timed.';
}

/** Progress of some tasks, and what went wrong with them. */
export function Underway({ tasks }: { readonly tasks: readonly Task[] }) {
  const [now, failure] = [running.value, failed.value];
  return (
    <>
      {now && tasks.includes(now.task) && <Progress label={now.label} value={now.share} />}
      {failure && tasks.includes(failure.task) && <ErrorNotice error={failure.error} />}
    </>
  );
}

function Results() {
  const all = measured.value;
  const last = all.at(-1);
  const roofs = ceilings.value && roofsOf(ceilings.value);
  const outline = chosen.value;
  return (
    <>
      {last && <Last measured={last} />}
      {roofs && outline && operations(outline.problem) > 0 && <UnderRoofs roofs={roofs} outline={outline} />}
      {all.length > 1 && <Visit />}
    </>
  );
}

/** Predicted beside measured. */
function Last({ measured: { outline, result, forced } }: { readonly measured: Measured }) {
  const { problem, explanation } = outline;
  const { ms, spread, relErr, worst, planMs, kernel } = result;
  const speed = pointOf(problem, ms, '');
  const items: [string, ComponentChildren][] = [
    [
      'Measured',
      `${duration(ms)}, the median; the middle half of the samples lies within ${percent(spread)}`,
    ],
    ['Expected', `${expected(explanation)}; it took ${times(ms / result.expectedMs)} that`],
    ['Memory', `${short(trafficBytes(problem) / ms / 1e6)} GB/s, each operand counted once`],
    [
      'Error',
      `${relErr === null ? 'none: all is 0' : `${scientific(relErr)} relative to float64`}${
        worst === null ? '' : `; the worst cell uses ${percent(worst)} of its allowed bound`
      }`,
    ],
    ['Plan', `${duration(planMs)} to choose, compile and check the kernel`],
    [
      'Timer',
      result.timer === 'gpu-timestamp'
        ? 'GPU timestamps'
        : 'wall clock: submit to done, which counts the browser’s own time',
    ],
  ];
  return (
    <div class="sheet section" role="status">
      <p class="small muted">
        <span class="figure">{describeProblem(problem)}</span>, <code>{kernel}</code>
        {forced && <span class="gemm-tag">forced</span>}
      </p>
      <p class="gemm-figures">
        <strong>{rate(speed)}</strong> <span>{duration(ms)}</span>{' '}
        <span class="gemm-verified">verified{result.verified === 'whole' ? '' : ` ${result.verified}`}</span>
      </p>
      <Facts items={items} />
    </div>
  );
}

function UnderRoofs({ roofs, outline }: { readonly roofs: Roofs; readonly outline: Outline }) {
  const { problem, explanation } = outline;
  const key = describe(outline);
  const points = measured.value.map(it => ({
    key: describe(it.outline),
    point: pointOf(it.outline.problem, it.result.ms, describe(it.outline)),
  }));
  const now = points.findLast(it => it.key === key) ?? null;
  const earlier = points.filter(it => it !== now).map(({ point }) => point);
  const bound = roofOf(roofs, explanation.kernel, problem);
  const perByte = intensity(problem);
  const most = allowed(roofs, bound, perByte);
  const byMemory = roofs.gbps * perByte < bound.gflops;
  const text = [
    `This product does ${work(perByte, problem)} for each byte that it must move.`,
    byMemory
      ? `That is bound by memory: a copy's ${short(roofs.gbps)} GB/s allow ${rate({ ...bound, gflops: most })}.`
      : `That is bound by arithmetic: ${bound.label} reach ${rate(bound)}.`,
    now
      ? `Measured: ${rate(now.point)}, ${percent(now.point.gflops / most)} of that.`
      : 'It was not measured yet.',
    ...(earlier.length > 0
      ? [`${earlier.length} earlier ${earlier.length > 1 ? 'points are' : 'point is'} shown pale.`]
      : []),
  ].join(' ');
  return (
    <section class="section" aria-labelledby="gemm-roofline">
      <h3 id="gemm-roofline">Under the roofs of your GPU</h3>
      <div class="sheet section">
        <Roofline {...{ roofs, bound, perByte, earlier, text }} now={now?.point ?? null} />
        <Details summary="The roofs in numbers">
          <RoofFacts />
        </Details>
      </div>
    </section>
  );
}

function RoofFacts() {
  const items = (ceilings.value ?? []).map(
    ({ name, gbps, tflops, spread, failure, dtype }): [string, string] => {
      const within = spread === null ? '' : `, within ${percent(spread)}`;
      if (gbps !== null) return ['copy', `${short(gbps)} GB/s, read and written${within}`];
      if (tflops === null) return [labelOf(name), failure ?? 'unknown'];
      return [
        labelOf(name),
        `${rate({ gflops: tflops * 1000, unit: dtype === 'i8' ? 'OP' : 'FLOP' })}${within}`,
      ];
    },
  );
  return (
    <div class="section">
      <p class="small muted">
        Measured here, every result checked: a copy from buffer to buffer, and arithmetic that waits for no
        memory.
        {device.value.status === 'ready' && device.value.info.profile.software
          ? ' A CPU that plays a GPU copies within its caches: its roofs are only a hint.'
          : ''}
      </p>
      <Facts items={items} />
    </div>
  );
}

/** All of the visit; a forced kernel beside what the library chose for the same product. */
function Visit() {
  const rows = [...measured.value].reverse();
  const own = (row: Measured) =>
    measured.value.findLast(
      it => !it.forced && describeProblem(it.outline.problem) === describeProblem(row.outline.problem),
    );
  return (
    <Table
      caption="Measured in this visit, the newest first"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Product',
          cell: ({ outline }) => <span class="figure">{describeProblem(outline.problem)}</span>,
        },
        {
          head: 'Kernel',
          cell: ({ result, forced }) => (
            <>
              <code>{result.kernel}</code>
              {forced && <span class="gemm-tag">forced</span>}
            </>
          ),
        },
        { head: 'Expected', number: true, cell: ({ result }) => duration(result.expectedMs) },
        { head: 'Measured', number: true, cell: ({ result }) => duration(result.ms) },
        {
          head: 'Speed',
          number: true,
          cell: ({ outline, result }) => rate(pointOf(outline.problem, result.ms, '')),
        },
        {
          head: 'Against the choice',
          number: true,
          cell: row => {
            const reference = own(row);
            return row.forced && reference ? times(reference.result.ms / row.result.ms) : '';
          },
        },
        { head: 'Error', number: true, cell: ({ result }) => scientific(result.relErr) },
      ]}
    />
  );
}

const describe = ({ problem, explanation }: Outline): string =>
  `${describeProblem(problem)} ${JSON.stringify(problem)} ${explanation.kernel}`;
