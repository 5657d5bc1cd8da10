/**
 * Pack: copies an operand of any type and layout into rows of whole 16-byte words, in the type that matrix units read,
 * filled up with zeros, so that the kernels that multiply have one layout to deal with and no edges along K.
 *
 * Mapping: a workgroup of 256 threads moves a tile of 32×64 elements through workgroup memory: it reads along the source's rows,
 * whichever way they run, and writes words along the packed rows. Rows of the tile are 65 long, so that a column of it
 * lies in different banks.
 */
import { isInteger, type Operand } from '../problem.ts';
import { ceilDiv, foldGrid, type Pass, reads, roundUp, uniform, writes } from '../program.ts';

export type PackedType = 'f32' | 'f16' | 'i8' | 'u8';

/** Elements in a word of 16 bytes. */
export const perWord = (type: PackedType): number => ({ f32: 4, f16: 8, i8: 16, u8: 16 })[type];

export interface PackOptions {
  /** `a` or `b`: the buffer that is read; the packed one is `packedA` or `packedB`. */
  readonly name: 'a' | 'b';
  readonly operand: Operand;
  /** Of op(A) or op(B). */
  readonly rows: number;
  readonly cols: number;
  readonly batch: number;
  readonly type: PackedType;
  /** The packed rows and columns are rounded up to multiples of these. */
  readonly alignRows: number;
  readonly alignCols: number;
}

export interface Packed {
  readonly pass: Pass;
  /** Where the packed operand's elements lie. */
  readonly operand: Operand;
  readonly uniforms: Readonly<Record<string, Uint32Array>>;
  readonly scratch: Readonly<Record<string, number>>;
}

const ROWS = 32;
const COLS = 64;

export function pack({ name, operand, rows, cols, batch, type, alignRows, alignCols }: PackOptions): Packed {
  const letter = name.toUpperCase();
  const ld = roundUp(cols, Math.max(alignCols, perWord(type)));
  const packedRows = roundUp(rows, alignRows);
  // One copy serves a batch that shares the operand.
  const copies = operand.stride === 0 ? 1 : batch;
  const stride = packedRows * ld;
  const source = `source${letter}`;
  const packed = `packed${letter}`;
  return {
    operand: {
      ...{ type, trans: false, ld, offset: 0 },
      stride: copies === 1 ? 0 : stride,
      extent: copies * stride,
    },
    uniforms: {
      [source]: Uint32Array.of(
        rows,
        cols,
        copies,
        operand.ld,
        operand.offset,
        operand.stride,
        packedRows,
        ld,
      ),
    },
    scratch: { [packed]: copies * stride * (16 / perWord(type)) },
    pass: {
      label: `pack ${letter}`,
      wgsl: wgsl(operand, type),
      bindings: [uniform(source), reads(name), writes(packed)],
      workgroups: foldGrid(ceilDiv(packedRows, ROWS) * ceilDiv(ld, COLS) * copies),
      threads: 256,
      workgroupMemory: ROWS * (COLS + 1) * 4,
    },
  };
}

const wgsl = (
  operand: Operand,
  type: PackedType,
) => /* wgsl */ `${operand.type === 'f16' ? 'enable f16;\n' : ''}
const ROWS = ${ROWS}u;
const COLS = ${COLS}u;
const PER_WORD = ${perWord(type)}u;

alias Value = ${isInteger(type) ? 'i32' : 'f32'};

struct Source {
  rows: u32, cols: u32, copies: u32,
  ld: u32, offset: u32, stride: u32,
  packedRows: u32, packedLd: u32,
}

@group(0) @binding(0) var<uniform> source: Source;
@group(0) @binding(1) var<storage, read> elements: array<${isInteger(operand.type) ? 'u32' : operand.type}>;
@group(0) @binding(2) var<storage, read_write> packed: array<vec4<u32>>;

var<workgroup> tile: array<array<Value, COLS + 1>, ROWS>;

fn element(copy: u32, row: u32, col: u32) -> Value {
  let index = source.offset + copy * source.stride + ${operand.trans ? 'col * source.ld + row' : 'row * source.ld + col'};
  let inside = (row < source.rows) & (col < source.cols);
  return select(Value(), ${elementValue(operand)}, inside);
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let across = (source.packedLd + COLS - 1) / COLS;
  let down = (source.packedRows + ROWS - 1) / ROWS;
  let index = group.y * groups.x + group.x;
  let copy = index / (across * down);
  if (copy >= source.copies) { return; }
  let firstRow = index / across % down * ROWS;
  let firstCol = index % across * COLS;

  for (var i = 0u; i < ROWS * COLS / 256; i++) {
    let e = thread + i * 256;
    ${operand.trans ? 'let y = e % ROWS;\n    let x = e / ROWS;' : 'let y = e / COLS;\n    let x = e % COLS;'}
    tile[y][x] = element(copy, firstRow + y, firstCol + x);
  }
  workgroupBarrier();
  const WORDS = COLS / PER_WORD;
  for (var w = thread; w < ROWS * WORDS; w += 256) {
    let y = w / WORDS;
    let x = w % WORDS * PER_WORD;
    let row = firstRow + y;
    let col = firstCol + x;
    if (row < source.packedRows && col < source.packedLd) {
      packed[((copy * source.packedRows + row) * source.packedLd + col) / PER_WORD] = word(y, x);
    }
  }
}

${word(type)}
`;

function elementValue({ type }: Operand): string {
  if (type === 'i8') return 'extractBits(i32(elements[index / 4]), 8 * (index % 4), 8)';
  if (type === 'u8') return 'i32(extractBits(elements[index / 4], 8 * (index % 4), 8))';
  return 'Value(elements[index])';
}

/** WGSL: PER_WORD elements of a row of the tile as 16 bytes. */
function word(type: PackedType): string {
  const body = {
    f32: 'return bitcast<vec4<u32>>(vec4f(tile[y][x], tile[y][x + 1], tile[y][x + 2], tile[y][x + 3]));',
    f16: `return vec4<u32>(
    pack2x16float(vec2f(tile[y][x], tile[y][x + 1])),
    pack2x16float(vec2f(tile[y][x + 2], tile[y][x + 3])),
    pack2x16float(vec2f(tile[y][x + 4], tile[y][x + 5])),
    pack2x16float(vec2f(tile[y][x + 6], tile[y][x + 7])),
  );`,
    i8: 'return vec4<u32>(four(y, x), four(y, x + 4), four(y, x + 8), four(y, x + 12));',
    u8: 'return vec4<u32>(four(y, x), four(y, x + 4), four(y, x + 8), four(y, x + 12));',
  }[type];
  const four = isInteger(type)
    ? `fn four(y: u32, x: u32) -> u32 {
  let bytes = vec4<u32>(vec4<i32>(tile[y][x], tile[y][x + 1], tile[y][x + 2], tile[y][x + 3])) & vec4<u32>(255);
  return bytes.x | (bytes.y << 8) | (bytes.z << 16) | (bytes.w << 24);
}

`
    : '';
  return `${four}fn word(y: u32, x: u32) -> vec4<u32> {\n  ${body}\n}`;
}
