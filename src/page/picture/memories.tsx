/** The tiles in workgroup memory, and the registers that lanes read from each other. */
import { bytes } from '../../figures.ts';
import { type Sheet, sheetsOf, touchedPlaces, type View } from './draw.ts';
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
        const places = touchedPlaces(traced, traced.steps[at], name, view);
        const lanes = array.memory === 'lanes';
        // Each subgroup has registers of its own: one subgroup's are drawn, and all of them in its view.
        const sheets = sheetsOf(array, lanes ? ownRegisters(places, numbers) : places);
        const what = array.label ?? `${sheets[0].rows}×${sheets[0].across}`;
        return (
          <figure key={name} class="picture-memory">
            <figcaption>
              <strong>{name}</strong>{' '}
              <span>
                {lanes
                  ? `a subgroup's: ${array.rows} for each of ${array.line} lanes`
                  : `${what}, ${bytes(numbers * array.bytes)}`}
              </span>
            </figcaption>
            <Sheets sheets={sheets} colours={colours} />
          </figure>
        );
      })}
    </div>
  );
}

/** Side by side, with room for their names where there are several. */
function Sheets({ sheets, colours }: { readonly sheets: readonly Sheet[]; readonly colours: number }) {
  const rows = Math.max(...sheets.map(sheet => sheet.rows));
  const sum = sheets.reduce((total, { across }) => total + across, 0);
  const gap = Math.max(2, sum / 24);
  const width = sum + gap * (sheets.length - 1);
  const text = sheets.length > 1 ? Math.max(width / 15, rows / 26) : 0;
  let x = 0;
  return (
    <svg
      viewBox={`-0.3 ${-0.3 - 1.4 * text} ${width + 0.6} ${rows + 0.6 + 1.4 * text}`}
      style={{ '--text': `${text}px` }}
      aria-hidden="true"
    >
      {sheets.map(({ label, rows, across, places }) => {
        const left = x;
        x += across + gap;
        return (
          <g key={label} transform={`translate(${left} 0)`}>
            {label && <text y={-0.4 * text}>{label}</text>}
            <rect class="picture-sheet" width={across} height={rows} />
            <Group cells={places} across={across} colours={colours} />
          </g>
        );
      })}
    </svg>
  );
}

function ownRegisters(places: ReadonlyMap<number, ReadonlySet<number>>, size: number) {
  return new Map([...places].map(([colour, set]) => [colour, new Set([...set].map(place => place % size))]));
}
