/** Every kernel of the library in its place: chosen, slower, or why it can't serve. */
import type { Candidate, PassedOver } from '../../../choose.ts';
import { describeParams } from '../../../explain.ts';
import { duration, times } from '../../../figures.ts';
import { Prose } from '../../components/prose.tsx';
import type { Outline } from './outline.ts';

/** A kernel's place: what became of it, what it is expected to take, and its parameters or the reason against it. */
export interface Place {
  readonly kernel: string;
  readonly tone: 'chosen' | 'slower' | 'refused';
  readonly verdict: string;
  readonly time: string;
  readonly text: string;
}

interface KernelsProps {
  readonly title: string;
  readonly places: readonly Place[];
  /** The name of the one that the visitor forced. */
  readonly forced?: string | null;
}

export function Kernels({ title, places, forced = null }: KernelsProps) {
  if (places.length === 0) return null;
  return (
    <section class="section" aria-labelledby="gemm-kernels">
      <h3 id="gemm-kernels">{title}</h3>
      <ol class="gemm-kernels">
        {places.map(({ kernel, tone, verdict, time, text }) => (
          <li key={`${kernel} ${text}`} class={`gemm-${tone}`}>
            <span class="gemm-name">
              <code>{kernel}</code>
              {kernel === forced && <span class="gemm-tag">forced</span>}
            </span>
            <span class="gemm-verdict">{verdict}</span>
            <span class="gemm-time">{time}</span>
            <span class="gemm-text">
              <Prose text={text} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function placesOf({ ranked, explanation }: Outline): Place[] {
  const [first] = ranked;
  return [
    ...ranked.map((it): Place => {
      const comparable = isMeasured(it) === isMeasured(first);
      return {
        ...{ kernel: it.kernel.name, text: describeParams(it.params) },
        tone: it === first ? 'chosen' : 'slower',
        verdict: it === first ? '✓ chosen' : comparable ? slower(it, first) : 'not measured',
        // A model's time says nothing beside a measured one.
        time: comparable ? duration(it.estimateMs) : '–',
      };
    }),
    ...refusedPlaces(explanation.passedOver),
  ];
}

export const refusedPlaces = (passedOver: readonly PassedOver[]): Place[] =>
  passedOver.map(({ kernel, reason }) => {
    return { kernel, tone: 'refused', verdict: 'can’t serve', time: '', text: reason };
  });

const isMeasured = ({ source }: Candidate) => ['measured', 'near', 'shipped'].includes(source);

const slower = (it: Candidate, first: Candidate) => {
  const ratio = it.estimateMs / first.estimateMs;
  return ratio >= 1.01 ? `${times(ratio)} the time` : 'as fast';
};
