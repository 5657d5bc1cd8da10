/** The tiles in workgroup memory, and the registers that lanes read from each other. */
import { bytes } from '../../figures.ts';
import { touchedPlaces, type View } from './draw.ts';
import { Group } from './matrices.tsx';
import type { Trace } from './model/trace.ts';

interface MemoriesProps {
  readonly traced: Trace;
  readonly at: number;
  readonly view: View;
  readonly colours: number;
}

export function Memories({ traced, at, view, colours }: MemoriesProps) {
  const arrays = Object.entries(traced.mapping.arrays).filter(([, { memory }]) => memory !== 'global');
  if (arrays.length === 0) {
    return (
      <p class="picture-none">
        No workgroup memory: whatever two threads both need, both read from global memory.
      </p>
    );
  }
  return (
    <div class="picture-memories">
      {arrays.map(([name, array]) => {
        const numbers = array.rows * array.line * array.vector;
        const across = array.drawn ?? array.line * array.vector;
        const rows = Math.ceil(numbers / across);
        const places = touchedPlaces(traced, traced.steps[at], name, view);
        const lanes = array.memory === 'lanes';
        // Each subgroup has registers of its own: one subgroup's are drawn, and all of them in its view.
        const shown = lanes ? ownRegisters(places, numbers) : places;
        return (
          <figure key={name} class="picture-memory">
            <figcaption>
              <strong>{name}</strong>{' '}
              <span>
                {lanes
                  ? `a subgroup's: ${array.rows} for each of ${array.line} lanes`
                  : `${rows}×${across}, ${bytes(numbers * array.bytes)}`}
              </span>
            </figcaption>
            <svg viewBox={`-0.3 -0.3 ${across + 0.6} ${rows + 0.6}`} aria-hidden="true">
              <rect class="picture-sheet" width={across} height={rows} />
              <Group cells={shown} across={across} colours={colours} />
            </svg>
          </figure>
        );
      })}
    </div>
  );
}

function ownRegisters(places: ReadonlyMap<number, ReadonlySet<number>>, size: number) {
  return new Map([...places].map(([colour, set]) => [colour, new Set([...set].map(place => place % size))]));
}
