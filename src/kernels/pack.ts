/**
 * Pack: copies operands of any type and layout into blocks, in the type that a kernel reads: what a workgroup fetches for
 * one step of K lies in one piece, in the order in which its threads fetch it. Blocks are filled up with zeros, so that
 * the kernel has one layout to deal with and no edges. One dispatch packs both operands: between two, the device would wait.
 *
 * A line is a row of op(A) or a column of op(B). Blocks of `lines` hold words along K, eight lines side by side: for the
 * matrix units (wgsl/matrix-tile.ts). Blocks of `steps` hold, for one K after the other, words across the lines: for
 * panels (register-tile.ts).
 *
 * Mapping: a workgroup of 256 threads moves a piece of 32 stored rows of an operand through workgroup memory (wgsl/realign.ts):
 * it reads along the stored rows, whichever way they run, and writes words in the order of the blocks. f16 for the matrix units go
 * through registers instead (wgsl/gather.ts).
 */
import { BYTES, copiesOf, isInteger, type Operand } from '../problem.ts';
import { ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { rowLength } from '../wgsl/frame.ts';
import { type Gathered, gathered } from '../wgsl/gather.ts';
import { prepareMain } from '../wgsl/prepare-main.ts';
import { declarePieces, FUNNEL, PIECE_BYTES, type Staged, staged, THREADS } from '../wgsl/realign.ts';
import { plus } from '../wgsl/terms.ts';

export type PackedType = 'f32' | 'f16' | 'i8' | 'u8';

/** What the packed operands have in common. */
export interface PackOptions {
  /** Elements in a line: K. */
  readonly length: number;
  readonly batch: number;
  readonly order: 'lines' | 'steps';
  readonly type: PackedType;
  /** Bytes in a word: 16 or 8. */
  readonly wordBytes: number;
  /** Steps of K that the blocks reach over, at least those that K takes. */
  readonly steps: number;
}

/** An operand to be packed: its buffer is `a` or `b`, the packed one `packedA` or `packedB`. */
export interface PackedSide {
  readonly name: 'a' | 'b';
  readonly operand: Operand;
  /** Rows of op(A) or columns of op(B). */
  readonly lines: number;
  /** Lines of a tile, and K of a step. */
  readonly block: readonly [lines: number, k: number];
}

export interface Packed {
  /** One pass, or none where there is nothing to pack. */
  readonly passes: readonly Pass[];
  /** Where the blocks lie, for frame(): offset 0, a stride from product to product. */
  readonly operands: { readonly a?: Operand; readonly b?: Operand };
  readonly uniforms: Readonly<Record<string, Uint32Array>>;
  readonly scratch: Readonly<Record<string, number>>;
}

export function pack(options: PackOptions, given: readonly PackedSide[]): Packed {
  const gathers = canGather(options, given);
  const sides = given.map(side => sideOf(options, side, gathers));
  return {
    passes: sides.length > 0 ? [passOf(options, sides, gathers)] : [],
    operands: Object.fromEntries(sides.map(({ name, packed }) => [name, packed])),
    uniforms: Object.fromEntries(sides.map(({ letter, data }) => [`source${letter}`, data])),
    scratch: Object.fromEntries(
      sides.map(({ letter, packed }) => [`packed${letter}`, packed.extent * BYTES[options.type]]),
    ),
  };
}

interface Side extends PackedSide {
  readonly letter: 'A' | 'B';
  readonly packed: Operand;
  /** Contents of its uniform. */
  readonly data: Uint32Array;
  readonly pieces: Staged | Gathered;
  /** Workgroups that pack it. */
  readonly groups: number;
}

/** Whether nothing is converted, and words are those that gather.ts makes. */
const canGather = ({ order, type, wordBytes }: PackOptions, sides: readonly PackedSide[]): boolean =>
  order === 'lines' &&
  type === 'f16' &&
  wordBytes === 16 &&
  sides.every(({ operand }) => operand.type === 'f16');

function sideOf(
  { length, batch, order, type, steps }: PackOptions,
  side: PackedSide,
  gathers: boolean,
): Side {
  const { name, operand, lines, block } = side;
  const letter = name === 'a' ? 'A' : 'B';
  const tiles = ceilDiv(lines, block[0]);
  const [packedLines, packedLength] = [tiles * block[0], steps * block[1]];
  // One copy serves a batch that shares the operand.
  const copies = copiesOf(operand, batch);
  const stride = packedLines * packedLength;
  const inOrder = (ofLines: number, ofK: number) => (order === 'lines' ? [ofLines, ofK] : [ofK, ofLines]);
  const [packedRows, packedCols] = inOrder(packedLines, packedLength);
  const pieces = (gathers ? gathered : staged)({
    letter,
    operand,
    rowLength: rowLength(name, operand, lines, length),
    // Whether a row of the blocks runs across the operand's stored rows.
    turned: ((name === 'a') === (order === 'lines')) === operand.trans,
  });
  const groups = ceilDiv(packedRows, pieces.rows) * ceilDiv(packedCols, pieces.cols) * copies;
  return {
    ...side,
    ...{ letter, pieces, groups },
    packed: {
      ...{ type, trans: false, ld: packedCols, offset: 0 },
      stride: copies === 1 ? 0 : stride,
      extent: copies * stride,
    },
    data: Uint32Array.of(
      ...[...inOrder(lines, length), operand.ld, operand.offset, operand.stride],
      ...[packedRows, packedCols, steps, tiles, groups],
    ),
  };
}

function passOf(options: PackOptions, sides: readonly Side[], gathers: boolean): Pass {
  return {
    label: `pack ${sides.map(({ letter }) => letter).join(' and ')}`,
    wgsl: wgsl(options, sides, gathers),
    bindings: sides.flatMap(({ name, letter }) => [
      uniform(`source${letter}`),
      reads(name),
      writes(`packed${letter}`),
    ]),
    workgroups: foldGrid(sides.reduce((sum, { groups }) => sum + groups, 0)),
    threads: THREADS,
    workgroupMemory: gathers ? 0 : PIECE_BYTES,
  };
}

const wgsl = (options: PackOptions, sides: readonly Side[], gathers: boolean) => {
  const { type, wordBytes } = options;
  const pieces = sides.map(side => side.pieces);
  const funnel = pieces.some(({ funnels }) => funnels) ? `${FUNNEL}\n\n` : '';
  return /* wgsl */ `const PER_WORD = ${wordBytes / BYTES[type]}u;       // elements in a word

alias Word = ${wordBytes === 16 ? 'vec4<u32>' : 'vec2<u32>'};

struct Source {
  rows: u32, cols: u32,
  ld: u32, offset: u32, stride: u32,
  packedRows: u32, packedCols: u32,
  steps: u32, tiles: u32,
  groups: u32,
}

struct Piece { copy: u32, row: u32, col: u32 }

${gathers ? funnel : `${declarePieces(pieces)}\n`}${sides.map((side, i) => wgslOf(options, side, gathers, 3 * i)).join('\n')}
${prepareMain({ letters: sides.map(({ letter }) => letter), uniform: 'source', steps: gathers ? ['pack'] : ['read', 'write'], threads: THREADS })}`;
};

const wgslOf = (options: PackOptions, side: Side, gathers: boolean, binding: number) => {
  const { order } = options;
  const { letter, block, pieces } = side;
  const [blockRows, blockCols] = order === 'lines' ? block : [block[1], block[0]];
  const [rows, cols] = [`ROWS_${letter}`, `COLS_${letter}`];
  const source = `source${letter}`;
  return /* wgsl */ `const BLOCK_ROWS_${letter} = ${blockRows}u;
const BLOCK_COLS_${letter} = ${blockCols}u;

@group(0) @binding(${binding}) var<uniform> ${source}: Source;
@group(0) @binding(${binding + 1}) var<storage, read> stored${letter}: array<${pieces.word}>;
@group(0) @binding(${binding + 2}) var<storage, read_write> packed${letter}: array<Word>;

const ROWS_${letter} = ${pieces.rows}u;
const COLS_${letter} = ${pieces.cols}u;

${pieces.wgsl}

// Where a piece begins.
fn pieceOf${letter}(index: u32) -> Piece {
  let across = (${source}.packedCols + ${cols} - 1) / ${cols};
  let down = (${source}.packedRows + ${rows} - 1) / ${rows};
  return Piece(index / (across * down), index / across % down * ${rows}, index % across * ${cols});
}

// Where the word at (row, col) goes: its tile, its step of K, and its place in their block.
fn place${letter}(copy: u32, row: u32, col: u32) -> u32 {
${order === 'lines' ? placeInLines(letter) : placeInSteps(letter)}
}

fn put${letter}(copy: u32, row: u32, col: u32, word: Word) {
  if (row < ${source}.packedRows && col < ${source}.packedCols) { packed${letter}[place${letter}(copy, row, col)] = word; }
}

${gathers ? packPiece(letter) : moveThroughMemory(options, side)}`;
};

const packPiece = (letter: string) => /* wgsl */ `fn pack${letter}(index: u32, thread: u32) {
  let first = pieceOf${letter}(index);
  gather${letter}(first.copy, first.row, first.col, thread);
}
`;

const moveThroughMemory = ({ order, type, wordBytes }: PackOptions, { letter, operand }: Side) => {
  const rows = `ROWS_${letter}`;
  return /* wgsl */ `fn read${letter}(index: u32, thread: u32) {
  let first = pieceOf${letter}(index);
  stage${letter}(first.copy, first.row, first.col, thread);
}

${word(letter, operand, type, wordBytes)}

fn write${letter}(index: u32, thread: u32) {
  let first = pieceOf${letter}(index);
  const WORDS = COLS_${letter} / PER_WORD;
  for (var w = thread; w < ${rows} * WORDS; w += ${THREADS}) {
    let row = first.row + ${order === 'lines' ? `w % ${rows}` : 'w / WORDS'};
    let col = first.col + ${order === 'lines' ? `w / ${rows}` : 'w % WORDS'} * PER_WORD;
    put${letter}(first.copy, row, col, word${letter}(first.copy, row, col));
  }
}
`;
};

const placeInLines = (letter: string) => /* wgsl */ `  let words = BLOCK_COLS_${letter} / PER_WORD;
  let block = (copy * source${letter}.tiles + row / BLOCK_ROWS_${letter}) * source${letter}.steps + col / BLOCK_COLS_${letter};
  let r = row % BLOCK_ROWS_${letter};
  return (block * BLOCK_ROWS_${letter} + r / 8 * 8) * words + col % BLOCK_COLS_${letter} / PER_WORD * 8 + r % 8;`;

const placeInSteps = (letter: string) => /* wgsl */ `  let words = BLOCK_COLS_${letter} / PER_WORD;
  let block = (copy * source${letter}.tiles + col / BLOCK_COLS_${letter}) * source${letter}.steps + row / BLOCK_ROWS_${letter};
  return (block * BLOCK_ROWS_${letter} + row % BLOCK_ROWS_${letter}) * words + col % BLOCK_COLS_${letter} / PER_WORD;`;

/** WGSL: four elements that lie side by side in a row of the blocks, as f32. */
const values = (
  letter: string,
  { type }: Operand,
) => /* wgsl */ `fn values${letter}(copy: u32, row: u32, col: u32) -> vec4f {
  let x = bits${letter}(copy, row, col);
  return ${type === 'f32' ? 'bitcast<vec4f>(x)' : 'vec4f(unpack2x16float(x.x | (x.y << 16)), unpack2x16float(x.z | (x.w << 16)))'};
}

`;

/** WGSL: four elements `x` in as many u32 as they fill: bits of the packed type, or f32 to be converted to it. */
const FOUR = {
  f32: { as: 'vec4<u32>', own: 'x', converted: 'bitcast<vec4<u32>>(x)' },
  f16: {
    as: 'vec2<u32>',
    own: 'x.xz | (x.yw << vec2(16u))',
    converted: 'vec2(pack2x16float(x.xy), pack2x16float(x.zw))',
  },
  bytes: { as: 'u32', own: 'x.x | (x.y << 8) | (x.z << 16) | (x.w << 24)', converted: '' },
} as const;

/** WGSL: PER_WORD elements of a row of the blocks as a word. */
function word(letter: string, operand: Operand, type: PackedType, wordBytes: number): string {
  const own = operand.type === type;
  const { as, ...four } = FOUR[isInteger(type) ? 'bytes' : (type as 'f32' | 'f16')];
  const fours = Array.from(
    { length: wordBytes / (4 * BYTES[type]) },
    (_, i) => `four${letter}(copy, row, ${plus(4 * i, 'col')})`,
  );
  return /* wgsl */ `${own ? '' : values(letter, operand)}fn four${letter}(copy: u32, row: u32, col: u32) -> ${as} {
  let x = ${own ? 'bits' : 'values'}${letter}(copy, row, col);
  return ${own ? four.own : four.converted};
}

fn word${letter}(copy: u32, row: u32, col: u32) -> Word { return Word(${fours.join(', ')}); }`;
}
