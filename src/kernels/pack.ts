/**
 * Pack: copies an operand of any type and layout into blocks, in the type that a kernel reads: what a workgroup fetches for
 * one step of K lies in one piece, in the order in which its threads fetch it. Blocks are filled up with zeros, so that
 * the kernel has one layout to deal with and no edges.
 *
 * A line is a row of op(A) or a column of op(B). Blocks of `lines` hold words along K, eight lines side by side: for the
 * matrix units (wgsl/matrix-tile.ts). Blocks of `steps` hold, for one K after the other, words across the lines: for
 * panels (register-tile.ts).
 *
 * Mapping: a workgroup of 256 threads moves 32×64 elements through workgroup memory: it reads along the source's rows,
 * whichever way they run, and writes words in the order of the blocks. Rows in workgroup memory are 65 long, so that a
 * column lies in different banks.
 */
import { BYTES, isInteger, type Operand } from '../problem.ts';
import { type Binding, ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { elementOf } from '../wgsl/frame.ts';
import { cells, type WidthC } from '../wgsl/store.ts';
import { unroll } from '../wgsl/unroll.ts';
import { vectorizes } from '../wgsl/vectors.ts';

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
  /**
   * 1, or 2 for a high and a low part of every element (split-f32.ts), scaled by what the buffer \`scales\` holds for its
   * line, batch by batch. For `lines` of f16 only.
   */
  readonly parts?: 1 | 2;
  /** Where the operand's scales begin. */
  readonly firstScale?: number;
}

export interface Packed {
  readonly pass: Pass;
  /** Where the blocks lie, for frame(): offset 0, a stride from product to product. */
  readonly operand: Operand;
  /** Elements from the high part to the low one. */
  readonly part: number;
  readonly uniforms: Readonly<Record<string, Uint32Array>>;
  readonly scratch: Readonly<Record<string, number>>;
}

const ROWS = 32;
const COLS = 64;

export function pack(options: PackOptions): Packed {
  const {
    name,
    operand,
    lines,
    length,
    batch,
    order,
    type,
    block,
    steps,
    parts = 1,
    firstScale = 0,
  } = options;
  const letter = name.toUpperCase();
  const tiles = ceilDiv(lines, block[0]);
  const [packedLines, packedLength] = [tiles * block[0], steps * block[1]];
  // One copy serves a batch that shares the operand.
  const copies = operand.stride === 0 ? 1 : batch;
  const stride = packedLines * packedLength;
  const [source, packed] = [`source${letter}`, `packed${letter}`];
  const scales: Binding[] = parts === 2 ? [reads('scales')] : [];
  const inOrder = (ofLines: number, ofK: number) => (order === 'lines' ? [ofLines, ofK] : [ofK, ofLines]);
  const [packedRows, packedCols] = inOrder(packedLines, packedLength);
  return {
    operand: {
      ...{ type, trans: false, ld: packedCols, offset: 0 },
      stride: copies === 1 ? 0 : stride,
      extent: parts * copies * stride,
    },
    part: copies * stride,
    uniforms: {
      [source]: Uint32Array.of(
        ...[...inOrder(lines, length), copies, operand.ld, operand.offset, operand.stride],
        ...[packedRows, packedCols, steps, tiles, firstScale],
      ),
    },
    scratch: { [packed]: parts * copies * stride * BYTES[type] },
    pass: {
      label: parts === 2 ? `split ${letter}` : `pack ${letter}`,
      wgsl: wgsl(options, parts),
      bindings: [uniform(source), reads(name), writes(packed), ...scales],
      workgroups: foldGrid(ceilDiv(packedRows, ROWS) * ceilDiv(packedCols, COLS) * copies),
      threads: 256,
      workgroupMemory: ROWS * (COLS + 1) * 4,
    },
  };
}

/** How many elements lie side by side in a row of the operand, as it is stored. */
const rowLength = ({ name, operand, lines, length }: PackOptions) =>
  (name === 'a') === operand.trans ? lines : length;

/** Whether a row of the blocks runs across the operand's stored rows. */
const across = ({ name, operand, order }: PackOptions) =>
  ((name === 'a') === (order === 'lines')) === operand.trans;

