/**
 * The frame around every kernel of the library: the parameters, the operands, where their elements lie, and what
 * becomes of a finished sum on its way into C. A kernel adds its `main` to it.
 *
 * Everything that varies from call to call without changing the code is a uniform, so that problems of one kind share
 * a pipeline; what changes the code (types, transposes, activation) is in the source.
 */
import { isInteger, type Operand, type Problem } from '../problem.ts';
import { type Binding, ceilDiv, reads, roundUp, uniform, writes } from '../program.ts';
import {
  cells,
  declareEpilogue,
  epilogueOperands,
  storeFinished,
  storePartial,
  type WidthC,
} from './store.ts';
import type { Width } from './vectors.ts';

export interface Frame {
  /** WGSL: directives, declarations, `loadA`, `loadB`, `storeC`. */
  readonly wgsl: string;
  readonly bindings: readonly Binding[];
  /** Contents of the uniform `params`. */
  readonly params: Uint32Array;
}

export interface FrameOptions {
  /**
   * Elements of A and B that one array element holds, where `vectorizes` allows it: 4 gives `array<vec4<…>>` (for 8-bit
   * integers, words), 8 gives f16 in 16-byte words, `array<vec4<u32>>`.
   */
  readonly vectorA?: Width;
  readonly vectorB?: Width;
  /**
   * `elements` gives `elementA`, `loadA` and their twins for B. The others declare A and B as arrays of words of
   * 16 or 8 bytes, whatever their type, and leave reading them to the kernel.
   */
  readonly access?: 'elements' | 'vec4<u32>' | 'vec2<u32>' | 'vec4<f32>';
  /** The program's buffers that are bound as A and B; `a` and `b` if left out. */
  readonly buffers?: { readonly a: string; readonly b: string };
  /**
   * Whether A and B, scratch buffers both, are declared writable: loads from what cannot change are moved by a driver's
   * compiler as it sees fit, also over barriers, and these are not.
   */
  readonly writable?: boolean;
  /** Further directives, such as `enable subgroups;`. */
  readonly enable?: readonly string[];
  /**
   * `finished`: storeC applies alpha, beta, bias, activation and the rest. `partial`: it stores the bare sum into the
   * scratch buffer `partial`, m×n for each product and each of `slices` parts of K.
   */
  readonly store?: 'finished' | 'partial';
  /**
   * Neighbouring cells of a row that storeC takes at once: 1 if left out, or what wgsl/store.ts's `widthC` gives. With 4,
   * its `sum` is a `vec4<Sum>`, and its column a multiple of 4.
   */
  readonly vectorC?: WidthC;
  /** Parts that K is cut into (split-K); 1 if left out. */
  readonly slices?: number;
  /** A part of K is a multiple of this long. */
  readonly step?: number;
  /** Elements from the first part of A and B to their second one, where they have two (split-f32). */
  readonly parts?: { readonly a: number; readonly b: number };
}

/** Elements in a stored row of an operand with so many lines, which are rows of op(A) or columns of op(B), of `length` elements. */
export const rowLength = (name: 'a' | 'b', { trans }: Operand, lines: number, length: number): number =>
  (name === 'a') === trans ? lines : length;
export const rowLengthA = ({ m, k, a }: Problem): number => rowLength('a', a, m, k);
export const rowLengthB = ({ n, k, b }: Problem): number => rowLength('b', b, n, k);

/** The type that sums are held in, and that the epilogue computes with. */
export const sumType = (problem: Problem): 'f32' | 'i32' => (isInteger(problem.a.type) ? 'i32' : 'f32');

