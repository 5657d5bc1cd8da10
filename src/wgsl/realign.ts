/**
 * Realigning: a piece of an operand is staged in workgroup memory in words of 32 bits, as it is stored, and its elements are
 * taken from there. Rows of f16 or 8-bit integers may begin anywhere in a word: neighbouring threads still read
 * neighbouring words, and elements are shifted into place on their way out.
 *
 * Words at either end of a row may hold elements of another row, or none: what lies outside of the operand comes out as 0.
 */
import { BYTES, type Operand } from '../problem.ts';
import { plus } from './terms.ts';
import { lines } from './unroll.ts';
import { vectorizes } from './vectors.ts';

/** Threads that stage a piece. */
export const THREADS = 256;

/** Stored rows of a piece, and words of each. */
const HEIGHT = 32;
const WORDS = 64;

export interface StagedOptions {
  /** At the end of the names of what is declared for this operand. */
  readonly letter: 'A' | 'B';
  readonly operand: Operand;
  /** Elements in a stored row. */
  readonly rowLength: number;
  /** Whether the pieces' rows run across the stored rows. */
  readonly turned: boolean;
}

export interface Staged {
  /**
   * WGSL, for a uniform `sourceA` with `rows`, `cols`, `ld`, `offset` and `stride`, an array `storedA` of words of the type that
   * `word` is, and `declarePieces`: `stageA(copy, row, col, thread)` for the piece that begins at (row, col), and, after a barrier,
   * `bitsA(copy, row, col)`: the bits of four of its elements from (row, col) on, each in a u32 of its own; 0 for those outside
   * of the operand. With B in place of A where that is the letter.
   */
  readonly wgsl: string;
  /** The WGSL type of what is loaded at once. */
  readonly word: string;
  /** Whether elements lie across two words. */
  readonly funnels: boolean;
  /** Elements of a piece. */
  readonly rows: number;
  readonly cols: number;
}

/** Bytes of workgroup memory that a piece takes. */
export const PIECE_BYTES = HEIGHT * (WORDS + 1) * 4;

/** WGSL: what the pieces of all operands have in common. */
export const declarePieces = (
  pieces: readonly Staged[],
): string => /* wgsl */ `// One word more than there are: a row may begin within a word, and a column lies in different banks.
var<workgroup> piece: array<array<u32, ${WORDS + 1}>, ${HEIGHT}>;
${pieces.some(({ funnels }) => funnels) ? `\n${FUNNEL}\n` : ''}`;

export const FUNNEL = /* wgsl */ `// 32 bits of two neighbouring words, from bit \`first\` of the lower one on. A shift by 32 would be one by 0.
fn funnel(low: u32, high: u32, first: u32) -> u32 { return (low >> first) | ((high << 1) << (31 - first)); }`;

interface Reading {
  readonly letter: 'A' | 'B';
  readonly turned: boolean;
  /** Whether rows may begin within a word. */
  readonly shifted: boolean;
}

export function staged({ letter, operand, rowLength, turned }: StagedOptions): Staged {
  const perWord = 4 / BYTES[operand.type];
  const whole = (words: number) => vectorizes(operand, rowLength, words * perWord);
  // Words that are loaded at once.
  const width = whole(4) ? 4 : whole(2) ? 2 : 1;
  const reading = { letter, turned, shifted: !whole(1) };
  const length = WORDS * perWord;
  const [rows, cols] = turned ? [length, HEIGHT] : [HEIGHT, length];
  const source = `source${letter}`;
  return {
    wgsl: /* wgsl */ `const PER_LOAD_${letter} = ${perWord * width}u;     // elements

// The element that a stored row begins with.
fn rowStart${letter}(copy: u32, row: u32) -> u32 { return ${source}.offset + copy * ${source}.stride + row * ${source}.ld; }

// Where what holds an element lies; behind the end of a row or the last row, the last one's: nothing else is touched.
fn loadOf${letter}(copy: u32, storedRow: u32, storedCol: u32) -> u32 {
  let row = min(storedRow, ${source}.${turned ? 'cols' : 'rows'} - 1);
  let col = min(storedCol, ${source}.${turned ? 'rows' : 'cols'} - 1);
  return (rowStart${letter}(copy, row) + col) / PER_LOAD_${letter};
}

${stage(width, length, reading)}

${bits(perWord, reading)}
`,
    word: width === 1 ? 'u32' : `vec${width}<u32>`,
    funnels: reading.shifted && !turned,
    rows,
    cols,
  };
}

