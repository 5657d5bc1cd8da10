/**
 * A rung's mapping, step by step: which cells of A and B a subgroup's lanes or the whole workgroup read, through which
 * memory, what moves together and what is read again. Drawn from a run of the mapping (model/trace.ts).
 */
import './picture.css';
import { useCallback, useEffect, useId, useMemo, useState } from 'preact/hooks';
import type { Profile } from '../../profile.ts';
import { SelectField } from '../components/field.tsx';
import { coloursIn, type View } from './draw.ts';
import { Follow } from './follow.tsx';
import { Legend } from './legend.tsx';
import { type ColourBy, Matrices } from './matrices.tsx';
import { Memories } from './memories.tsx';
import { exampleProfile } from './model/example.ts';
import { mappingOf, pictureShape } from './model/mappings.ts';
import { type Trace, trace } from './model/trace.ts';
import { describeStep, type Scope } from './model/words.ts';
import { Numbers } from './numbers.tsx';
import { Player } from './player.tsx';

export interface PictureProps {
  /** The rung's place in the ladder: '1', '8s'. */
  readonly rung: string;
  /** The reader's device; null while there is none: then an example is drawn, and said to be one. */
  readonly profile: Profile | null;
}

/** Nothing for a rung that has no picture. */
export function Picture({ rung, profile }: PictureProps) {
  const example = useMemo(() => exampleProfile(rung, profile), [rung, profile]);
  if (!example) return null;
  return <Working key={rung} rung={rung} profile={example.profile} because={example.because} />;
}

interface WorkingProps {
  readonly rung: string;
  readonly profile: Profile;
  readonly because: string | null;
}

/** The larger rungs take a moment, in which the page says so. */
function Working({ rung, profile, because }: WorkingProps) {
  const [traced, setTraced] = useState<Trace | null>(null);
  useEffect(() => {
    setTraced(null);
    const timer = setTimeout(() => setTraced(traceOf(rung, profile)));
    return () => clearTimeout(timer);
  }, [rung, profile]);
  if (!traced) return <p class="small muted">Running the kernel’s indices …</p>;
  return <Drawn rung={rung} traced={traced} because={because} />;
}

/** A workgroup in the middle of the matrices. */
function traceOf(rung: string, profile: Profile): Trace {
  const shape = pictureShape(rung, profile);
  const mapping = mappingOf(rung, shape, profile);
  const middle = (size: number, tile: number) => Math.floor(size / tile / 2);
  return trace(mapping, shape, middle(shape.m, mapping.tile.m), middle(shape.n, mapping.tile.n));
}

interface DrawnProps {
  readonly rung: string;
  readonly traced: Trace;
  readonly because: string | null;
}

function Drawn({ rung, traced, because }: DrawnProps) {
  const { mapping, shape, makers } = traced;
  const subgroups = Math.ceil(mapping.threads / mapping.lanes);
  const [at, setAt] = useState(0);
  const [playing, setPlaying] = useState(false);
  const [scope, setScope] = useState<Scope>('subgroup');
  const [subgroup, setSubgroup] = useState(0);
  const [colourBy, setColourBy] = useState<ColourBy>('thread');
  const [cell, setCell] = useState<number | null>(null);
  const thread = cell === null || makers[cell] < 0 ? null : makers[cell];
  const view: View = { scope, subgroup };
  const words = describeStep(traced, traced.steps[at], scope, subgroup);
  const wordsId = useId();
  const pick = useCallback((picked: number) => setCell(picked), []);

  return (
    <figure class="picture">
      <div class="picture-choices">
        {subgroups > 1 && (
          <SelectField
            label="Show"
            value={scope === 'workgroup' ? 'all' : String(subgroup)}
            options={[
              ...Array.from({ length: subgroups }, (_, i) => ({
                value: String(i),
                label: `subgroup ${i} (${mapping.lanes} lanes)`,
              })),
              { value: 'all', label: `the whole workgroup (${mapping.threads} threads)` },
            ]}
            onChange={chosen => {
              setScope(chosen === 'all' ? 'workgroup' : 'subgroup');
              if (chosen !== 'all') setSubgroup(Number(chosen));
            }}
          />
        )}
        <SelectField
          label="Colour A and B by"
          value={colourBy}
          options={[
            { value: 'thread', label: 'who reads in this step' },
            { value: 'times', label: 'how often they were read so far' },
          ]}
          onChange={setColourBy}
        />
      </div>
      <Player steps={traced.steps.length} at={at} name={words[0]} onStep={setAt} onPlaying={setPlaying} />
      <div class="picture-words" id={wordsId} aria-live={playing ? 'off' : 'polite'}>
        <p>
          <strong>{words[0]}</strong>
        </p>
        <ul>
          {words.slice(1).map(sentence => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </div>
      <div class="picture-stage">
        <Matrices
          {...{ traced, at, view, colourBy, thread }}
          colours={coloursIn(traced, view)}
          onPick={pick}
          describedBy={wordsId}
        />
        <div class="picture-side">
          <Memories {...{ traced, at, view }} colours={coloursIn(traced, view)} />
          <Legend {...{ traced, view, colourBy }} />
          <Numbers rung={rung} traced={traced} />
          <Follow {...{ traced, cell }} onFollow={setCell} />
        </div>
      </div>
      <figcaption class="picture-note">
        {shape.m}×{shape.n}×{shape.k}, and the workgroup that makes one tile of C. Worked out by running the
        kernel's own indices
        {because === null ? '' : `, for a device with ${mapping.lanes} lanes a subgroup: ${because}`}. Threads
        are taken to fill subgroups in the order of their index, as GPUs do.
      </figcaption>
    </figure>
  );
}