export function frame(problem: Problem, options: FrameOptions = {}): Frame {
  const { vectorA = 1, vectorB = 1, vectorC = 1, enable = [], store = 'finished' } = options;
  const { access = 'elements', buffers = { a: 'a', b: 'b' }, writable = false } = options;
  const [bound, declared] = writable ? [writes, 'read_write'] : [reads, 'read'];
  const typeOf = (operand: Operand, width: Width) =>
    access === 'elements' ? storedType(operand, width) : access;
  const { a, b, c } = problem;
  const directives = [...([a.type, b.type, c.type].includes('f16') ? ['enable f16;'] : []), ...enable];
  const partial = store === 'partial';
  const bindings: Binding[] = [
    uniform('params'),
    bound(buffers.a),
    bound(buffers.b),
    writes(partial ? 'partial' : 'c'),
  ];
  const extra = partial ? [] : epilogueOperands(problem);
  for (const name of extra) bindings.push(reads(name));

  const wgsl = /* wgsl */ `${directives.map(line => `${line}\n`).join('')}
${declareParams(problem)}
@group(0) @binding(1) var<storage, ${declared}> a: array<${typeOf(a, vectorA)}>;
@group(0) @binding(2) var<storage, ${declared}> b: array<${typeOf(b, vectorB)}>;
@group(0) @binding(3) var<storage, read_write> ${partial ? 'partial' : 'c'}: array<${cells(partial ? 'Sum' : c.type, vectorC)}>;
${partial ? '' : declareEpilogue(problem, 4, vectorC)}
fn indexA(batch: u32, row: u32, k: u32) -> u32 {
  return params.offsetA + batch * params.strideA + ${a.trans ? 'k * params.lda + row' : 'row * params.lda + k'};
}

fn indexB(batch: u32, k: u32, col: u32) -> u32 {
  return params.offsetB + batch * params.strideB + ${b.trans ? 'col * params.ldb + k' : 'k * params.ldb + col'};
}

${access !== 'elements' ? '' : elements(a, b, vectorA, vectorB)}
${partial ? storePartial(vectorC) : storeFinished(problem, vectorC)}
`;
  return { wgsl: wgsl.trimStart(), bindings, params: paramsOf(problem, options) };
}

/** WGSL for reading single elements of A and B, whatever they are stored as. */
const elements = (
  a: Operand,
  b: Operand,
  vectorA: Width,
  vectorB: Width,
) => /* wgsl */ `fn elementA(index: u32) -> Sum { return ${elementOf('a', a, vectorA)}; }
fn elementB(index: u32) -> Sum { return ${elementOf('b', b, vectorB)}; }

// An element of A or B, or 0 outside of it.
fn loadA(batch: u32, row: u32, k: u32) -> Sum {
  return select(Sum(), elementA(indexA(batch, row, k)), (row < params.m) & (k < params.k));
}

fn loadB(batch: u32, k: u32, col: u32) -> Sum {
  return select(Sum(), elementB(indexB(batch, k, col)), (k < params.k) & (col < params.n));
}
`;

/** WGSL: the type of the sums, and the uniform `params` at binding 0. */
export const declareParams = (problem: Problem): string => /* wgsl */ `alias Sum = ${sumType(problem)};

struct Params {
  m: u32, n: u32, k: u32, batch: u32,
  lda: u32, ldb: u32, ldc: u32, slices: u32,
  offsetA: u32, offsetB: u32, offsetC: u32, depth: u32,
  strideA: u32, strideB: u32, strideC: u32, partA: u32,
  partB: u32, alpha: Sum, beta: Sum, clipMin: f32, clipMax: f32,
}

@group(0) @binding(0) var<uniform> params: Params;`;

function storedType({ type }: Operand, width: Width): string {
  if (width === 8) return 'vec4<u32>';
  // 8-bit integers lie four to a word: WGSL has no 8-bit arrays.
  const scalar = isInteger(type) ? 'u32' : type;
  return width === 1 || isInteger(type) ? scalar : `vec4<${scalar}>`;
}

/** WGSL: element `index` of an operand's array, as a number of the type `as`. */
export function elementOf(array: string, { type }: Operand, width: Width, as = 'Sum'): string {
  if (type === 'i8') return `extractBits(i32(${array}[index / 4]), 8 * (index % 4), 8)`;
  if (type === 'u8') return `i32(extractBits(${array}[index / 4], 8 * (index % 4), 8))`;
  if (width === 8) return `${as}(unpack2x16float(${array}[index / 8][index / 2 % 4])[index % 2])`;
  return width === 4 ? `${as}(${array}[index / 4][index % 4])` : `${as}(${array}[index])`;
}

const bits = new DataView(new ArrayBuffer(4));
const floatBits = (value: number): number => {
  bits.setFloat32(0, value);
  return bits.getUint32(0);
};

