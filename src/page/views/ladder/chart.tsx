/** The rungs as a chart that grows: this GPU's figures, recorded ones beside them, and each row opens. */
import { useEffect, useMemo } from 'preact/hooks';
import { speed, times } from '../../../figures.ts';
import { programFor } from '../../../ladder/multiply.ts';
import { gainsOf } from '../../../ladder/record.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import { describeProfile } from '../../../profile.ts';
import { Bars, Swatch } from '../../components/bars.tsx';
import { Checkbox } from '../../components/field.tsx';
import { M4_LADDER } from '../../state/recorded.ts';
import { h200, h200Failed, loadH200, recorded, scale, showH200, showM4 } from './compare.ts';
import { opened } from './opened.ts';
import { rungRow } from './rung-row.tsx';
import { Segments } from './segments.tsx';
import { profile, square } from './size.ts';
import { found, running, shownSize } from './state.ts';

export function Chart() {
  useEffect(() => {
    loadH200();
  }, []);
  const n = shownSize.value;
  const lacking = useMemo(() => lackingAt(n), [n, profile.value]);
  const speeds = [
    RUNGS.map(({ id }) => found.value[id]?.gflops ?? null),
    ...recorded().map(ladder => RUNGS.map(({ id }) => ladder?.gflops[id] ?? null)),
  ];
  const gains = speeds.map(values => gainsOf(RUNGS.map(({ rung }, i) => ({ rung, gflops: values[i] }))));
  const yours = profile.value ? `your GPU, ${describeProfile(profile.value)}` : 'your GPU';
  return (
    <section class="section" aria-labelledby="ladder-rungs">
      <h2 id="ladder-rungs">The rungs</h2>
      <div class="ladder-controls">
        <ul class="legend" aria-label="What the bars are">
          <li>
            <Swatch series={0} />
            {yours}
            {n !== null && `, ${cube(n)}`}
          </li>
          <li>
            <Checkbox
              label={<Recorded series={1} name={`recorded: ${M4_LADDER.name}, Chrome`} n={M4_LADDER.size} />}
              checked={showM4.value}
              onChange={checked => {
                showM4.value = checked;
              }}
            />
          </li>
          <li>
            <Checkbox
              label={<Recorded series={2} name="recorded: NVIDIA H200, Dawn" n={h200.value?.size ?? null} />}
              checked={showH200.value}
              onChange={checked => {
                showH200.value = checked;
                if (checked) loadH200();
              }}
            />
          </li>
        </ul>
        <Segments
          label="Scale"
          value={scale.value}
          options={[
            { value: 'log', label: 'logarithmic' },
            { value: 'linear', label: 'linear' },
          ]}
          onChange={chosen => {
            scale.value = chosen;
          }}
        />
      </div>
      {showH200.value && h200Failed.value && (
        <p class="small">The record of the H200 could not be loaded. Tick its box again to try once more.</p>
      )}
      <Bars
        label="Speed of each rung"
        series={[yours, M4_LADDER.name, 'NVIDIA H200']}
        legend={false}
        scale={scale.value}
        format={speed}
        tick={short}
        rows={RUNGS.map((rung, i) =>
          rungRow({
            rung,
            values: speeds.map(values => values[i]),
            remarks: gains.map(ladder => gainOf(ladder[i].overBelow)),
            result: found.value[rung.id],
            lacks: lacking[i],
            running: running.value,
            open: opened.value.includes(rung.rung),
          }),
        )}
      />
      <p class="small muted">
        {scale.value === 'log' ? 'Each line stands for ten times the speed of the one before it. ' : ''}
        “2.00×” is a rung’s gain over the rung below it: 8 and 8s both stand on 7, and 9 on the faster of
        them. An idea that gains on one GPU may lose on another.
        {n !== null &&
          n < M4_LADDER.size &&
          ` The recorded ladders multiplied matrices of ${M4_LADDER.size}×${M4_LADDER.size}: large products keep a GPU busier than small ones.`}
      </p>
    </section>
  );
}

function Recorded({ series, name, n }: { series: number; name: string; n: number | null }) {
  return (
    <span class="ladder-recorded">
      <Swatch series={series} />
      {name}
      {n !== null && `, ${cube(n)}`}
    </span>
  );
}

/** What each rung lacks for this size on this GPU; null where it runs, or where nobody knows. */
function lackingAt(n: number | null): readonly (string | null)[] {
  const here = profile.value;
  return RUNGS.map(rung => {
    if (!here || n === null) return null;
    const program = programFor(rung, square(n), here);
    return typeof program === 'string' ? program : null;
  });
}

const gainOf = (over: number | null) =>
  over === null ? null : (
    <>
      {times(over)}
      <span class="visually-hidden"> the rung below</span>
    </>
  );

const cube = (n: number) => `${n}³`;

/** 0.1 G, 10 T: of FLOP/s. */
const short = (value: number): string =>
  value === 0 ? '0' : value < 1000 ? `${value} G` : `${Number((value / 1000).toPrecision(3))} T`;
