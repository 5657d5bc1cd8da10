/**
 * Pack: copies an operand of any type and layout into blocks, in the type that a kernel reads: what a workgroup fetches for
 * one step of K lies in one piece, in the order in which its threads fetch it. Blocks are filled up with zeros, so that
 * the kernel has one layout to deal with and no edges.
 *
 * A line is a row of op(A) or a column of op(B). Blocks of `lines` hold words along K, eight lines side by side: for the
 * matrix units (wgsl/matrix-tile.ts). Blocks of `steps` hold, for one K after the other, words across the lines: for
 * panels (register-tile.ts).
 *
 * Mapping: a workgroup of 256 threads moves a piece of 32 stored rows through workgroup memory (wgsl/realign.ts): it reads
 * along the stored rows, whichever way they run, and writes words in the order of the blocks.
 */
import { BYTES, copiesOf, isInteger, type Operand } from '../problem.ts';
import { ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { rowLength } from '../wgsl/frame.ts';
import { type Staged, staged, THREADS } from '../wgsl/realign.ts';

export type PackedType = 'f32' | 'f16' | 'i8' | 'u8';

export interface PackOptions {
  /** The operand: its buffer is \`a\` or \`b\`, the packed one \`packedA\` or \`packedB\`. */
  readonly name: 'a' | 'b';
  readonly operand: Operand;
  /** Rows of op(A) or columns of op(B), and elements in each. */
  readonly lines: number;
  readonly length: number;
  readonly batch: number;
  readonly order: 'lines' | 'steps';
  readonly type: PackedType;
  /** Bytes in a word: 16 or 8. */
  readonly wordBytes: number;
  /** Lines of a tile, and K of a step. */
  readonly block: readonly [lines: number, k: number];
  /** Steps of K that the blocks reach over, at least those that K takes. */
  readonly steps: number;
}

export interface Packed {
  readonly pass: Pass;
  /** Where the blocks lie, for frame(): offset 0, a stride from product to product. */
  readonly operand: Operand;
  readonly uniforms: Readonly<Record<string, Uint32Array>>;
  readonly scratch: Readonly<Record<string, number>>;
}

export function pack(options: PackOptions): Packed {
  const { name, operand, lines, length, batch, order, type, block, steps } = options;
  const letter = name.toUpperCase();
  const tiles = ceilDiv(lines, block[0]);
  const [packedLines, packedLength] = [tiles * block[0], steps * block[1]];
  // One copy serves a batch that shares the operand.
  const copies = copiesOf(operand, batch);
  const stride = packedLines * packedLength;
  const [source, packed] = [`source${letter}`, `packed${letter}`];
  const inOrder = (ofLines: number, ofK: number) => (order === 'lines' ? [ofLines, ofK] : [ofK, ofLines]);
  const [packedRows, packedCols] = inOrder(packedLines, packedLength);
  const pieces = staged({
    operand,
    rowLength: rowLength(name, operand, lines, length),
    // Whether a row of the blocks runs across the operand's stored rows.
    turned: ((name === 'a') === (order === 'lines')) === operand.trans,
  });
  return {
    operand: {
      ...{ type, trans: false, ld: packedCols, offset: 0 },
      stride: copies === 1 ? 0 : stride,
      extent: copies * stride,
    },
    uniforms: {
      [source]: Uint32Array.of(
        ...[...inOrder(lines, length), copies, operand.ld, operand.offset, operand.stride],
        ...[packedRows, packedCols, steps, tiles],
      ),
    },
    scratch: { [packed]: copies * stride * BYTES[type] },
    pass: {
      label: `pack ${letter}`,
      wgsl: wgsl(options, pieces),
      bindings: [uniform(source), reads(name), writes(packed)],
      workgroups: foldGrid(ceilDiv(packedRows, pieces.rows) * ceilDiv(packedCols, pieces.cols) * copies),
      threads: THREADS,
      workgroupMemory: pieces.bytes,
    },
  };
}

const wgsl = ({ operand, order, type, wordBytes, block }: PackOptions, { wgsl }: Staged) => {
  const [blockRows, blockCols] = order === 'lines' ? block : [block[1], block[0]];
  return /* wgsl */ `const PER_WORD = ${wordBytes / BYTES[type]}u;       // elements in a word
const BLOCK_ROWS = ${blockRows}u;
const BLOCK_COLS = ${blockCols}u;

alias Word = ${wordBytes === 16 ? 'vec4<u32>' : 'vec2<u32>'};

struct Source {
  rows: u32, cols: u32, copies: u32,
  ld: u32, offset: u32, stride: u32,
  packedRows: u32, packedCols: u32,
  steps: u32, tiles: u32,
}

@group(0) @binding(0) var<uniform> source: Source;
@group(0) @binding(2) var<storage, read_write> packed: array<Word>;

${wgsl}
// Where the word at (row, col) goes: its tile, its step of K, and its place in their block.
fn place(copy: u32, row: u32, col: u32) -> u32 {
${order === 'lines' ? PLACE_IN_LINES : PLACE_IN_STEPS}
}

@compute @workgroup_size(${THREADS})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let across = (source.packedCols + COLS - 1) / COLS;
  let down = (source.packedRows + ROWS - 1) / ROWS;
  let index = group.y * groups.x + group.x;
  if (index >= across * down * source.copies) { return; }
  let copy = index / (across * down);
  let firstRow = index / across % down * ROWS;
  let firstCol = index % across * COLS;

  stage(copy, firstRow, firstCol, thread);
  workgroupBarrier();

  const WORDS = COLS / PER_WORD;
  for (var w = thread; w < ROWS * WORDS; w += ${THREADS}) {
    let row = firstRow + ${order === 'lines' ? 'w % ROWS' : 'w / WORDS'};
    let col = firstCol + ${order === 'lines' ? 'w / ROWS' : 'w % WORDS'} * PER_WORD;
    if (row < source.packedRows && col < source.packedCols) {
      packed[place(copy, row, col)] = word(copy, row, col);
    }
  }
}

${word(operand, type, wordBytes)}
`;
};

const PLACE_IN_LINES = /* wgsl */ `  let words = BLOCK_COLS / PER_WORD;
  let block = (copy * source.tiles + row / BLOCK_ROWS) * source.steps + col / BLOCK_COLS;
  let r = row % BLOCK_ROWS;
  return (block * BLOCK_ROWS + r / 8 * 8) * words + col % BLOCK_COLS / PER_WORD * 8 + r % 8;`;

const PLACE_IN_STEPS = /* wgsl */ `  let words = BLOCK_COLS / PER_WORD;
  let block = (copy * source.tiles + col / BLOCK_COLS) * source.steps + row / BLOCK_ROWS;
  return (block * BLOCK_ROWS + row % BLOCK_ROWS) * words + col % BLOCK_COLS / PER_WORD;`;

/** WGSL: four elements that lie side by side in a row of the blocks, as f32. */
const values = ({ type }: Operand) => /* wgsl */ `fn values(copy: u32, row: u32, col: u32) -> vec4f {
  let x = bits(copy, row, col);
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
function word(operand: Operand, type: PackedType, wordBytes: number): string {
  const own = operand.type === type;
  const { as, ...four } = FOUR[isInteger(type) ? 'bytes' : (type as 'f32' | 'f16')];
  const fours = Array.from({ length: wordBytes / (4 * BYTES[type]) }, (_, i) =>
    i === 0 ? 'four(copy, row, col)' : `four(copy, row, col + ${4 * i})`,
  );
  return /* wgsl */ `${own ? '' : values(operand)}fn four(copy: u32, row: u32, col: u32) -> ${as} {
  let x = ${own ? 'bits' : 'values'}(copy, row, col);
  return ${own ? four.own : four.converted};
}

fn word(copy: u32, row: u32, col: u32) -> Word { return Word(${fours.join(', ')}); }`;
}
