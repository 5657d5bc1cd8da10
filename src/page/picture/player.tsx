/** Goes through steps: back, play, on, and a slider that says where one is. */
import { useEffect, useId, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';

interface PlayerProps {
  readonly steps: number;
  readonly at: number;
  /** What the step is called, for the slider's value. */
  readonly name: string;
  readonly onStep: (at: number) => void;
  readonly onPlaying: (playing: boolean) => void;
}

/** Milliseconds for a step: time to see where the colours went; slower where motion is not wanted. */
const PACE = { usual: 650, calm: 2000 };

export function Player({ steps, at, name, onStep, onPlaying }: PlayerProps) {
  const id = useId();
  const [playing, setPlaying] = useState(false);
  const last = steps - 1;
  const run = playing && at < last;
  useEffect(() => {
    onPlaying(run);
    if (!run) {
      setPlaying(false);
      return;
    }
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const timer = setTimeout(() => onStep(at + 1), calm ? PACE.calm : PACE.usual);
    return () => clearTimeout(timer);
  }, [run, at, onStep, onPlaying]);

  const go = (to: number) => {
    setPlaying(false);
    onStep(Math.max(0, Math.min(last, to)));
  };
  const play = () => {
    if (!run && at === last) onStep(0);
    setPlaying(!run);
  };
  return (
    <div class="picture-player">
      <Button aria-label="Previous step" disabled={at === 0} onClick={() => go(at - 1)}>
        ‹
      </Button>
      <Button variant="primary" onClick={play}>
        {run ? 'Pause' : 'Play'}
      </Button>
      <Button aria-label="Next step" disabled={at === last} onClick={() => go(at + 1)}>
        ›
      </Button>
      <label class="visually-hidden" for={id}>
        Step
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={last}
        value={at}
        aria-valuetext={`step ${at + 1} of ${steps}: ${name}`}
        onInput={event => go(event.currentTarget.valueAsNumber)}
      />
      <output for={id}>
        {at + 1} / {steps}
      </output>
    </div>
  );
}
