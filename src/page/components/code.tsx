/** WGSL to read: line numbers, and colours as soon as the grammar is there. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Piece } from './wgsl-colours.ts';

interface CodeProps {
  readonly source: string;
  /** What it is, for screen readers. */
  readonly label: string;
  /** Lines to point out, from 1. */
  readonly marked?: readonly number[];
  /** Lines with an error, from 1. */
  readonly bad?: readonly number[];
}

type Colour = (source: string) => Piece[][];

export function Code({ source, label, marked = [], bad = [] }: CodeProps) {
  const [colour, setColour] = useState<Colour | null>(null);
  useEffect(() => {
    let here = true;
    // A reader without colours still reads: where the grammar can't be loaded, the code stays plain.
    import('./wgsl-colours.ts').then(({ coloured }) => here && setColour(() => coloured)).catch(() => {});
    return () => {
      here = false;
    };
  }, []);
  const lines = useMemo(() => {
    return colour ? colour(source) : source.split('\n').map(line => [{ text: line, classes: '' }]);
  }, [source, colour]);
  const classOf = (line: number) =>
    ['code-line', marked.includes(line) && 'code-line-marked', bad.includes(line) && 'code-line-bad']
      .filter(Boolean)
      .join(' ');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="code" tabIndex={0} aria-label={label}>
      <pre>
        {lines.map((pieces, index) => (
          <span key={index} class={classOf(index + 1)} data-line={index + 1}>
            {pieces.map(({ text, classes }, place) =>
              classes ? (
                <span key={place} class={classes}>
                  {text}
                </span>
              ) : (
                text
              ),
            )}
            {'\n'}
          </span>
        ))}
      </pre>
    </section>
  );
}
