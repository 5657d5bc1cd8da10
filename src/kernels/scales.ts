/**
 * Scales: for every row of op(A) and every column of op(B), the power of two that brings its largest element to
 * [2^14, 2^15), where an f16 holds it and the rest of an f32's bits fit into a second f16 far above f16's subnormal
 * numbers. 0 marks a line that holds NaN or infinity.
 *
 * Mapping: 256 threads share 4 lines that lie along memory, 64 threads a line, or 16 lines that lie across it, 16 threads
 * a line; either way neighbours read neighbours. Eight loads are under way at once: their latency is what it waits for.
 */
import type { Operand } from '../problem.ts';
import { ceilDiv, foldGrid, type Pass, reads, uniform, writes } from '../program.ts';
import { unroll } from '../wgsl/unroll.ts';

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
  const linesAtOnce = along ? 4 : 16;
  const data = `lines${name.toUpperCase()}`;
  return {
    uniforms: {
      [data]: Uint32Array.of(lines, length, copies, operand.ld, operand.offset, operand.stride, first),
    },
    pass: {
      label: `scale ${name.toUpperCase()}`,
      wgsl: wgsl(along, linesAtOnce),
      bindings: [uniform(data), reads(name), writes('scales')],
      workgroups: foldGrid(ceilDiv(lines, linesAtOnce) * copies),
      threads: 256,
      workgroupMemory: 1024,
    },
  };
}

/** WGSL: the uniforms `linesA` and `linesB`, where the lines of an operand and their scales lie. */
export const LINES = /* wgsl */ `struct Lines {
  lines: u32, length: u32, copies: u32,
  ld: u32, offset: u32, stride: u32,
  first: u32,                        // scale
}`;

/** Loads that are under way at once. */
const AT_ONCE = 8;

const wgsl = (along: boolean, linesAtOnce: number) => /* wgsl */ `
const LINES = ${linesAtOnce}u;
const SHARE = 256 / LINES;            // threads to a line

${LINES}

@group(0) @binding(0) var<uniform> data: Lines;
@group(0) @binding(1) var<storage, read> elements: array<f32>;
@group(0) @binding(2) var<storage, read_write> scales: array<f32>;

var<workgroup> largest: array<u32, 256>;

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
  ${along ? 'let own = thread / SHARE;\n  let share = thread % SHARE;' : 'let own = thread % LINES;\n  let share = thread / LINES;'}
  let line = index % pieces * LINES + own;
  let start = data.offset + copy * data.stride + min(line, data.lines - 1) * ${along ? 'data.ld' : '1'};
  // Bits of magnitudes compare like the magnitudes, infinity and NaN above all numbers.
  var most = 0u;
  for (var i = share; i < data.length; i += ${AT_ONCE} * SHARE) {
    ${unroll(AT_ONCE, 4, j => `most = max(most, magnitude(start + min(i + ${j} * SHARE, data.length - 1)${along ? '' : ' * data.ld'}));`)}
  }
  largest[own * SHARE + share] = most;
  workgroupBarrier();
  if (share == 0 && line < data.lines) {
    for (var i = 1u; i < SHARE; i++) { most = max(most, largest[own * SHARE + i]); }
    scales[data.first + copy * data.lines + line] = scaleFor(most);
  }
}

fn magnitude(index: u32) -> u32 { return bitcast<u32>(elements[index]) & 0x7fffffffu; }

fn scaleFor(most: u32) -> f32 {
  // 2^(14 - e) for a largest element of 2^e and more; not so large that its inverse were a subnormal number.
  let scale = bitcast<f32>(min(268 - (most >> 23), 253u) << 23);
  return select(select(scale, 1.0, most == 0), 0.0, most >= 0x7f800000u);
}
`;
