/** Splits WGSL into coloured pieces with the editor's grammar. Large: import it dynamically. */
import { wgslLanguage } from '@iizukak/codemirror-lang-wgsl';
import { classHighlighter, highlightCode } from '@lezer/highlight';

export interface Piece {
  readonly text: string;
  /** `tok-…` classes, which styles/components.css colours; empty for plain text. */
  readonly classes: string;
}

/** The pieces of each line. */
export function coloured(source: string): Piece[][] {
  const lines: Piece[][] = [[]];
  highlightCode(
    source,
    wgslLanguage.parser.parse(source),
    classHighlighter,
    (text, classes) => lines.at(-1)?.push({ text, classes }),
    () => lines.push([]),
  );
  return lines;
}
