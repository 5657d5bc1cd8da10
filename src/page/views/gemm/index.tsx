/** One product: described, explained for this device or another one, measured, placed on a roofline, tuned. */
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { GpuProblem } from '../../components/gpu-problem.tsx';
import { View } from '../../components/view.tsx';
import { replaceParams, route } from '../../state/route.ts';
import { Choice } from './choice.tsx';
import { fromParams, toParams } from './fields.ts';
import { Form } from './form.tsx';
import './gemm.css';
import { Measure } from './measure.tsx';
import { fields } from './state.ts';
import { Tune } from './tune.tsx';

export default function Gemm() {
  const { params, view } = route.value;
  const address = params.toString();
  const written = new URLSearchParams(toParams(fields.value)).toString();
  // An address that somebody followed is taken over once, before anything else is shown; from then on it says what the
  // fields hold.
  useLayoutEffect(() => {
    if (view === 'gemm' && address !== '' && address !== written) fields.value = fromParams(params);
  }, [address]);
  useEffect(() => {
    if (route.value.view === 'gemm') replaceParams(toParams(fields.value));
  }, [written, address]);
  return (
    <View
      title="One product, explained"
      lead="Describe a matrix product. You see at once which kernel the library chooses and why, and what it passes over; your GPU then measures it, verified against float64."
    >
      <GpuProblem />
      <div class="gemm">
        <Form />
        <div class="gemm-results">
          <Choice />
          <Measure />
          <Tune />
        </div>
      </div>
    </View>
  );
}
