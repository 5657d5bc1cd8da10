/**
 * Poison and canaries. Before a checked run, every cell of C holds a NaN and every element that is not part of C
 * holds a pattern: a cell that was not written and a write outside C are both found. The binding covers the canaries
 * too, since WebGPU would otherwise hide a write past its end.
 */

/** A NaN that no arithmetic makes, so that a cell that still holds it was not written. */
const POISON = { 4: 0x7fc0_dead, 2: 0x7e5a } as const;
const CANARY = { 4: 0x4b1d_c0de, 2: 0x4b1d } as const;

/** Elements of fence behind C. */
const FENCE = 64;

type Words = Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;

/** Says which elements of a buffer belong to C. */
export type Cells = (element: number) => boolean;

/** The image to write to C's buffer before the run: `cells` elements of poison, then a fence of canaries. */
export function poisoned(cells: number, bytesPerCell: 2 | 4): Words {
  return poisonedWhere(cells + FENCE, bytesPerCell, element => element < cells);
}

/** The same for a C that does not lie in one piece: poison where `isCell`, canaries everywhere else. */
export function poisonedWhere(elements: number, bytesPerCell: 2 | 4, isCell: Cells): Words {
  const image = bytesPerCell === 4 ? new Uint32Array(elements) : new Uint16Array(elements);
  for (let i = 0; i < elements; i++) image[i] = isCell(i) ? POISON[bytesPerCell] : CANARY[bytesPerCell];
  return image;
}

/**
 * What the run did wrong to the buffer around C and to C itself, as one line, or null.
 *
 * @param dense so many elements from the first on are known to be cells, and are searched without asking
 */
export function fenceFailure(found: Words, isCell: Cells, dense = 0): string | null {
  const bytesPerCell = found.BYTES_PER_ELEMENT as 2 | 4;
  const unwritten = found.subarray(0, dense).indexOf(POISON[bytesPerCell]);
  if (unwritten >= 0) return `element ${unwritten} of C was never written`;
  for (let i = dense; i < found.length; i++) {
    if (isCell(i)) {
      if (found[i] === POISON[bytesPerCell]) return `element ${i} of C was never written`;
    } else if (found[i] !== CANARY[bytesPerCell]) {
      return `element ${i}, which is outside C, was written`;
    }
  }
  return null;
}
