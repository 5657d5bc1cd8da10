/** A, B and C, laid out so that a row of A and a column of B meet in their cell of C. */
import type { ComponentChildren } from 'preact';
import {
  type Coloured,
  cellsPath,
  made,
  needsOf,
  type Touched,
  tileBox,
  timesRead,
  touched,
  type View,
} from './draw.ts';
import type { Step, Trace } from './model/trace.ts';
import { laneColour, TIMES } from './palette.ts';

export type ColourBy = 'thread' | 'times';

interface MatricesProps {
  readonly traced: Trace;
  readonly at: number;
  readonly view: View;
  readonly colourBy: ColourBy;
  readonly colours: number;
  /** The thread that is followed, or null. */
  readonly thread: number | null;
  readonly onPick: (cell: number) => void;
  readonly describedBy: string;
}

export function Matrices({
  traced,
  at,
  view,
  colourBy,
  colours,
  thread,
  onPick,
  describedBy,
}: MatricesProps) {
  const { shape } = traced;
  const { m, n, k } = shape;
  const step = traced.steps[at];
  const gap = Math.max(2, (k + n) / 24);
  const [left, top] = [k + gap, k + gap];
  const text = (left + n) / 26;
  const tile = tileBox(traced);
  const needs = thread === null ? null : needsOf(traced, thread);
  const cells = { A: touched(traced, step, 'A', view), B: touched(traced, step, 'B', view) };
  const times = (operand: 'A' | 'B') => (colourBy === 'times' ? timesRead(traced, operand, at) : null);
  return (
    <svg
      class="picture-matrices"
      viewBox={`-0.5 -0.5 ${left + n + 1} ${top + m + 1.6 * text}`}
      role="img"
      aria-label={`A, ${m}×${k}, below B, ${k}×${n}, and C, ${m}×${n}, where they meet`}
      aria-describedby={describedBy}
      style={{ '--text': `${text}px` }}
    >
      <text x={0} y={top - 0.5 * text}>
        A <tspan class="picture-size">{`${m}×${k}`}</tspan>
      </text>
      <text x={k} y={text} text-anchor="end">
        B <tspan class="picture-size">{`${k}×${n}`}</tspan>
      </text>
      <text x={left} y={top + m + 1.3 * text}>
        C <tspan class="picture-size">{`${m}×${n}`}</tspan>
      </text>

      <g transform={`translate(0 ${top})`}>
        <Sheet rows={m} cols={k}>
          <rect class="picture-band" x={0} y={tile.row} width={k} height={tile.m} />
          <rect class="picture-range" x={step.from} y={tile.row} width={width(step)} height={tile.m} />
        </Sheet>
        <Cells touched={cells.A} across={k} colours={colours} times={times('A')} />
        {needs && <path class="picture-followed" d={needs.rows.map(row => box(0, row, k, 1)).join('')} />}
      </g>
      <g transform={`translate(${left} 0)`}>
        <Sheet rows={k} cols={n}>
          <rect class="picture-band" x={tile.col} y={0} width={tile.n} height={k} />
          <rect class="picture-range" x={tile.col} y={step.from} width={tile.n} height={width(step)} />
        </Sheet>
        <Cells touched={cells.B} across={n} colours={colours} times={times('B')} />
        {needs && <path class="picture-followed" d={needs.cols.map(col => box(col, 0, 1, k)).join('')} />}
      </g>
      <g transform={`translate(${left} ${top})`}>
        <Sheet rows={m} cols={n} />
        <Made traced={traced} step={step} view={view} colours={colours} />
        <rect class="picture-tile" x={tile.col} y={tile.row} width={tile.n} height={tile.m} />
        {needs && <path class="picture-followed" d={cellsPath(needs.cells, n)} />}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the fields below the picture do the same by keyboard */}
        <rect
          class="picture-catch"
          width={n}
          height={m}
          onPointerMove={event => pick(event, n, m, onPick)}
          onClick={event => pick(event, n, m, onPick)}
        />
      </g>
    </svg>
  );
}

const width = ({ kind, from, to }: Step) => (kind === 'store' ? 0 : to - from);

const box = (x: number, y: number, w: number, h: number) => `M${x} ${y}h${w}v${h}h${-w}z`;

/** Tells which cell the pointer is over. */
function pick(event: MouseEvent, cols: number, rows: number, onPick: (cell: number) => void): void {
  const { left, top, width, height } = (event.currentTarget as Element).getBoundingClientRect();
  const col = Math.floor(((event.clientX - left) / width) * cols);
  const row = Math.floor(((event.clientY - top) / height) * rows);
  if (col >= 0 && row >= 0 && col < cols && row < rows) onPick(row * cols + col);
}

/** A matrix's paper, what is tinted on it, and a line for every 8 cells: a sector of f32. */
function Sheet({
  rows,
  cols,
  children,
}: {
  readonly rows: number;
  readonly cols: number;
  readonly children?: ComponentChildren;
}) {
  const lines = (count: number, line: (at: number) => string) =>
    Array.from({ length: Math.ceil(count / 8) - 1 }, (_, i) => line(8 * (i + 1))).join('');
  return (
    <>
      <rect class="picture-sheet" width={cols} height={rows} />
      {children}
      <path
        class="picture-grid"
        d={lines(cols, x => `M${x} 0v${rows}`) + lines(rows, y => `M0 ${y}h${cols}`)}
      />
    </>
  );
}

interface CellsProps {
  readonly touched: Touched;
  readonly across: number;
  readonly colours: number;
  readonly times: Uint32Array | null;
}

function Cells({ touched: { global, copied, sectors }, across, colours, times }: CellsProps) {
  return (
    <>
      {times ? (
        TIMES.map(({ from, to, colour }) => (
          <path
            key={from}
            fill={colour}
            d={cellsPath(
              [...times.keys()].filter(cell => times[cell] >= from && times[cell] <= to),
              across,
            )}
          />
        ))
      ) : (
        <>
          <path class="picture-sector" d={cellsPath(sectors, across)} />
          <Group cells={copied} across={across} colours={colours} inset={0.22} />
          <Group cells={global} across={across} colours={colours} />
        </>
      )}
    </>
  );
}

/** C: what the threads in view make; in a step that stores, what they store stands out. */
function Made({
  traced,
  step,
  view,
  colours,
}: Pick<MatricesProps, 'traced' | 'view' | 'colours'> & { readonly step: Step }) {
  const { n } = traced.shape;
  const stored = touched(traced, step, 'C', view);
  return (
    <>
      <g class={stored.global.size > 0 ? 'picture-faded' : undefined}>
        <Group cells={made(traced, view)} across={n} colours={colours} />
      </g>
      <path class="picture-sector" d={cellsPath(stored.sectors, n)} />
      <Group cells={stored.global} across={n} colours={colours} />
    </>
  );
}

export function Group({
  cells,
  across,
  colours,
  inset = 0,
}: {
  readonly cells: Coloured;
  readonly across: number;
  readonly colours: number;
  readonly inset?: number;
}) {
  return (
    <>
      {[...cells].map(([colour, set]) => (
        <path key={colour} style={{ fill: laneColour(colour, colours) }} d={cellsPath(set, across, inset)} />
      ))}
    </>
  );
}