const wgsl = (options: PackOptions, parts: 1 | 2) => {
  const { operand, order, type, wordBytes, block } = options;
  const turned = across(options);
  const width = vectorizes(operand, rowLength(options), 4) ? 4 : 1;
  const [blockRows, blockCols] = order === 'lines' ? block : [block[1], block[0]];
  return /* wgsl */ `${operand.type === 'f16' ? 'enable f16;\n' : ''}
const ROWS = ${ROWS}u;
const COLS = ${COLS}u;
const PER_WORD = ${wordBytes / BYTES[type]}u;       // elements in a word
const BLOCK_ROWS = ${blockRows}u;
const BLOCK_COLS = ${blockCols}u;

alias Value = ${isInteger(type) ? 'i32' : 'f32'};
alias Word = ${wordBytes === 16 ? 'vec4<u32>' : 'vec2<u32>'};

struct Source {
  rows: u32, cols: u32, copies: u32,
  ld: u32, offset: u32, stride: u32,
  packedRows: u32, packedCols: u32,
  steps: u32, tiles: u32,
  firstScale: u32,
}

@group(0) @binding(0) var<uniform> source: Source;
@group(0) @binding(1) var<storage, read> elements: array<${isInteger(operand.type) ? 'u32' : cells(operand.type, width)}>;
@group(0) @binding(2) var<storage, read_write> packed: array<Word>;
${parts === 2 ? '@group(0) @binding(3) var<storage, read> scales: array<f32>;\n' : ''}
var<workgroup> tile: array<array<Value, COLS + 1>, ROWS>;

${readElements(operand, turned, width)}

// Where the word at (row, col) goes: its tile, its step of K, and its place in their block.
fn place(copy: u32, row: u32, col: u32) -> u32 {
${order === 'lines' ? PLACE_IN_LINES : PLACE_IN_STEPS}
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let across = (source.packedCols + COLS - 1) / COLS;
  let down = (source.packedRows + ROWS - 1) / ROWS;
  ${parts === 1 ? FORWARDS : BACKWARDS}
  let copy = index / (across * down);
  let firstRow = index / across % down * ROWS;
  let firstCol = index % across * COLS;

  ${width === 4 ? readFours(turned) : readOnes(turned)}
  workgroupBarrier();

  const WORDS = COLS / PER_WORD;
  for (var w = thread; w < ROWS * WORDS; w += 256) {
    ${order === 'lines' ? 'let y = w % ROWS;\n    let x = w / ROWS * PER_WORD;' : 'let y = w / WORDS;\n    let x = w % WORDS * PER_WORD;'}
    let row = firstRow + y;
    let col = firstCol + x;
    if (row < source.packedRows && col < source.packedCols) {
      let to = place(copy, row, col);
      ${parts === 1 ? 'packed[to] = word(y, x);' : SPLIT_STORE}
    }
  }
}

${word(type, wordBytes, parts)}
`;
};

/** WGSL: an element of the source, or four that lie side by side in one of its rows; 0 outside. */
function readElements(operand: Operand, turned: boolean, width: WidthC): string {
  const Values = cells('Value', width);
  const four = {
    i8: '(vec4<i32>(i32(elements[index / 4])) << vec4(24u, 16u, 8u, 0u)) >> vec4(24u)',
    u8: 'vec4<i32>((vec4(elements[index / 4]) >> vec4(0u, 8u, 16u, 24u)) & vec4(255u))',
    f16: 'vec4<Value>(elements[index / 4])',
    f32: 'elements[index / 4]',
  }[operand.type];
  return /* wgsl */ `fn ${width === 4 ? 'fourElements' : 'element'}(copy: u32, row: u32, col: u32) -> ${Values} {
  let index = source.offset + copy * source.stride + ${turned ? 'col * source.ld + row' : 'row * source.ld + col'};
  let inside = (row < source.rows) & (col < source.cols);
  return select(${Values}(), ${width === 4 ? four : elementOf('elements', operand, 1, 'Value')}, inside);
}`;
}

const FORWARDS = /* wgsl */ `let index = group.y * groups.x + group.x;
  if (index >= across * down * source.copies) { return; }`;

/** The scales were just found, from the first line to the last: of a large operand, the last lines are still in a cache. */
const BACKWARDS = /* wgsl */ `let done = group.y * groups.x + group.x;
  let pieces = across * down * source.copies;
  if (done >= pieces) { return; }
  let index = pieces - 1 - done;`;

const readOnes = (turned: boolean) => /* wgsl */ `for (var i = 0u; i < ROWS * COLS / 256; i++) {
    let e = thread + i * 256;
    ${turned ? 'let y = e % ROWS;\n    let x = e / ROWS;' : 'let y = e / COLS;\n    let x = e % COLS;'}
    tile[y][x] = element(copy, firstRow + y, firstCol + x);
  }`;

