/** Follows one cell of C: by pointer in the picture, by keyboard here. */
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { NumberField } from '../components/field.tsx';
import { needsOf, tileBox } from './draw.ts';
import type { Trace } from './model/trace.ts';

interface FollowProps {
  readonly traced: Trace;
  readonly cell: number | null;
  readonly onFollow: (cell: number | null) => void;
}

export function Follow({ traced, cell, onFollow }: FollowProps) {
  const { m, n } = traced.shape;
  const tile = tileBox(traced);
  const [row, col] = cell === null ? ['', ''] : [String(Math.floor(cell / n)), String(cell % n)];
  const [typed, setTyped] = useState<{ row: string; col: string } | null>(null);
  const shown = typed ?? { row, col };
  const type = (next: { row: string; col: string }) => {
    const numbers = [next.row, next.col].map(text => (/^\d+$/.test(text) ? Number(text) : Number.NaN));
    const [y, x] = numbers;
    const inside = y < m && x < n;
    setTyped(inside ? null : next);
    onFollow(inside ? y * n + x : null);
  };
  return (
    <fieldset class="picture-follow">
      <legend>Follow a cell of C</legend>
      <div>
        <NumberField
          label="Row"
          value={shown.row}
          error={wrong(shown.row, m)}
          onInput={value => type({ ...shown, row: value })}
        />
        <NumberField
          label="Column"
          value={shown.col}
          error={wrong(shown.col, n)}
          onInput={value => type({ ...shown, col: value })}
        />
        {(cell !== null || typed) && (
          <Button
            variant="quiet"
            onClick={() => {
              setTyped(null);
              onFollow(null);
            }}
          >
            Clear
          </Button>
        )}
      </div>
      <p aria-live="polite">
        {cell === null
          ? `This workgroup's are rows ${tile.row} to ${tile.row + tile.m - 1}, columns ${tile.col} to ${tile.col + tile.n - 1}.`
          : tellOf(traced, cell)}
      </p>
    </fieldset>
  );
}

const wrong = (text: string, size: number): string | undefined =>
  text === '' || (/^\d+$/.test(text) && Number(text) < size) ? undefined : `0 to ${size - 1}`;

function tellOf(traced: Trace, cell: number): string {
  const { mapping, makers } = traced;
  const thread = makers[cell];
  if (thread < 0) return 'Another workgroup makes this cell.';
  const { cells, rows, cols } = needsOf(traced, thread);
  const lane = thread % mapping.lanes;
  const subgroup = Math.floor(thread / mapping.lanes);
  const who = mapping.together ? `Subgroup ${subgroup} makes` : `Lane ${lane} of subgroup ${subgroup} makes`;
  const what = `${cells.length === 1 ? 'this cell' : `${cells.length} cells`} from ${rows.length === 1 ? 'a row' : `${rows.length} rows`} of A and ${cols.length === 1 ? 'a column' : `${cols.length} columns`} of B`;
  return `${who} ${what}.`;
}
