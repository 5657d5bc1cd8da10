/** What the library would run for the product, why, and what it passes over; as the fields are typed, without a GPU. */

import type { ComponentChildren } from 'preact';
import { describeParams } from '../../../explain.ts';
import { bytes, duration } from '../../../figures.ts';
import { KERNELS } from '../../../kernels/index.ts';
import { describeProblem, operations, type Problem } from '../../../problem.ts';
import { describeProfile } from '../../../profile.ts';
import { Facts } from '../../components/facts.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { Prose } from '../../components/prose.tsx';
import { Kernels, placesOf, refusedPlaces } from './kernels.tsx';
import { intensity, type Outline, traffic, trafficBytes, type Unserved } from './outline.ts';
import { Passes, Sources } from './passes.tsx';
import { explained, fields, shown } from './state.ts';
import { commonest, expected, origin, short, work } from './words.ts';

export function Choice() {
  const { free, forced, problem, unserved, errors } = explained.value;
  const outline = forced ?? free;
  return (
    <section class="section" aria-labelledby="gemm-choice">
      <h2 id="gemm-choice">What the library runs</h2>
      {shown.value === null && <p class="muted">The browser is being asked for a GPU …</p>}
      {problem && <ErrorNotice error={problem} />}
      {unserved && <Refused unserved={unserved} />}
      {!outline && !problem && !unserved && shown.value && (
        <Notice tone="warn" title="There is nothing to explain yet">
          <p>{Object.values(errors).length > 0 ? 'A field says what is wrong.' : 'Describe a product.'}</p>
        </Notice>
      )}
      {outline && free && <Explained outline={outline} free={free} forced={forced !== null} />}
    </section>
  );
}

interface ExplainedProps {
  readonly outline: Outline;
  readonly free: Outline;
  readonly forced: boolean;
}

function Explained({ outline, free, forced }: ExplainedProps) {
  const { explanation, problem, cut } = outline;
  const kernel = KERNELS.find(({ name }) => name === explanation.kernel);
  return (
    <>
      <div class="sheet section">
        <Asked problem={problem} />
        {kernel ? (
          <>
            <p class="gemm-kernel" role="status">
              <code>{kernel.name}</code>
              {forced && <span class="gemm-tag">forced</span>}
            </p>
            <p>{kernel.idea[0].toUpperCase() + kernel.idea.slice(1)}.</p>
            <Facts items={factsOf(outline, forced)} />
          </>
        ) : (
          <p>There is nothing to compute: C has no elements.</p>
        )}
        {cut && (
          <Notice
            title={`The operands exceed a binding: the product is cut into ${cut.toLocaleString('en-US')} pieces`}
          >
            <p>What is said here is of the first of them.</p>
          </Notice>
        )}
        {forced && <Difference outline={outline} free={free} />}
      </div>
      <Kernels
        title={
          fields.value.kernel === '' ? 'Every kernel of the library' : 'What the library would choose itself'
        }
        places={placesOf(free)}
        forced={forced ? explanation.kernel : null}
      />
      <Sources shaders={outline.shaders} />
    </>
  );
}

/** What no kernel can serve, and what each of them lacks. */
function Refused({ unserved: { problem, reasons } }: { readonly unserved: Unserved }) {
  return (
    <>
      <div class="sheet section">
        <Asked problem={problem} />
        <Notice tone="warn" title="No kernel can serve this product">
          <p>
            <Prose text={`${commonest(reasons)}.`} />
          </p>
        </Notice>
      </div>
      <Kernels title="Every kernel of the library" places={refusedPlaces(reasons)} />
    </>
  );
}

/** What is computed, and on which device. */
function Asked({ problem }: { readonly problem: Problem }) {
  const { name, profile } = shown.value!;
  return (
    <p class="small muted">
      <span class="figure">{describeProblem(problem)}</span> on{' '}
      {name ?? `${describeProfile(profile)}, your device`}
    </p>
  );
}

function factsOf({ explanation, problem, passes }: Outline, forced: boolean): [string, ComponentChildren][] {
  const { params, scratch, pieces } = explanation;
  const moved = traffic(problem)
    .filter(([, size]) => size > 0)
    .map(([name, size]) => `${name} ${bytes(size)}`);
  const held = Object.entries(scratch).map(([name, size]) => `${name} ${bytes(size)}`);
  return [
    ['Why', origin(explanation, forced)],
    ['Expected time', expected(explanation)],
    ['Parameters', describeParams(params) || 'none'],
    [passes.length > 1 ? 'Passes' : 'Pass', <Passes key="passes" passes={passes} />],
    ['Work', work(operations(problem), problem)],
    ['Bytes moved', `${bytes(trafficBytes(problem))} at the least: ${moved.join(', ')}`],
    ['Work per byte', `${work(intensity(problem), problem)} for each byte`],
    ['Scratch memory', held.join(', ') || 'none'],
    ...(pieces > 1
      ? [['Pieces', `${pieces}, so that every operand fits into a binding`] as [string, string]]
      : []),
  ];
}

/** What forcing a kernel is expected to cost. */
function Difference({ outline, free }: { readonly outline: Outline; readonly free: Outline }) {
  const [own, mine] = [free.explanation, outline.explanation];
  if (own.kernel === mine.kernel) return <p class="small">It is the one that the library chooses, too.</p>;
  const ratio = (mine.expectedMs ?? 0) / (own.expectedMs ?? 1);
  return (
    <p class="small">
      The library would choose <code>{own.kernel}</code>, expected in {duration(own.expectedMs)}: this one is
      expected to take {short(ratio)} times as long. Measure both to see.
    </p>
  );
}
