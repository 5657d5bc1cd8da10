/**
 * Scales: for every row of op(A) and every column of op(B), the power of two that brings its largest element to
 * [2^14, 2^15), where an f16 holds it and the rest of an f32's bits fit into a second f16 far above f16's subnormal
 * numbers. 0 marks a line that holds NaN or infinity.
 *
 * Mapping: 256 threads share 4 lines that lie along memory (more where they are short), or 16 lines that lie across it, 16 threads
 * a line or, where lines can be read in fours, 64 threads four of them; either way neighbours read neighbours. Eight loads are
 * under way at once, or 32 where a thread has many of single elements: their latency is what it waits for.
 */
import type { Operand } from '../problem.ts';
import { ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { rowLength } from '../wgsl/frame.ts';
import { cells, type WidthC } from '../wgsl/store.ts';
import { unroll } from '../wgsl/unroll.ts';
import { vectorizes } from '../wgsl/vectors.ts';

export interface ScalesOptions {
  readonly name: 'a' | 'b';
  readonly operand: Operand;
  /** Rows of op(A) or columns of op(B), and elements in each. */
  readonly lines: number;
  readonly length: number;
  readonly batch: number;
  /** Where the scales start in the buffer \`scales\`. */
  readonly first: number;
}

export function scalesPass({ name, operand, lines, length, batch, first }: ScalesOptions): {
  readonly pass: Pass;
  readonly uniforms: Readonly<Record<string, Uint32Array>>;
} {
  const copies = operand.stride === 0 ? 1 : batch;
  const along = (name === 'a') !== operand.trans;
  const width = vectorizes(operand, rowLength(name, operand, lines, length), 4) ? 4 : 1;
  const linesAtOnce = along ? 256 / threadsOfLine(length / width) : 16;
  const share = (256 / linesAtOnce) * (along ? 1 : width);
  const atOnce = loadsAtOnce(ceilDiv(along ? length / width : length, share), width);
  const data = `lines${name.toUpperCase()}`;
  return {
    uniforms: {
      [data]: Uint32Array.of(lines, length, copies, operand.ld, operand.offset, operand.stride, first),
    },
    pass: {
      label: `scale ${name.toUpperCase()}`,
      wgsl: (along ? alongLines : acrossLines)({ linesAtOnce, share, width, atOnce }),
      bindings: [uniform(data), reads(name), writes('scales')],
      workgroups: foldGrid(ceilDiv(lines, linesAtOnce) * copies),
      threads: 256,
      workgroupMemory: along ? 1024 : 1024 * width,
    },
  };
}

/** WGSL: the uniforms `linesA` and `linesB`, where the lines of an operand and their scales lie. */
export const LINES = /* wgsl */ `struct Lines {
  lines: u32, length: u32, copies: u32,
  ld: u32, offset: u32, stride: u32,
  first: u32,                        // scale
}`;

/**
 * Loads of a thread that are under way at once, of so many in all. Of single elements there are four times as many to wait
 * for as of vec4s, and four fit into the registers of one.
 */
const loadsAtOnce = (loads: number, width: WidthC): number => (width === 1 && loads > 8 ? 32 : 8);

/** Threads to a line along memory, of so many loads: a power of two from 4 to 64 that leaves each of them some. */
const threadsOfLine = (loads: number): number =>
  2 ** Math.min(6, Math.max(2, Math.floor(Math.log2(Math.max(1, loads / 4)))));

interface Mapping {
  readonly linesAtOnce: number;
  /** Threads to a line, or to four. */
  readonly share: number;
  readonly width: WidthC;
  readonly atOnce: number;
}

/** Threads that share a line that lies along memory. */
const alongLines = ({ width, atOnce, ...threads }: Mapping) => /* wgsl */ `
${declarations({ ...threads, width, most: 'u32' })}

@compute @workgroup_size(256)
${MAIN} {
${piece}
  let own = thread / SHARE;
  let share = thread % SHARE;
  let line = index % pieces * LINES + own;
  let start = data.offset + copy * data.stride + min(line, data.lines - 1) * data.ld;
  var most = ${cells('u32', width)}();
  for (var i = share; i < data.length${inFours(width)}; i += ${atOnce} * SHARE) {
    ${unroll(atOnce, 4, j => `most = max(most, magnitude(start${inFours(width)} + min(i + ${j} * SHARE, data.length${inFours(width)} - 1)));`)}
  }
  let ofShare = ${width === 4 ? 'max(max(most.x, most.y), max(most.z, most.w))' : 'most'};
  let ofLine = largestOf(thread, share, ofShare);
  if (share == 0 && line < data.lines) { scales[data.first + copy * data.lines + line] = scaleFor(ofLine); }
}
`;

/** Threads that share lines that lie across memory, one or four of them. */
const acrossLines = ({ width, atOnce, ...threads }: Mapping) => /* wgsl */ `
${declarations({ ...threads, width, most: cells('u32', width) })}

@compute @workgroup_size(256)
${MAIN} {
${piece}
  let own = thread % (LINES${inFours(width)});
  let share = thread / (LINES${inFours(width)});
  let line = index % pieces * LINES + own${width === 4 ? ' * 4' : ''};
  let start = data.offset + copy * data.stride + min(line, data.lines - ${width});
  var most = ${cells('u32', width)}();
  for (var i = share; i < data.length; i += ${atOnce} * SHARE) {
    ${unroll(atOnce, 4, j => `most = max(most, magnitude((start + min(i + ${j} * SHARE, data.length - 1) * data.ld)${inFours(width)}));`)}
  }
  let ofLines = largestOf(own * SHARE + share, share, most);
  if (share == 0 && line < data.lines) {
    let at = data.first + copy * data.lines + line;
    ${width === 4 ? unroll(4, 4, j => `scales[at + ${j}] = scaleFor(ofLines[${j}]);`) : 'scales[at] = scaleFor(ofLines);'}
  }
}
`;

const inFours = (width: WidthC) => (width === 4 ? ' / 4' : '');

const MAIN = /* wgsl */ `fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
)`;

const piece = /* wgsl */ `  let index = group.y * groups.x + group.x;
  let pieces = (data.lines + LINES - 1) / LINES;
  let copy = index / pieces;
  if (copy >= data.copies) { return; }`;

function declarations({
  linesAtOnce,
  share,
  width,
  most,
}: Omit<Mapping, 'atOnce'> & { readonly most: string }): string {
  return /* wgsl */ `
const LINES = ${linesAtOnce}u;
const SHARE = ${share}u;            // threads to a line, or to four

${LINES}

@group(0) @binding(0) var<uniform> data: Lines;
@group(0) @binding(1) var<storage, read> elements: array<${cells('f32', width)}>;
@group(0) @binding(2) var<storage, read_write> scales: array<f32>;

var<workgroup> largest: array<${most}, 256>;

// Bits of magnitudes compare like the magnitudes, infinity and NaN above all numbers.
fn magnitude(index: u32) -> ${cells('u32', width)} {
  return bitcast<${cells('u32', width)}>(elements[index]) & ${cells('u32', width)}(0x7fffffffu);
}

// What the first of the threads that share something gets is the largest of theirs, which lie side by side.
fn largestOf(place: u32, share: u32, own: ${most}) -> ${most} {
  largest[place] = own;
  for (var half = SHARE / 2; half > 0; half /= 2) {
    workgroupBarrier();
    if (share < half) { largest[place] = max(largest[place], largest[place + half]); }
  }
  return largest[place];
}

fn scaleFor(most: u32) -> f32 {
  // 2^(14 - e) for a largest element of 2^e and more; not so large that its inverse were a subnormal number.
  let scale = bitcast<f32>(min(268 - (most >> 23), 253u) << 23);
  return select(select(scale, 1.0, most == 0), 0.0, most >= 0x7f800000u);
}`;
}