function paramsOf(
  problem: Problem,
  { slices = 1, step = 1, parts = { a: 0, b: 0 } }: FrameOptions,
): Uint32Array {
  const { m, n, k, batch, a, b, c, alpha, beta, activation } = problem;
  const scalar = (value: number) => (sumType(problem) === 'i32' ? value >>> 0 : floatBits(value));
  const [clipMin, clipMax] = typeof activation === 'string' ? [0, 0] : activation.clip;
  return Uint32Array.from([
    ...[m, n, k, batch],
    ...[a.ld, b.ld, c.ld, slices],
    ...[a.offset, b.offset, c.offset, roundUp(Math.ceil(k / slices), step)],
    ...[a.stride, b.stride, c.stride, parts.a],
    ...[parts.b, scalar(alpha), scalar(beta), floatBits(clipMin), floatBits(clipMax)],
  ]);
}

/** Tiles of so many rows and columns that C consists of, in all products. */
export const tilesOf = (
  { m, n, batch }: Pick<Problem, 'm' | 'n' | 'batch'>,
  rows: number,
  cols: number,
): number => ceilDiv(m, rows) * ceilDiv(n, cols) * batch;

/** Rows and columns of the last tiles, where those have so few that a kernel makes them in another way; 0 where it does not. */
export interface FewLines {
  readonly rows: number;
  readonly cols: number;
}

export const NO_FEW: FewLines = { rows: 0, cols: 0 };

/** WGSL: tiles along a side of C, and those of them that it fills. */
const tilesAlong = (side: 'm' | 'n', tile: number) => `(params.${side} + ${tile - 1}) / ${tile}`;
const filledAlong = (side: 'm' | 'n', tile: number) => `params.${side} / ${tile}`;

/**
 * WGSL: which product and which tile of it a workgroup makes. The grid may be folded and is walked in bands of
 * 8 tile rows, so that workgroups that run together share what they read through the L2 cache. Tiles of few rows or columns come
 * last: they take what room the others leave.
 */
export const tileOf = (rows: number, cols: number, few = NO_FEW): string => {
  const last = lastTiles(rows, cols, few);
  return /* wgsl */ `
struct Tile { valid: bool, batch: u32, slice: u32, row: u32, col: u32 }

fn tileOf(group: vec3u, groups: vec3u) -> Tile {
  let tilesM = ${(few.rows > 0 ? filledAlong : tilesAlong)('m', rows)};
  let tilesN = ${(few.cols > 0 ? filledAlong : tilesAlong)('n', cols)};
  let tiles = tilesM * tilesN;
  var index = group.y * groups.x + group.x;
  let valid = index < tiles * params.batch * params.slices;
${last}  let product = index / tiles;
  index %= tiles;
  let band = index / (8 * tilesN);
  let bandRows = min(8, tilesM - band * 8);
  index -= band * 8 * tilesN;
  return Tile(
    valid, product % params.batch, product / params.batch,
    (band * 8 + index % bandRows) * ${rows}, index / bandRows * ${cols},
  );
}
`;
};

/** WGSL for what comes behind the whole tiles. */
function lastTiles(rows: number, cols: number, few: FewLines): string {
  if (few.rows === 0 && few.cols === 0) return '';
  const both = few.rows > 0 && few.cols > 0;
  const [row, col] = both
    ? [
        `select(tilesM * ${rows}, index * ${rows}, index < down)`,
        `select((index - down) * ${cols}, tilesN * ${cols}, index < down)`,
      ]
    : few.cols > 0
      ? [`index * ${rows}`, `tilesN * ${cols}`]
      : [`tilesM * ${rows}`, `index * ${cols}`];
  return `  if (!valid) {
    index -= tiles * params.batch * params.slices;${
      both
        ? `\n    // Tiles of few columns from top to bottom, then those of few rows.\n    let down = ${tilesAlong('m', rows)};`
        : ''
    }
    let few = ${both ? 'down + tilesN' : few.cols > 0 ? 'tilesM' : 'tilesN'};
    let product = index / few;
    index %= few;
    return Tile(
      product < params.batch * params.slices, product % params.batch, product / params.batch,
      ${row}, ${col},
    );
  }
`;
}
