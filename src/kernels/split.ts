/**
 * Split: an operand of f32 as two f16 parts, a high one of 11 bits and a low one, in the blocks that the matrix kernels fetch
 * (pack.ts, blocks of `lines`). Every row of op(A) and every column of op(B) is scaled by the power of two that brings its largest
 * element to [2^14, 2^15), where an f16 holds it and the rest of an f32's bits fit into a second f16 far above f16's subnormal
 * numbers. A scale of 0 marks a line that holds NaN or infinity. Of an operand that is split elsewhere, only scales are looked for.
 *
 * One dispatch prepares both operands: neither needs the other. Long lines across memory are split in a second one: they are too
 * few for as many loads to be under way at once as a GPU can take, and in pieces they are many (docs/performance.md, log entry 44).
 *
 * Mapping: some lines are read twice by one workgroup, to find their scales and to split them, the second time backwards: what was
 * read last is still in a cache. Along memory, threads share a line, and each splits a word of eight elements at a time. Across
 * memory, neighbouring threads read neighbouring lines, in fours where they can be; a word is eight loads there. Eight loads or
 * more are under way at once: their latency is what a workgroup waits for.
 */
import { BYTES, copiesOf, type Operand } from '../problem.ts';
import { ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { rowLength } from '../wgsl/frame.ts';
import { HALVES } from '../wgsl/halves.ts';
import { CACHE } from '../wgsl/matrix-layout.ts';
import { prepareMain } from '../wgsl/prepare-main.ts';
import { cells, type WidthC } from '../wgsl/store.ts';
import { over, plus } from '../wgsl/terms.ts';
import { unroll } from '../wgsl/unroll.ts';
import { vectorizes } from '../wgsl/vectors.ts';

/** Lines whose scales are looked for: rows of op(A) or columns of op(B), of an f32 operand. */
export interface LinesOptions {
  /** The operand, whose buffer is `a` or `b`. */
  readonly name: 'a' | 'b';
  readonly operand: Operand;
  /** Lines, and elements in each. */
  readonly lines: number;
  readonly length: number;
  readonly batch: number;
  /** Where the scales start in the buffer `scales`. */
  readonly firstScale: number;
  /** Where it is split: lines of a tile and K of a step, multiples of 8, and the steps of K that the blocks reach over. */
  readonly blocks?: { readonly lines: number; readonly k: number; readonly steps: number } | undefined;
}

export interface Split {
  readonly passes: readonly Pass[];
  readonly a?: Parts;
  readonly b?: Parts;
  readonly uniforms: Readonly<Record<string, Uint32Array>>;
  readonly scratch: Readonly<Record<string, number>>;
}

/** A split operand. */
export interface Parts {
  /** Where the blocks of the high part lie, for frame(): offset 0, a stride from product to product. */
  readonly operand: Operand;
  /** Elements from the high part to the low one. */
  readonly part: number;
}

/** WGSL: where the lines of an operand and their scales lie; uniforms `linesA` and `linesB`. */
export const LINES = /* wgsl */ `struct Lines {
  lines: u32, length: u32, copies: u32,
  ld: u32, offset: u32, stride: u32,
  first: u32,                        // scale
  steps: u32,                        // of K that its blocks reach over, where it is split
  groups: u32,                       // workgroups that split it
}`;

/** Elements in a word of 16 bytes. */
const WORD = 8;
/** Threads of a workgroup. */
const THREADS = 256;
/**
 * Lines along memory of a workgroup. Eight write 128 bytes side by side, and two whole sectors of 32: of an operand that no cache
 * holds, two, so that all that workgroups have read once is still there when they read it again.
 */
const LINES_ALONG = { small: 8, large: 2 } as const;
/** Where lines are so short that threads would have nothing to do, it has more of them. */
const MOST_LINES = 64;
/** Lines across memory of a workgroup: 64 bytes, or a sector where there would be few workgroups. */
const LINES_ACROSS = { few: 8, many: 16 } as const;
/** Elements of a line across memory from which on it is split in pieces, and what a workgroup then splits: lines, and words of each. */
const LONG = 1281;
const PIECE = { lines: 32, words: 8 } as const;
/** A workgroup has fewer lines where there would be fewer workgroups than this. */
const GROUPS = 128;

/** Whether an operand's lines lie along memory. */
const isAlongMemory = ({ name, operand }: LinesOptions): boolean => (name === 'a') !== operand.trans;

const isInPieces = (options: LinesOptions): boolean =>
  options.blocks !== undefined && !isAlongMemory(options) && options.length >= LONG;

/** Passes that `split` takes. */
export const splitPasses = (options: readonly LinesOptions[]): number =>
  1 + options.filter(isInPieces).length;

/** Scales, and parts where they are asked for, of one operand or of both. */
export function split(options: readonly LinesOptions[]): Split {
  const sides = options.map(sideOf);
  return {
    passes: [
      passOf(sides),
      ...sides.flatMap(side => (side.inPieces ? [piecesPass(side, side.inPieces)] : [])),
    ],
    ...Object.fromEntries(sides.flatMap(({ name, parts }) => (parts ? [[name, parts]] : []))),
    uniforms: Object.fromEntries(sides.map(({ letter, data }) => [`lines${letter}`, data])),
    scratch: Object.fromEntries(
      sides.flatMap(({ letter, parts }) =>
        parts ? [[`packed${letter}`, parts.operand.extent * BYTES.f16]] : [],
      ),
    ),
  };
}

interface Side extends LinesOptions {
  readonly letter: 'A' | 'B';
  readonly alongMemory: boolean;
  /** Elements that lie side by side in memory and are read at once. */
  readonly width: WidthC;
  /** Lines of a workgroup. */
  readonly atOnce: number;
  readonly parts: Parts | null;
  /** Where it is split in pieces: lines with those that fill up the last tile, and words of each. */
  readonly inPieces: { readonly lines: number; readonly words: number } | null;
  /** Contents of its uniform. */
  readonly data: Uint32Array;
  /** Workgroups that find its scales and, if it is not split in pieces, split it. */
  readonly groups: number;
}

/** What is split by the pass that finds its scales. */
const isSplitHere = ({ parts, inPieces }: Side): boolean => parts !== null && inPieces === null;

function sideOf(options: LinesOptions): Side {
  const { name, operand, lines, length, batch, firstScale, blocks } = options;
  const copies = copiesOf(operand, batch);
  const alongMemory = isAlongMemory(options);
  const padded = blocks ? ceilDiv(lines, blocks.lines) * blocks.lines : lines;
  const inPieces =
    blocks && isInPieces(options) ? { lines: padded, words: (blocks.steps * blocks.k) / WORD } : null;
  const atOnce = alongMemory ? linesAlong(options, padded * copies) : linesAcross(padded * copies);
  const groups = ceilDiv(padded, atOnce) * copies;
  const { ld, offset, stride } = operand;
  return {
    ...options,
    ...{ letter: name === 'a' ? 'A' : 'B', alongMemory, atOnce, inPieces, groups },
    width: vectorizes(operand, rowLength(name, operand, lines, length), 4) ? 4 : 1,
    parts: blocks ? partsOf(copies, padded, blocks.steps * blocks.k) : null,
    data: Uint32Array.of(
      ...[lines, length, copies, ld, offset, stride, firstScale],
      ...[blocks?.steps ?? 0, groups],
    ),
  };
}

function partsOf(copies: number, lines: number, length: number): Parts {
  const part = copies * lines * length;
  return {
    operand: {
      ...{ type: 'f16', trans: false, ld: length, offset: 0 },
      stride: copies === 1 ? 0 : lines * length,
      extent: 2 * part,
    },
    part,
  };
}

const powerOf2 = (most: number) => 2 ** Math.floor(Math.log2(Math.max(1, most)));

/** Lines along memory of a workgroup: a divisor of a block's. */
function linesAlong({ length, blocks }: LinesOptions, lines: number): number {
  const bytes = BYTES.f32 * lines * length;
  const words = ceilDiv(length, WORD);
  const wanted = Math.max(LINES_ALONG[bytes > CACHE ? 'large' : 'small'], powerOf2(THREADS / words));
  const ofBlock = blocks ? blocks.lines & -blocks.lines : MOST_LINES;
  return Math.min(wanted, powerOf2(lines / GROUPS), ofBlock, MOST_LINES);
}

const linesAcross = (lines: number): number =>
  LINES_ACROSS[lines < GROUPS * LINES_ACROSS.many ? 'few' : 'many'];

function passOf(sides: readonly Side[]): Pass {
  const atOnce = Math.max(...sides.map(({ atOnce }) => atOnce));
  return {
    label: labelOf(sides),
    wgsl: wgsl(sides, atOnce),
    bindings: [
      writes('scales'),
      ...sides.flatMap(side => [
        uniform(`lines${side.letter}`),
        reads(side.name),
        ...(isSplitHere(side) ? [writes(`packed${side.letter}`)] : []),
      ]),
    ],
    workgroups: foldGrid(sides.reduce((sum, { groups }) => sum + groups, 0)),
    threads: THREADS,
    workgroupMemory: 4 * atOnce,
  };
}

/** `split A and B`, or `split A, scale B`. */
const labelOf = (sides: readonly Side[]): string =>
  sides.every(isSplitHere)
    ? `split ${sides.map(({ letter }) => letter).join(' and ')}`
    : sides.map(side => `${isSplitHere(side) ? 'split' : 'scale'} ${side.letter}`).join(', ');

/** Lines across memory whose scales are known, in pieces. */
function piecesPass(side: Side, { lines, words }: { readonly lines: number; readonly words: number }): Pass {
  const { name, letter, operand, batch } = side;
  return {
    label: `split ${letter}`,
    wgsl: piecesWgsl(side),
    bindings: [reads('scales'), uniform(`lines${letter}`), reads(name), writes(`packed${letter}`)],
    workgroups: foldGrid(
      ceilDiv(lines, PIECE.lines) * ceilDiv(words, PIECE.words) * copiesOf(operand, batch),
    ),
    threads: THREADS,
    workgroupMemory: 0,
  };
}

const wgsl = (sides: readonly Side[], atOnce: number) => {
  let binding = 1;
  const bindings = sides.map(side => {
    const own = binding;
    binding += isSplitHere(side) ? 3 : 2;
    return own;
  });
  return /* wgsl */ `${LINES}

@group(0) @binding(0) var<storage, read_write> scales: array<f32>;

${sides.some(isSplitHere) ? HALVES : ''}
// Of each of the workgroup's lines. Bits of magnitudes compare like the magnitudes, infinity and NaN above all numbers.
var<workgroup> largest: array<atomic<u32>, ${atOnce}>;

// The power of two that brings a largest element of 2^e and more to [2^14, 2^15); 0 for infinity and NaN.
fn scaleFor(line: u32) -> f32 {
  let most = atomicLoad(&largest[line]);
  // 2^(14 - e); not so large that its inverse were a subnormal number.
  let scale = bitcast<f32>(min(268 - (most >> 23), 253u) << 23);
  return select(select(scale, 1.0, most == 0), 0.0, most >= 0x7f800000u);
}

// The first of a workgroup's lines, and the product that they are of.
struct First { copy: u32, line: u32 }

${sides.map((side, i) => wgslOf(side, bindings[i])).join('\n')}
${prepareMain({ letters: sides.map(({ letter }) => letter), uniform: 'lines', steps: ['look', 'finish'], threads: THREADS })}`;
};

/** One operand's declarations, and its `look`, which finds the largest elements, and its `finish`. */
const wgslOf = (side: Side, binding: number) => {
  const { letter, width, atOnce, blocks } = side;
  const lines = `lines${letter}`;
  const bits = cells('u32', width);
  return /* wgsl */ `${declareSide(side, binding)}
const AT_ONCE_${letter} = ${atOnce}u;             // lines of a workgroup

fn magnitude${letter}(index: u32) -> ${bits} { return bitcast<${bits}>(elements${letter}[index]) & ${bits}(0x7fffffffu); }

fn first${letter}(index: u32) -> First {
  let all = ${blocks ? `(${lines}.lines + ${blocks.lines - 1}) / ${blocks.lines} * ${blocks.lines}` : `${lines}.lines`};
  let pieces = (all + AT_ONCE_${letter} - 1) / AT_ONCE_${letter};
  return First(index / pieces, index % pieces * AT_ONCE_${letter});
}

fn look${letter}(index: u32, thread: u32) {
  let first = first${letter}(index);
${side.alongMemory ? lookAlong(side) : lookAcross(side)}
}

fn finish${letter}(index: u32, thread: u32) {
  let first = first${letter}(index);
  if (thread < AT_ONCE_${letter} && first.line + thread < ${lines}.lines) {
    scales[${lines}.first + first.copy * ${lines}.lines + first.line + thread] = scaleFor(thread);
  }
${isSplitHere(side) ? splitLines(side) : ''}}
`;
};

/** One operand's buffers and, where it is split by this pass, `splitWord`. */
const declareSide = (side: Side, binding: number, splits = isSplitHere(side)) => {
  const { letter, width, blocks } = side;
  return /* wgsl */ `@group(0) @binding(${binding}) var<uniform> lines${letter}: Lines;
@group(0) @binding(${binding + 1}) var<storage, read> elements${letter}: array<${cells('f32', width)}>;
${
  blocks && splits
    ? `@group(0) @binding(${binding + 2}) var<storage, read_write> parts${letter}: array<vec4<u32>>;

const BLOCK_LINES_${letter} = ${blocks.lines}u;
const BLOCK_WORDS_${letter} = ${blocks.k / WORD}u;      // of a line, of eight elements

${splitWord(side)}`
    : ''
}`;
};

/**
 * Loads of a thread that are under way at once, of so many in all. Of single elements there are four times as many to wait
 * for as of vec4s, and four fit into the registers of one.
 */
const loadsAtOnce = (loads: number, width: WidthC): number => (width === 1 && loads > 8 ? 32 : 8);

const lookAlong = ({ letter, width, atOnce, length }: Side) => {
  const lines = `lines${letter}`;
  const share = THREADS / atOnce;
  const loads = loadsAtOnce(ceilDiv(length / width, share), width);
  const vectors = over(`${lines}.length`, width);
  return /* wgsl */ `  // ${share} threads share a line.
  let line = min(first.line + thread / ${share}, ${lines}.lines - 1);
  let start = ${lines}.offset + first.copy * ${lines}.stride + line * ${lines}.ld;
  var most = ${cells('u32', width)}();
  for (var i = thread % ${share}; i < ${vectors}; i += ${loads * share}) {
    ${unroll(loads, 4, j => `most = max(most, magnitude${letter}(${over('start', width)} + min(i + ${j * share}, ${vectors} - 1)));`)}
  }
  atomicMax(&largest[thread / ${share}], ${width === 4 ? 'max(max(most.x, most.y), max(most.z, most.w))' : 'most'});`;
};

const lookAcross = ({ letter, width, atOnce, length }: Side) => {
  const lines = `lines${letter}`;
  const across = atOnce / width;
  const share = THREADS / across;
  const loads = loadsAtOnce(ceilDiv(length, share), width);
  return /* wgsl */ `  // ${share} threads share ${width === 4 ? 'four lines' : 'a line'}.
  let own = ${width === 4 ? `thread % ${across} * 4` : `thread % ${across}`};
  let start = ${lines}.offset + first.copy * ${lines}.stride + min(first.line + own, ${lines}.lines - ${width});
  var most = ${cells('u32', width)}();
  for (var i = thread / ${across}; i < ${lines}.length; i += ${loads * share}) {
    ${unroll(loads, 4, j => `most = max(most, magnitude${letter}(${over(`(start + min(i + ${j * share}, ${lines}.length - 1) * ${lines}.ld)`, width)}));`)}
  }
  ${width === 4 ? unroll(4, 2, j => `atomicMax(&largest[own + ${j}], most[${j}]);`) : 'atomicMax(&largest[own], most);'}`;
};

/** A workgroup's lines, once their largest elements are known. */
const splitLines = ({ letter, alongMemory, atOnce }: Side) => {
  // Lines that neighbouring threads have: along memory, those whose words lie side by side in a block.
  const side = alongMemory ? Math.min(8, atOnce) : atOnce;
  return /* wgsl */ `  let words = lines${letter}.steps * BLOCK_WORDS_${letter};
  let all = AT_ONCE_${letter} * words;
  for (var i = thread; i < all; i += ${THREADS}) {
    let w = all - 1 - i;
    let own = w / ${side} / words * ${side} + w % ${side};
    splitWord${letter}(first.copy, first.line + own, w / ${side} % words, scaleFor(own));
  }
`;
};

/** A word of eight elements into both parts. Elements past the end of a line, and lines past the last one, are 0. */
const splitWord = ({ letter, alongMemory, width }: Side) => {
  const lines = `lines${letter}`;
  const element = (j: number) => {
    if (alongMemory) return `elements${letter}[${plus(j, 'begin + at')}]`;
    const index = `begin + ${j ? `(at + ${j})` : 'at'} * ${lines}.ld`;
    return width === 4 ? `elements${letter}[(${index}) / 4][line % 4]` : `elements${letter}[${index}]`;
  };
  const four = (from: number) =>
    alongMemory && width === 4
      ? `elements${letter}[${plus(from / 4, '(begin + at) / 4')}]`
      : `vec4f(${[0, 1, 2, 3].map(j => element(from + j)).join(', ')})`;
  const inside = (from: number) =>
    `vec4(line < ${lines}.lines) & (at + vec4(${[0, 1, 2, 3].map(j => `${from + j}u`).join(', ')}) < vec4(${lines}.length))`;
  return /* wgsl */ `// Into its tile's block of its step; the low part's blocks follow the high part's.
fn splitWord${letter}(copy: u32, line: u32, word: u32, scale: f32) {
  let tiles = (${lines}.lines + BLOCK_LINES_${letter} - 1) / BLOCK_LINES_${letter};
  if (line >= tiles * BLOCK_LINES_${letter}) { return; }
  let begin = ${lines}.offset + copy * ${lines}.stride + ${alongMemory ? `line * ${lines}.ld` : 'line'};
  let at = word * ${WORD};
  let first = halves(select(vec4f(), ${four(0)}, ${inside(0)}) * scale);
  let second = halves(select(vec4f(), ${four(4)}, ${inside(4)}) * scale);

  let block = (copy * tiles + line / BLOCK_LINES_${letter}) * ${lines}.steps + word / BLOCK_WORDS_${letter};
  let own = line % BLOCK_LINES_${letter};
  let to = (block * BLOCK_LINES_${letter} + own / 8 * 8) * BLOCK_WORDS_${letter} + word % BLOCK_WORDS_${letter} * 8 + own % 8;
  parts${letter}[to] = vec4(first.high, second.high);
  parts${letter}[${lines}.copies * tiles * ${lines}.steps * BLOCK_LINES_${letter} * BLOCK_WORDS_${letter} + to] = vec4(first.low, second.low);
}
`;
};

const piecesWgsl = (side: Side) => {
  const { letter } = side;
  const lines = `lines${letter}`;
  return /* wgsl */ `const LINES = ${PIECE.lines}u;             // of a workgroup
const WORDS = ${PIECE.words}u;

${LINES}

@group(0) @binding(0) var<storage, read> scales: array<f32>;

${HALVES}
${declareSide(side, 1, true)}
@compute @workgroup_size(${THREADS})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let all = (${lines}.lines + BLOCK_LINES_${letter} - 1) / BLOCK_LINES_${letter} * BLOCK_LINES_${letter};
  let words = ${lines}.steps * BLOCK_WORDS_${letter};
  let across = (all + LINES - 1) / LINES;
  let down = (words + WORDS - 1) / WORDS;
  let pieces = across * down * ${lines}.copies;
  // The scales were just found, from the first line to the last: of a large operand, the last lines are still in a cache.
  let done = group.y * groups.x + group.x;
  if (done >= pieces) { return; }
  let index = pieces - 1 - done;
  let copy = index / (across * down);
  let line = index % across * LINES + thread % LINES;
  let word = index / across % down * WORDS + thread / LINES;
  if (word >= words) { return; }
  splitWord${letter}(copy, line, word, scales[${lines}.first + copy * ${lines}.lines + min(line, ${lines}.lines - 1)]);
}
`;
};
