/**
 * Gathering: words of eight f16 that lie side by side in rows of blocks, straight from an operand's stored rows, whichever way those run
 * and wherever they begin. What a piece waits for is under way in registers: workgroup memory, of which little is free on some
 * devices, would hold less of it (docs/performance.md, log entry 51).
 *
 * Along the stored rows, a thread reads the five words of 32 bits that eight elements may lie across, or one of 128 bits where rows are
 * made of those. Across them, it reads a pair of elements of each of eight stored rows; neighbouring threads read neighbouring pairs.
 */
import type { StagedOptions } from './realign.ts';
import { plus } from './terms.ts';
import { unroll } from './unroll.ts';
import { vectorizes } from './vectors.ts';

/** Elements of a word. */
const WORD = 8;

export interface Gathered {
  /**
   * WGSL, for a uniform `sourceA` with `rows`, `cols`, `ld`, `offset` and `stride`, an array `storedA` of words of the type that `word`
   * is, and a function `putA(copy, row, col, word)`: `gatherA(copy, row, col, thread)` for the piece that begins at (row, col).
   * Elements outside of the operand are 0. With B in place of A where that is the letter.
   */
  readonly wgsl: string;
  /** The WGSL type of what is loaded at once. */
  readonly word: 'u32' | 'vec4<u32>';
  /** Whether elements lie across two words of 32 bits. */
  readonly funnels: boolean;
  /** Elements of a piece. */
  readonly rows: number;
  readonly cols: number;
}

/** Of an operand of f16, by the 256 threads of realign.ts. */
export function gathered({ letter, operand, rowLength, turned }: StagedOptions): Gathered {
  const shifted = !vectorizes(operand, rowLength, 2);
  const whole = !turned && vectorizes(operand, rowLength, WORD);
  return {
    wgsl: turned ? across(letter, shifted) : along(letter, whole),
    word: whole ? 'vec4<u32>' : 'u32',
    funnels: turned ? shifted : !whole,
    ...(turned ? { rows: 128, cols: 32 } : { rows: 32, cols: 128 }),
  };
}

/** WGSL: the element that a stored row begins with. Behind the last row, the last one's: nothing else is touched. */
const start = (letter: string, row: string, rows: 'rows' | 'cols') =>
  `source${letter}.offset + copy * source${letter}.stride + min(${row}, source${letter}.${rows} - 1) * source${letter}.ld`;

function along(letter: string, whole: boolean): string {
  const rows = [0, 16];
  return /* wgsl */ `fn word${letter}(copy: u32, row: u32, col: u32) -> vec4<u32> {
  let start = ${start(letter, 'row', 'rows')};
${whole ? wholeWord(letter) : fiveWords(letter)}
}

fn gather${letter}(copy: u32, firstRow: u32, firstCol: u32, thread: u32) {
  // Eight rows side by side, as they lie in the blocks.
  let row = firstRow + thread / 128 * 8 + thread % 8;
  let col = firstCol + thread / 8 % 16 * ${WORD};
  ${unroll(2, 2, i => `let word${i} = word${letter}(copy, ${plus(rows[i], 'row')}, col);`)}
  ${unroll(2, 2, i => `put${letter}(copy, ${plus(rows[i], 'row')}, col, word${i});`)}
}`;
}

const wholeWord = (
  letter: string,
) => /* wgsl */ `  let word = stored${letter}[(start + min(col, source${letter}.cols - ${WORD})) / ${WORD}];
  return select(vec4<u32>(), word, (row < source${letter}.rows) & (col < source${letter}.cols));`;

const fiveWords = (letter: string) => /* wgsl */ `  let last = (start + source${letter}.cols - 1) / 2;
  let at = (start + col) / 2;
  ${unroll(5, 2, i => `let word${i} = stored${letter}[min(${plus(i, 'at')}, last)];`)}
  let first = (start + col) % 2 * 16;
  let words = vec4(${[0, 1, 2, 3].map(i => `funnel(word${i}, word${i + 1}, first)`).join(', ')});
  let left = select(0, i32(source${letter}.cols) - i32(col), row < source${letter}.rows) - vec4(0, 2, 4, 6);
  return words & select(select(vec4(0u), vec4(0xffffu), left > vec4(0)), vec4(0xffffffffu), left > vec4(1));`;

function across(letter: string, shifted: boolean): string {
  const halves = (of: (low: string, high: string) => string) =>
    [0, 2, 4, 6].map(i => of(`pair${i}`, `pair${i + 1}`)).join(', ');
  return /* wgsl */ `// An element of a row, and of the row below it.
fn pair${letter}(copy: u32, row: u32, col: u32) -> u32 {
  let start = ${start(letter, 'col', 'cols')};
  let last = (start + source${letter}.rows - 1) / 2;
  let at = (start + row) / 2;
  let pair = ${
    shifted
      ? `funnel(stored${letter}[min(at, last)], stored${letter}[min(at + 1, last)], (start + row) % 2 * 16)`
      : `stored${letter}[min(at, last)]`
  };
  let mask = select(0xffffu, 0xffffffffu, row + 1 < source${letter}.rows);
  return select(0, pair & mask, (row < source${letter}.rows) & (col < source${letter}.cols));
}

fn gather${letter}(copy: u32, firstRow: u32, firstCol: u32, thread: u32) {
  let row = firstRow + thread % 64 * 2;
  let col = firstCol + thread / 64 * ${WORD};
  ${unroll(8, 2, i => `let pair${i} = pair${letter}(copy, row, ${plus(i, 'col')});`)}
  put${letter}(copy, row, col, vec4(${halves((low, high) => `(${low} & 0xffffu) | (${high} << 16)`)}));
  put${letter}(copy, row + 1, col, vec4(${halves((low, high) => `(${low} >> 16) | (${high} & 0xffff0000u)`)}));
}`;
}
