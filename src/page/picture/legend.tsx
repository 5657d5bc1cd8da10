/** What the colours mean, in words. */
import type { ComponentChildren } from 'preact';
import { coloursIn, type View } from './draw.ts';
import type { ColourBy } from './matrices.tsx';
import type { Trace } from './model/trace.ts';
import { laneColour, TIMES } from './palette.ts';

interface LegendProps {
  readonly traced: Trace;
  readonly view: View;
  readonly colourBy: ColourBy;
}

export function Legend({ traced, view, colourBy }: LegendProps) {
  const colours = coloursIn(traced, view);
  const { mapping } = traced;
  const copies = Object.values(mapping.arrays).some(({ memory }) => memory !== 'global');
  return (
    <ul class="picture-legend">
      <Item swatch={<Ramp colours={colours} />}>{namesOf(traced, view, colours)}</Item>
      {colourBy === 'times' ? (
        TIMES.map(({ from, label, colour }) => (
          <Item key={from} swatch={<i class="picture-swatch" style={{ background: colour }} />}>
            read {label} from global memory
          </Item>
        ))
      ) : (
        <>
          <Item swatch={<i class="picture-swatch picture-swatch-sector" />}>
            moved with it: the rest of a 32-byte sector
          </Item>
          {copies && (
            <Item swatch={<i class="picture-swatch picture-swatch-copied" />}>
              small: read from a copy beside it, not from here
            </Item>
          )}
        </>
      )}
      <Item swatch={<i class="picture-swatch picture-swatch-band" />}>
        what the workgroup's tile of C needs
      </Item>
      <Item swatch={<i class="picture-swatch picture-swatch-followed" />}>
        the thread you follow, and what it needs
      </Item>
    </ul>
  );
}

function namesOf({ mapping }: Trace, { scope, subgroup }: View, colours: number): string {
  if (scope === 'workgroup') return colours === 1 ? 'the only subgroup' : `subgroup 0 to ${colours - 1}`;
  if (colours === 1) return 'the only thread; the other lanes idle';
  const together = mapping.together ? '; the first colour for what they do together' : '';
  return `lane 0 to ${colours - 1} of subgroup ${subgroup}${together}`;
}

function Ramp({ colours }: { readonly colours: number }) {
  const stops = Array.from({ length: Math.min(colours, 8) }, (_, i) =>
    laneColour(Math.round((i * (colours - 1)) / Math.max(1, Math.min(colours, 8) - 1)), colours),
  );
  return (
    <i class="picture-ramp">
      {stops.map(colour => (
        <i key={colour} style={{ background: colour }} />
      ))}
    </i>
  );
}

function Item({
  swatch,
  children,
}: {
  readonly swatch: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <li>
      <span aria-hidden="true">{swatch}</span>
      {children}
    </li>
  );
}
