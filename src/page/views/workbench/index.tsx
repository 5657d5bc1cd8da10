/** The workbench: edit a kernel, run it on this GPU, see whether it is right and how fast it is. */
import { useSignalEffect } from '@preact/signals';
import '../../components/editor/editor.css';
import { Button } from '../../components/button.tsx';
import { GpuProblem } from '../../components/gpu-problem.tsx';
import { Notice } from '../../components/notice.tsx';
import { View } from '../../components/view.tsx';
import { RunPanel } from './run-panel.tsx';
import { brokenLink, followAddress, followChoice } from './sharing.ts';
import { SourceFields } from './source-fields.tsx';
import { nameOf } from './sources.ts';
import { bringBack, displaced } from './state.ts';
import { TextPanel } from './text-panel.tsx';
import './workbench.css';

export default function Workbench() {
  useSignalEffect(() => {
    followAddress();
  });
  useSignalEffect(followChoice);
  return (
    <View
      title="Workbench"
      lead="Take a kernel, change it, and run it on your GPU: what the compiler says, whether the result is right and which cells are not, and how fast it is beside the original."
    >
      <GpuProblem />
      {brokenLink.value && (
        <Notice tone="bad" title={brokenLink.value.message}>
          <p>Nothing of it was taken over.</p>
        </Notice>
      )}
      {displaced.value && (
        <Notice title="This is what the link holds">
          <p>
            <Button onClick={bringBack}>Back to your own text of {nameOf(displaced.value.source)}</Button>
          </p>
        </Notice>
      )}
      <section class="section sheet" aria-label="Kernel">
        <SourceFields />
      </section>
      <div class="workbench">
        <TextPanel />
        <RunPanel />
      </div>
    </View>
  );
}
