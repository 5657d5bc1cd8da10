import type { ComponentChildren } from 'preact';
import { Prose } from './prose.tsx';

export interface BarsRow {
  readonly key: string;
  readonly label: ComponentChildren;
  /** A value for each series; null where there is none. */
  readonly values: readonly (number | null)[];
  /** Said in place of the first value where there is none, such as what is missing or what is going on. */
  readonly note?: string;
}

interface BarsProps {
  readonly label: string;
  /** Names of the series: this device first, at most four. */
  readonly series: readonly string[];
  readonly rows: readonly BarsRow[];
  /** How a value is written, with its unit. */
  readonly format: (value: number) => string;
}

/** Horizontal bars, a group for each row; all on one scale that starts at 0. The list itself reads as text. */
export function Bars({ label, series, rows, format }: BarsProps) {
  const most = Math.max(...rows.flatMap(({ values }) => values.map(value => value ?? 0)), 1e-9);
  return (
    <figure class="section" aria-label={label}>
      {series.length > 1 && (
        <ul class="legend" aria-hidden="true">
          {series.map((name, index) => (
            <li key={name}>
              <span class="swatch" style={{ background: colourOf(index) }} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <ul class="bars">
        {rows.map(({ key, label: rowLabel, values, note }) => (
          <li key={key} class="bars-item">
            <div class="bars-label">{rowLabel}</div>
            <div class="bars-lines">
              {series.map((name, index) => {
                const value = values[index] ?? null;
                if (value === null && !(index === 0 && note)) return null;
                return (
                  <div key={name} class={`bars-line${index > 0 ? ' bars-line-beside' : ''}`}>
                    <span class="visually-hidden">{`${name}: `}</span>
                    {value === null ? (
                      <span class="small muted">
                        <Prose text={note ?? ''} />
                      </span>
                    ) : (
                      <>
                        <div
                          class="bars-bar"
                          aria-hidden="true"
                          style={{ '--share': value / most, background: colourOf(index) }}
                        />
                        <span class="bars-value">{format(value)}</span>
                      </>
                    )}
                  </div>
                );
              })}
            </div>
          </li>
        ))}
      </ul>
    </figure>
  );
}

const colourOf = (series: number) => `var(--series-${series + 1})`;
