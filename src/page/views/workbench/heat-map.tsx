/** Where a wrong product is wrong: C as a picture, a cell for a cell, and in words. */
import { useEffect, useRef } from 'preact/hooks';
import { Facts } from '../../components/facts.tsx';
import { theme } from '../../state/theme.ts';
import { type Cell, type CellMap, KINDS } from './cells.ts';
import { draw } from './draw-cells.ts';

export function HeatMap({ cells }: { readonly cells: CellMap }) {
  const { m, n, rows, counts, box } = cells;
  const canvas = useRef<HTMLCanvasElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const chosen = theme.value;
  useEffect(() => {
    const paint = () => {
      const swatches = [...(legend.current?.querySelectorAll<HTMLElement>('[data-kind]') ?? [])];
      if (canvas.current) draw(canvas.current, cells, swatches);
    };
    paint();
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', paint);
    return () => system.removeEventListener('change', paint);
  }, [cells, chosen]);
  const compared = rows.length * n;
  const wrong = compared - counts[0];
  const most =
    rows.length < m ? `${rows.length.toLocaleString('en-US')} of ${m.toLocaleString('en-US')} rows` : null;
  if (wrong === 0) return most && <p>None of the {most} that were compared cell by cell is wrong.</p>;
  return (
    <figure class="cells">
      <figcaption>
        <h3>Where C is wrong</h3>
        <p>
          <strong>{wrong.toLocaleString('en-US')}</strong> of {compared.toLocaleString('en-US')} cells are
          wrong
          {box && `: ${placeOf(box, m, n)}`}.
          {most && ` ${most[0].toUpperCase()}${most.slice(1)} were compared, spread over all of C.`}
        </p>
      </figcaption>
      <div class="cells-picture">
        <div class="cells-frame">
          <span class="small muted" aria-hidden="true">
            column 0 … {n - 1}
          </span>
          <canvas
            ref={canvas}
            role="img"
            aria-label={`C, ${m} rows by ${n} columns; the list beside it says what the shades are`}
          />
          <span class="small muted cells-rows" aria-hidden="true">
            row 0 … {m - 1}
          </span>
        </div>
        <ul class="cells-legend" ref={legend} aria-label="Kinds of cells">
          {KINDS.map(({ id, label }, kind) => (
            <li key={id} hidden={counts[kind] === 0}>
              <span class={`cells-swatch cells-${id}`} data-kind={kind} aria-hidden="true" />
              <span>
                <span class="figure">{counts[kind].toLocaleString('en-US')}</span> {label}
              </span>
            </li>
          ))}
        </ul>
      </div>
      <Facts
        items={[cell('First wrong cell', cells.first), cell('Off furthest', cells.worst)].flatMap(
          it => it ?? [],
        )}
      />
    </figure>
  );
}

const placeOf = ({ rows, cols }: NonNullable<CellMap['box']>, m: number, n: number) =>
  rows[0] === 0 && cols[0] === 0 && rows[1] === m - 1 && cols[1] === n - 1
    ? 'from the first row and column to the last'
    : `in ${range('row', rows)} and ${range('column', cols)}`;

const range = (name: string, [from, to]: readonly [number, number]) =>
  from === to ? `${name} ${from}` : `${name}s ${from} to ${to}`;

const cell = (name: string, it: Cell | null): [string, string][] | null =>
  it && [[name, `row ${it.row}, column ${it.col}: ${gotIn(it)}, expected ${number(it.want)}`]];

const gotIn = ({ got, kind }: Cell) =>
  KINDS[kind].id === 'unwritten' ? 'never written' : `got ${number(got)}`;

const number = (value: number) =>
  Number.isFinite(value) ? Number(value.toPrecision(6)).toString() : String(value);
