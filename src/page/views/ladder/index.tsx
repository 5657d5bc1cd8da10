/** The ladder on this GPU: run it, see what each idea buys beside recorded ladders, and open a rung to learn why. */
import './ladder.css';
import { useEffect } from 'preact/hooks';
import { GpuProblem } from '../../components/gpu-problem.tsx';
import { View } from '../../components/view.tsx';
import { announced } from './announce.ts';
import { Chart } from './chart.tsx';
import { opened } from './opened.ts';
import { RunPanel } from './run-panel.tsx';
import { headingId, loadDetails } from './rung-row.tsx';

export default function Ladder() {
  // A link to a rung leads to its row, not to the page's top: once what it opens to is there, and makes the page long.
  useEffect(() => {
    const [first] = opened.peek();
    if (!first) return;
    const show = () => document.getElementById(headingId(first))?.closest('li')?.scrollIntoView();
    loadDetails().then(() => requestAnimationFrame(show), show);
  }, []);
  return (
    <View
      title="The matmul ladder"
      lead="One matrix product, made fast step by step. Each rung adds one idea to the rung below it; it runs on your GPU, is verified against float64, and is then timed. Open a rung to see how it works."
    >
      <GpuProblem />
      <RunPanel />
      <Chart />
      <p class="visually-hidden" role="status">
        {announced.value}
      </p>
    </View>
  );
}
