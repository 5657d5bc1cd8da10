/**
 * Scales: for every row of op(A) and every column of op(B), the power of two that brings its largest element to
 * [2^14, 2^15), where an f16 holds it and the rest of an f32's bits fit into a second f16 far above f16's subnormal
 * numbers. 0 marks a line that holds NaN or infinity.
 *
 * The pass here is for lines that lie across memory; those that lie along it get theirs where they are split (split.ts).
 *
 * Mapping: 256 threads share 16 lines, 16 threads a line or, where lines can be read in fours, 64 threads four of them:
 * neighbours read neighbours. Eight loads are under way at once, or 32 where a thread has many of single elements: their
 * latency is what it waits for.
 */
import { copiesOf, type Operand } from '../problem.ts';
import { ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { rowLength } from '../wgsl/frame.ts';
import { scaleFor } from '../wgsl/matrix-split.ts';
import { cells, type WidthC } from '../wgsl/store.ts';
import { over } from '../wgsl/terms.ts';
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
}

/** Whether an operand's lines lie along memory. */
export const alongMemory = ({ name, operand }: Pick<LinesOptions, 'name' | 'operand'>): boolean =>
  (name === 'a') !== operand.trans;

/** Elements that lie side by side in memory and are read at once. */
export const widthRead = ({ name, operand, lines, length }: LinesOptions): WidthC =>
  vectorizes(operand, rowLength(name, operand, lines, length), 4) ? 4 : 1;

/** The name and the contents of the uniform `linesA` or `linesB`. */
export const linesName = ({ name }: LinesOptions): string => `lines${name.toUpperCase()}`;
export const linesData = (options: LinesOptions, steps = 0): Uint32Array => {
  const { operand, lines, length, batch, firstScale } = options;
  const { ld, offset, stride } = operand;
  return Uint32Array.of(lines, length, copiesOf(operand, batch), ld, offset, stride, firstScale, steps);
};

/** WGSL: that uniform's type, where the lines of an operand and their scales lie. */
export const LINES = /* wgsl */ `struct Lines {
  lines: u32, length: u32, copies: u32,
  ld: u32, offset: u32, stride: u32,
  first: u32,                        // scale
  steps: u32,                        // of K that its blocks reach over, where it is split
}`;

const AT_ONCE = 16;

export function scalesPass(options: LinesOptions): Pass {
  const { name, operand, lines, length, batch } = options;
  const width = widthRead(options);
  const share = (256 / AT_ONCE) * width;
  return {
    label: `scale ${name.toUpperCase()}`,
    wgsl: acrossLines(share, width, loadsAtOnce(ceilDiv(length, share), width)),
    bindings: [uniform(linesName(options)), reads(name), writes('scales')],
    workgroups: foldGrid(ceilDiv(lines, AT_ONCE) * copiesOf(operand, batch)),
    threads: 256,
    workgroupMemory: 1024 * width,
  };
}

/**
 * Loads of a thread that are under way at once, of so many in all. Of single elements there are four times as many to wait
 * for as of vec4s, and four fit into the registers of one.
 */
export const loadsAtOnce = (loads: number, width: WidthC): number => (width === 1 && loads > 8 ? 32 : 8);

/** Threads that share lines that lie across memory, one or four of them. */
const acrossLines = (share: number, width: WidthC, atOnce: number) => /* wgsl */ `
const LINES = ${AT_ONCE}u;
const SHARE = ${share}u;            // threads to a line, or to four

${LINES}

@group(0) @binding(0) var<uniform> data: Lines;
@group(0) @binding(1) var<storage, read> elements: array<${cells('f32', width)}>;
@group(0) @binding(2) var<storage, read_write> scales: array<f32>;

${largest(width, cells('u32', width))}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let index = group.y * groups.x + group.x;
  let pieces = (data.lines + LINES - 1) / LINES;
  let copy = index / pieces;
  if (copy >= data.copies) { return; }
  let own = thread % (${over('LINES', width)});
  let share = thread / (${over('LINES', width)});
  let line = index % pieces * LINES + own${width === 4 ? ' * 4' : ''};
  let start = data.offset + copy * data.stride + min(line, data.lines - ${width});
  var most = ${cells('u32', width)}();
  for (var i = share; i < data.length; i += ${atOnce} * SHARE) {
    ${unroll(atOnce, 4, j => `most = max(most, magnitude(${over(`(start + min(i + ${j} * SHARE, data.length - 1) * data.ld)`, width)}));`)}
  }
  let ofLines = largestOf(own * SHARE + share, share, most);
  if (share == 0 && line < data.lines) {
    let at = data.first + copy * data.lines + line;
    ${width === 4 ? unroll(4, 4, j => `scales[at + ${j}] = scaleFor(ofLines[${j}]);`) : 'scales[at] = scaleFor(ofLines);'}
  }
}
`;

/** WGSL: `magnitude` of `elements`, `largestOf` what 256 threads have found of a type, and `scaleFor` it. */
export const largest = (
  width: WidthC,
  found: string,
): string => /* wgsl */ `var<workgroup> largest: array<${found}, 256>;

// Bits of magnitudes compare like the magnitudes, infinity and NaN above all numbers.
fn magnitude(index: u32) -> ${cells('u32', width)} {
  return bitcast<${cells('u32', width)}>(elements[index]) & ${cells('u32', width)}(0x7fffffffu);
}

// What the first of the threads that share something gets is the largest of theirs, which lie side by side.
fn largestOf(place: u32, share: u32, own: ${found}) -> ${found} {
  largest[place] = own;
  for (var half = SHARE / 2; half > 0; half /= 2) {
    workgroupBarrier();
    if (share < half) { largest[place] = max(largest[place], largest[place + half]); }
  }
  return largest[place];
}

${scaleFor(14)}`;