const readFours = (turned: boolean) => /* wgsl */ `for (var i = 0u; i < ROWS * COLS / 1024; i++) {
    let e = thread + i * 256;
    ${turned ? 'let y = e % (ROWS / 4) * 4;\n    let x = e / (ROWS / 4);' : 'let y = e / (COLS / 4);\n    let x = e % (COLS / 4) * 4;'}
    let values = fourElements(copy, firstRow + y, firstCol + x);
    ${unroll(4, 4, j => `tile[y${turned && j ? ` + ${j}` : ''}][x${!turned && j ? ` + ${j}` : ''}] = values[${j}];`)}
  }`;

const PLACE_IN_LINES = /* wgsl */ `  let words = BLOCK_COLS / PER_WORD;
  let block = (copy * source.tiles + row / BLOCK_ROWS) * source.steps + col / BLOCK_COLS;
  let r = row % BLOCK_ROWS;
  return (block * BLOCK_ROWS + r / 8 * 8) * words + col % BLOCK_COLS / PER_WORD * 8 + r % 8;`;

const PLACE_IN_STEPS = /* wgsl */ `  let words = BLOCK_COLS / PER_WORD;
  let block = (copy * source.tiles + col / BLOCK_COLS) * source.steps + row / BLOCK_ROWS;
  return (block * BLOCK_ROWS + row % BLOCK_ROWS) * words + col % BLOCK_COLS / PER_WORD;`;

/** The low part's blocks follow the high part's. A line past the edge has no scale: its elements are 0 anyway. */
const SPLIT_STORE = /* wgsl */ `let low = source.copies * source.packedRows * source.packedCols / PER_WORD;
      let scale = scales[source.firstScale + copy * source.rows + min(row, source.rows - 1)];
      let first = split(four(y, x) * scale);
      let second = split(four(y, x + 4) * scale);
      packed[to] = Word(first.high, second.high);
      packed[low + to] = Word(first.low, second.low);`;

const FOUR = /* wgsl */ `fn four(y: u32, x: u32) -> vec4<Value> {
  return vec4<Value>(tile[y][x], tile[y][x + 1], tile[y][x + 2], tile[y][x + 3]);
}
`;

/**
 * The high part is the f32 rounded to the 11 bits of an f16, with integers: through f32(f16(x)) a compiler may fold
 * the rounding away. Below f16's normal numbers it is 0, and the low part takes what it can.
 */
export const SPLIT = /* wgsl */ `struct Split { high: vec2<u32>, low: vec2<u32> }

fn split(x: vec4f) -> Split {
  let bits = bitcast<vec4<u32>>(x);
  let rounded = (bits + 0xfffu + ((bits >> vec4(13u)) & vec4(1u))) & vec4(0xffffe000u);
  let high = select(vec4f(), bitcast<vec4f>(rounded), abs(x) >= vec4(0x1p-14f));
  let low = x - high;
  return Split(
    vec2(pack2x16float(high.xy), pack2x16float(high.zw)),
    vec2(pack2x16float(low.xy), pack2x16float(low.zw)),
  );
}
`;

/** WGSL: PER_WORD elements of a row of the tile as a word, or what splits them. */
function word(type: PackedType, wordBytes: number, parts: 1 | 2): string {
  if (parts === 2) return FOUR + SPLIT;
  const fours = (each: (i: number) => string) =>
    Array.from({ length: wordBytes / (4 * BYTES[type]) }, (_, i) => each(4 * i)).join(', ');
  if (type === 'f32') return `${FOUR}\nfn word(y: u32, x: u32) -> Word { return bitcast<Word>(four(y, x)); }`;
  if (type === 'f16') {
    return /* wgsl */ `${FOUR}
fn halves(x: vec4f) -> vec2<u32> { return vec2(pack2x16float(x.xy), pack2x16float(x.zw)); }

fn word(y: u32, x: u32) -> Word { return Word(${fours(i => `halves(four(y, x + ${i}))`)}); }`;
  }
  return /* wgsl */ `${FOUR}
fn bytes(x: vec4<i32>) -> u32 {
  let b = bitcast<vec4<u32>>(x) & vec4(255u);
  return b.x | (b.y << 8) | (b.z << 16) | (b.w << 24);
}

fn word(y: u32, x: u32) -> Word { return Word(${fours(i => `bytes(four(y, x + ${i}))`)}); }`;
}
