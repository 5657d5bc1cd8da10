/** Why nothing can run on the GPU now, and what to do; nothing where it can. */
import { device, startGpu } from '../state/device.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

export function GpuProblem() {
  const state = device.value;
  if (state.status === 'lost' || state.status === 'failed') {
    const lost = state.status === 'lost';
    return (
      <Notice tone="bad" title={lost ? 'The GPU was lost' : 'The GPU could not be started'}>
        <p>
          {lost && 'The browser took it away: its driver was reset, or something ran for too long. '}
          {state.message && `It says: ${state.message}`}
        </p>
        <p>
          <Button onClick={startGpu}>Restart the GPU</Button>
        </p>
      </Notice>
    );
  }
  if (state.status !== 'missing') return null;
  const { title, what, todo } = state.advice;
  return (
    <Notice tone="warn" title={title}>
      <p>{what}</p>
      <ul>
        {todo.map(step => (
          <li key={step}>{step}</li>
        ))}
      </ul>
      <p>Everything that needs no GPU is still here: recorded results, kernels and explanations.</p>
      <p>
        <Button onClick={startGpu}>Try again</Button>
      </p>
    </Notice>
  );
}
