/**
 * Writes a loop out: the text of every round, one after the other, indented so that the WGSL still reads as WGSL.
 * WGSL has no hint for unrolling, so the generator does it.
 *
 * @param indent spaces before each line but the first, which stands where the template puts it
 */
export function unroll(rounds: number, indent: number, body: (round: number) => string): string {
  return lines(
    Array.from({ length: rounds }, (_, round) => body(round)),
    indent,
  );
}

/** Joins pieces of WGSL into lines of one indentation; the lines of a piece that has several are indented alike. */
export function lines(pieces: readonly string[], indent: number): string {
  const pad = `\n${' '.repeat(indent)}`;
  return pieces.flatMap(piece => piece.split('\n')).join(pad);
}
