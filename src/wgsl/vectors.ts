/** Which rows can be read and written in vectors. */
import type { Operand } from '../problem.ts';

/** Elements of A or B in a vector that is read at once. */
export type Width = 1 | 4 | 8;

/** Whether every row of an operand can be read or written in vectors of `width` elements: nothing but whole, aligned vectors. */
export function vectorizes(
  operand: Pick<Operand, 'ld' | 'offset' | 'stride'>,
  rowLength: number,
  width: number,
): boolean {
  return [rowLength, operand.ld, operand.offset, operand.stride].every(size => size % width === 0);
}
