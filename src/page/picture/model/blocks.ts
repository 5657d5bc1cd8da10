/** Operands as kernels/pack.ts leaves them. */
import type { Shape } from '../../../ladder/rung.ts';

interface Blocks {
  readonly order: 'lines' | 'steps';
  /** A block: rows of A or columns of B, and K. */
  readonly lines: number;
  readonly k: number;
  /** Numbers in a word. */
  readonly word: number;
  /** Copies of the operand, one after the other. */
  readonly parts: number;
}

/** The cell of A or B that a number of its blocks is; -1 behind their end. */
export function cellInBlocks(operand: 'A' | 'B', { m, n, k }: Shape, blocks: Blocks) {
  const length = (operand === 'A' ? m : n) * k;
  const size = blocks.lines * blocks.k;
  const steps = k / blocks.k;
  const place = blocks.order === 'lines' ? inLines : inSteps;
  return (number: number): number => {
    if (number >= blocks.parts * length) return -1;
    const inPart = number % length;
    const block = Math.floor(inPart / size);
    const inBlock = place(inPart % size, blocks);
    const line = Math.floor(block / steps) * blocks.lines + inBlock.line;
    const at = (block % steps) * blocks.k + inBlock.k;
    return operand === 'A' ? line * k + at : at * n + line;
  };
}

/** Lines in eights, and of these one word along K after the other. */
function inLines(number: number, { k, word }: Blocks) {
  const [eight, inEight] = [Math.floor(number / (8 * k)), number % (8 * k)];
  return {
    line: eight * 8 + (Math.floor(inEight / word) % 8),
    k: Math.floor(inEight / (8 * word)) * word + (inEight % word),
  };
}

/** For one K after the other, all lines. */
const inSteps = (number: number, { lines }: Blocks) => ({
  line: number % lines,
  k: Math.floor(number / lines),
});
