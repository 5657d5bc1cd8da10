/**
 * Split: an operand of f32 as two f16 parts, a high one of 11 bits and a low one, in the blocks that the matrix kernels fetch
 * (pack.ts, blocks of `lines`), each line scaled by a power of two (scales.ts).
 *
 * Mapping: some lines along memory are read twice by one workgroup, to find their scales and to split them, the second time
 * backwards: what was read last is still in a cache. A thread splits a word of eight elements at a time; neighbouring threads have
 * neighbouring lines. Lines across memory are split by a pass of their own, after that which finds their scales: a word is eight
 * loads there.
 */
import { BYTES, copiesOf, type Operand } from '../problem.ts';
import { ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { CACHE } from '../wgsl/matrix-layout.ts';
import { HALVES } from '../wgsl/matrix-split.ts';
import { cells } from '../wgsl/store.ts';
import { over } from '../wgsl/terms.ts';
import { unroll } from '../wgsl/unroll.ts';
import {
  alongMemory,
  LINES,
  type LinesOptions,
  largest,
  linesData,
  linesName,
  loadsAtOnce,
  scalesPass,
  widthRead,
} from './scales.ts';

export interface SplitOptions extends LinesOptions {
  /** Lines of a tile, and K of a step: multiples of 8. */
  readonly block: readonly [lines: number, k: number];
  /** Steps of K that the blocks reach over, at least those that K takes. */
  readonly steps: number;
}

export interface Split {
  readonly passes: readonly Pass[];
  /** Where the blocks of the high part lie, for frame(): offset 0, a stride from product to product. */
  readonly operand: Operand;
  /** Elements from the high part to the low one. */
  readonly part: number;
  readonly uniforms: Readonly<Record<string, Uint32Array>>;
  readonly scratch: Readonly<Record<string, number>>;
}

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
/** It has fewer where there would be fewer workgroups than this. */
const GROUPS = 128;

export function split(options: SplitOptions): Split {
  const { name, operand, batch, block, steps } = options;
  const packed = `packed${name.toUpperCase()}`;
  const copies = copiesOf(operand, batch);
  const stride = padded(options) * steps * block[1];
  return {
    passes: alongMemory(options)
      ? [alongPass(options, packed)]
      : [scalesPass(options), acrossPass(options, packed)],
    operand: {
      ...{ type: 'f16', trans: false, ld: steps * block[1], offset: 0 },
      stride: copies === 1 ? 0 : stride,
      extent: 2 * copies * stride,
    },
    part: copies * stride,
    uniforms: { [linesName(options)]: linesData(options, steps) },
    scratch: { [packed]: 2 * copies * stride * BYTES.f16 },
  };
}

/** Passes that it takes. */
export const splitPasses = (lines: Pick<LinesOptions, 'name' | 'operand'>): number =>
  alongMemory(lines) ? 1 : 2;

const padded = ({ lines, block }: SplitOptions): number => ceilDiv(lines, block[0]) * block[0];
/** Words of a line, in all steps. */
const wordsOf = ({ block, steps }: SplitOptions): number => (steps * block[1]) / WORD;
const label = ({ name }: SplitOptions): string => `split ${name.toUpperCase()}`;

/** Lines along memory of a workgroup: a divisor of a block's. */
function linesAtOnce(options: SplitOptions): number {
  const { operand, lines, length, batch, block } = options;
  const copies = copiesOf(operand, batch);
  const bytes = BYTES.f32 * lines * length * copies;
  const power = (most: number) => 2 ** Math.floor(Math.log2(Math.max(1, most)));
  const wanted = Math.max(LINES_ALONG[bytes > CACHE ? 'large' : 'small'], power(THREADS / wordsOf(options)));
  return Math.min(wanted, power((padded(options) * copies) / GROUPS), block[0] & -block[0], MOST_LINES);
}

function alongPass(options: SplitOptions, packed: string): Pass {
  const atOnce = linesAtOnce(options);
  return {
    label: label(options),
    wgsl: alongLines(options, atOnce),
    bindings: [uniform(linesName(options)), reads(options.name), writes('scales'), writes(packed)],
    workgroups: foldGrid((padded(options) / atOnce) * copiesOf(options.operand, options.batch)),
    threads: THREADS,
    workgroupMemory: 1024 + 4 * atOnce,
  };
}

/** Lines across memory, and words of each, that a workgroup splits. */
const ACROSS = { lines: 32, words: 8 } as const;

function acrossPass(options: SplitOptions, packed: string): Pass {
  return {
    label: label(options),
    wgsl: acrossLines(options),
    bindings: [uniform(linesName(options)), reads(options.name), reads('scales'), writes(packed)],
    workgroups: foldGrid(
      ceilDiv(padded(options), ACROSS.lines) *
        ceilDiv(wordsOf(options), ACROSS.words) *
        copiesOf(options.operand, options.batch),
    ),
    threads: THREADS,
    workgroupMemory: 0,
  };
}

const declarations = (
  { block: [lines, k] }: SplitOptions,
  width: 1 | 4,
  access: 'read' | 'read_write',
) => /* wgsl */ `
const BLOCK_LINES = ${lines}u;
const BLOCK_WORDS = ${k / WORD}u;      // of a line, of eight elements

${LINES}

@group(0) @binding(0) var<uniform> data: Lines;
@group(0) @binding(1) var<storage, read> elements: array<${cells('f32', width)}>;
@group(0) @binding(2) var<storage, ${access}> scales: array<f32>;
@group(0) @binding(3) var<storage, read_write> parts: array<vec4<u32>>;

// Word \`word\` of a line into both parts, in its tile's block of its step; the low part's blocks follow the high part's.
fn put(copy: u32, line: u32, word: u32, tiles: u32, first: Halves, second: Halves) {
  let block = (copy * tiles + line / BLOCK_LINES) * data.steps + word / BLOCK_WORDS;
  let own = line % BLOCK_LINES;
  let to = (block * BLOCK_LINES + own / 8 * 8) * BLOCK_WORDS + word % BLOCK_WORDS * 8 + own % 8;
  parts[to] = vec4(first.high, second.high);
  parts[data.copies * tiles * data.steps * BLOCK_LINES * BLOCK_WORDS + to] = vec4(first.low, second.low);
}

${HALVES}`;

/** Elements past the end of a line, and lines past the last one, are 0. */
const alongLines = (options: SplitOptions, lines: number) => {
  const width = widthRead(options);
  const share = THREADS / lines;
  // Lines whose words lie side by side in a block.
  const side = Math.min(8, lines);
  const atOnce = loadsAtOnce(ceilDiv(options.length / width, share), width);
  const vectors = over('data.length', width);
  const four =
    width === 4
      ? 'return select(vec4f(), elements[(start + at) / 4], inside && at < data.length);'
      : `let x = vec4f(elements[start + at], elements[start + at + 1], elements[start + at + 2], elements[start + at + 3]);
  return select(vec4f(), x, vec4(inside) & (at + vec4(0u, 1u, 2u, 3u) < vec4(data.length)));`;
  return /* wgsl */ `const LINES = ${lines}u;              // of a workgroup
const SHARE = ${share}u;            // threads that look for a line's largest element
${declarations(options, width, 'read_write')}
${largest(width, 'u32')}

var<workgroup> scaleOf: array<f32, LINES>;

fn four(start: u32, at: u32, inside: bool) -> vec4f {
  ${four}
}

@compute @workgroup_size(${THREADS})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let index = group.y * groups.x + group.x;
  let tiles = (data.lines + BLOCK_LINES - 1) / BLOCK_LINES;
  let copy = index / (tiles * (BLOCK_LINES / LINES));
  if (copy >= data.copies) { return; }
  let firstLine = index % (tiles * (BLOCK_LINES / LINES)) * LINES;
  let origin = data.offset + copy * data.stride;

  let sharedLine = firstLine + thread / SHARE;
  let share = thread % SHARE;
  let start = origin + min(sharedLine, data.lines - 1) * data.ld;
  var most = ${cells('u32', width)}();
  for (var i = share; i < ${vectors}; i += ${atOnce} * SHARE) {
    ${unroll(atOnce, 4, j => `most = max(most, magnitude(${over('start', width)} + min(i + ${j} * SHARE, ${vectors} - 1)));`)}
  }
  let ofLine = largestOf(thread, share, ${width === 4 ? 'max(max(most.x, most.y), max(most.z, most.w))' : 'most'});
  if (share == 0) {
    let scale = scaleFor(ofLine);
    scaleOf[thread / SHARE] = scale;
    if (sharedLine < data.lines) { scales[data.first + copy * data.lines + sharedLine] = scale; }
  }
  workgroupBarrier();

  let words = data.steps * BLOCK_WORDS;
  let all = LINES * words;
  for (var i = thread; i < all; i += ${THREADS}) {
    let w = all - 1 - i;
    let own = w / ${side} / words * ${side} + w % ${side};
    let word = w / ${side} % words;
    let line = firstLine + own;
    let begin = origin + line * data.ld;
    let first = halves(four(begin, word * 8, line < data.lines) * scaleOf[own]);
    let second = halves(four(begin, word * 8 + 4, line < data.lines) * scaleOf[own]);
    put(copy, line, word, tiles, first, second);
  }
}
`;
};

const acrossLines = (
  options: SplitOptions,
) => /* wgsl */ `const LINES = ${ACROSS.lines}u;             // of a workgroup
const WORDS = ${ACROSS.words}u;
${declarations(options, 1, 'read')}
@compute @workgroup_size(${THREADS})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tiles = (data.lines + BLOCK_LINES - 1) / BLOCK_LINES;
  let words = data.steps * BLOCK_WORDS;
  let across = (tiles * BLOCK_LINES + LINES - 1) / LINES;
  let down = (words + WORDS - 1) / WORDS;
  let pieces = across * down * data.copies;
  // The scales were just found, from the first line to the last: of a large operand, the last lines are still in a cache.
  let done = group.y * groups.x + group.x;
  if (done >= pieces) { return; }
  let index = pieces - 1 - done;
  let copy = index / (across * down);
  let line = index % across * LINES + thread % LINES;
  let word = index / across % down * WORDS + thread / LINES;
  if (line >= tiles * BLOCK_LINES || word >= words) { return; }

  let begin = data.offset + copy * data.stride + line;
  let at = word * 8;
  ${unroll(8, 2, j => `let x${j} = elements[begin + ${j === 0 ? 'at' : `(at + ${j})`} * data.ld];`)}
  let inside = vec4(line < data.lines);
  let first = select(vec4f(), vec4f(x0, x1, x2, x3), inside & (at + vec4(0u, 1u, 2u, 3u) < vec4(data.length)));
  let second = select(vec4f(), vec4f(x4, x5, x6, x7), inside & (at + vec4(4u, 5u, 6u, 7u) < vec4(data.length)));
  let scale = scales[data.first + copy * data.lines + min(line, data.lines - 1)];
  put(copy, line, word, tiles, halves(first * scale), halves(second * scale));
}
`;
