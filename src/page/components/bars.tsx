import './bars.css';
import type { ComponentChildren } from 'preact';
import { Prose } from './prose.tsx';
import { type ScaleKind, scaleOf } from './scale.ts';

export interface BarsRow {
  readonly key: string;
  readonly label: ComponentChildren;
  /** A value for each series; null where there is none, or where the series is switched off. */
  readonly values: readonly (number | null)[];
  /** Said in place of the first value where there is none, such as what is missing or what is going on. */
  readonly note?: ComponentChildren;
  /** What stands behind each value, such as how it compares; null for nothing. */
  readonly remarks?: readonly ComponentChildren[];
  /** Figures that belong to the first value, in a line below the bars. */
  readonly facts?: ComponentChildren;
  /** Buttons at the row's end. */
  readonly aside?: ComponentChildren;
  /** What the row opens to, over its whole width. */
  readonly below?: ComponentChildren;
}

interface BarsProps {
  readonly label: string;
  /** Names of the series: this device first, at most four. */
  readonly series: readonly string[];
  readonly rows: readonly BarsRow[];
  /** How a value is written, with its unit. */
  readonly format: (value: number) => string;
  /** From 0, or by powers of ten; linear where left out. */
  readonly scale?: ScaleKind;
  /** How the axis writes a value, in a few characters; no axis where left out. */
  readonly tick?: (value: number) => string;
  /** False where the owner has a legend of its own, such as one that switches series off. */
  readonly legend?: boolean;
}

/** Horizontal bars, a group for each row, all on one scale. The list itself reads as text. */
export function Bars({
  label,
  series,
  rows,
  format,
  scale: kind = 'linear',
  tick,
  legend = true,
}: BarsProps) {
  const scale = scaleOf(
    kind,
    rows.flatMap(({ values }) => values.map(value => value ?? 0)),
  );
  const { ticks } = scale;
  const asides = rows.some(({ aside }) => aside);
  return (
    <figure
      class={`bars-figure${asides ? ' bars-with-asides' : ''}`}
      aria-label={label}
      style={{ '--step': ticks.length > 1 ? 1 / (ticks.length - 1) : 1 }}
    >
      {legend && series.length > 1 && (
        <ul class="legend" aria-hidden="true">
          {series.map((name, index) => (
            <li key={name}>
              <Swatch series={index} />
              {name}
            </li>
          ))}
        </ul>
      )}
      {tick && ticks.length > 1 && (
        <div class="bars-axis" aria-hidden="true">
          <div>
            {ticks.map(value => (
              <span key={value} style={{ '--share': scale.share(value) }}>
                {tick(value)}
              </span>
            ))}
          </div>
        </div>
      )}
      <ul class={`bars${tick && ticks.length > 1 ? ' bars-lined' : ''}`}>
        {rows.map(({ key, label: rowLabel, values, note, remarks = [], facts, aside, below }) => (
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
                      <span class="bars-note">{typeof note === 'string' ? <Prose text={note} /> : note}</span>
                    ) : (
                      <>
                        <div
                          class="bars-bar"
                          aria-hidden="true"
                          style={{ '--share': scale.share(value), background: colourOf(index) }}
                        />
                        <span class="bars-value">
                          {format(value)}
                          {remarks[index] && <span class="bars-remark">{remarks[index]}</span>}
                        </span>
                      </>
                    )}
                  </div>
                );
              })}
              {facts && <div class="bars-facts">{facts}</div>}
            </div>
            {aside && <div class="bars-aside">{aside}</div>}
            {below && <div class="bars-below">{below}</div>}
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** A series' colour, beside its name. */
export const Swatch = ({ series }: { readonly series: number }) => (
  <span class="swatch" style={{ background: colourOf(series) }} aria-hidden="true" />
);

const colourOf = (series: number) => `var(--series-${series + 1})`;
