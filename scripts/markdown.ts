/** Tables in Markdown, padded so that they can be read as text, too. */

/** @param words columns of words, at the left; the others are numbers */
export function markdown(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  words: number,
): string {
  const cells = rows.map(row => row.map((cell, column) => (column < words ? cell : unbroken(cell))));
  const widths = head.map((name, column) =>
    Math.max(...[name, ...cells.map(row => row[column])].map(it => it.length)),
  );
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, i) => (i < words ? cell.padEnd(widths[i]) : cell.padStart(widths[i])));
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, i) => (i < words ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [head, rule, ...cells].map(line).join('\n');
}

/** A browser breaks `17.0 ms` and `1.1e-6` in two where a column is narrow. */
function unbroken(figure: string): string {
  return figure.replaceAll(' ', '\u00a0').replaceAll('-', '−');
}