/** WGSL: `stage`. All loads are under way before the first of them is waited for. */
function stage(width: 1 | 2 | 4, length: number, { letter, shifted, turned }: Reading): string {
  const perRow = WORDS / width;
  const apart = THREADS / perRow;
  const loads = Array.from({ length: HEIGHT / apart }, (_, i) => ({
    name: `load${i}`,
    y: plus(i * apart, 'y'),
  }));
  const words = Array.from({ length: width }, (_, j) => ({
    x: plus(j, 'x'),
    of: width === 1 ? '' : `[${j}]`,
  }));
  const [row, col] = turned ? ['col', 'row'] : ['row', 'col'];
  const aRowEach = `thread < ${HEIGHT}`;
  const body = [
    `let y = thread / ${perRow};`,
    `let x = thread % ${perRow}${width === 1 ? '' : ` * ${width}`};`,
    `let first = ${col} + thread % ${perRow} * PER_LOAD_${letter};`,
    ...(shifted
      ? [
          `var last = 0u;`,
          `if (${aRowEach}) { last = stored${letter}[loadOf${letter}(copy, ${row} + thread, ${col} + ${length})]; }`,
        ]
      : []),
    ...loads.map(
      ({ name, y }) => `let ${name} = stored${letter}[loadOf${letter}(copy, ${row} + ${y}, first)];`,
    ),
    ...loads.flatMap(({ name, y }) => words.map(({ x, of }) => `piece[${y}][${x}] = ${name}${of};`)),
    ...(shifted ? [`if (${aRowEach}) { piece[thread][${WORDS}] = last; }`] : []),
  ];
  return /* wgsl */ `fn stage${letter}(copy: u32, row: u32, col: u32, thread: u32) {
  ${lines(body, 2)}
}`;
}

/** WGSL: `bits`. */
function bits(perWord: number, reading: Reading): string {
  const { letter, turned } = reading;
  const four = turned ? across(perWord, reading) : along(perWord, reading);
  return /* wgsl */ `fn bits${letter}(copy: u32, row: u32, col: u32) -> vec4<u32> {
  let y = row % ROWS_${letter};
  let x = col % COLS_${letter};
  ${lines(four, 2)}
  let inside = (vec4(row) < vec4(source${letter}.rows)) & (col + vec4(0u, 1u, 2u, 3u) < vec4(source${letter}.cols));
  return select(vec4<u32>(), four, inside);
}`;
}

/** WGSL: four elements that lie side by side in a stored row. */
function along(perWord: number, { letter, shifted }: Reading): string[] {
  if (perWord === 1)
    return ['let four = vec4(piece[y][x], piece[y][x + 1], piece[y][x + 2], piece[y][x + 3]);'];
  const start = shifted ? [`let first = rowStart${letter}(copy, row) % ${perWord} * ${32 / perWord};`] : [];
  const word = (i: number) => `piece[y][x / ${perWord}${i ? ` + ${i}` : ''}]`;
  const whole = (i: number) => (shifted ? `funnel(${word(i)}, ${word(i + 1)}, first)` : word(i));
  if (perWord === 4) {
    return [...start, `let four = (vec4(${whole(0)}) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu);`];
  }
  return [
    ...start,
    `let low = ${whole(0)};`,
    `let high = ${whole(1)};`,
    'let four = vec4(low & 0xffffu, low >> 16, high & 0xffffu, high >> 16);',
  ];
}

/** WGSL: one element of each of four stored rows. */
function across(perWord: number, { letter, shifted }: Reading): string[] {
  const rows = [0, 1, 2, 3].map(i => (i ? ` + ${i}` : ''));
  if (perWord === 1) return [`let four = vec4(${rows.map(i => `piece[x${i}][y]`).join(', ')});`];
  const mask = perWord === 4 ? '0xffu' : '0xffffu';
  if (!shifted) {
    return [
      `let words = vec4(${rows.map(i => `piece[x${i}][y / ${perWord}]`).join(', ')});`,
      `let four = (words >> vec4(y % ${perWord} * ${32 / perWord})) & vec4(${mask});`,
    ];
  }
  return [
    `let at = y + vec4(${rows.map(i => `rowStart${letter}(copy, col${i})`).join(', ')}) % ${perWord};`,
    `let words = vec4(${rows.map((i, j) => `piece[x${i}][at[${j}] / ${perWord}]`).join(', ')});`,
    `let four = (words >> (at % ${perWord} * ${32 / perWord})) & vec4(${mask});`,
  ];
}
