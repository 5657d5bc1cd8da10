/**
 * How split-f32 takes the scales of rows and columns (split.ts) off its sums, and computes cells of marked lines anew, as plain sums of
 * f32. A reduction of slices reads the scales for each cell. The kernel itself reads those of its tile once, at its start, into
 * workgroup memory: at its end, a multiprocessor has nothing else to do while it waits for them (docs/performance.md, log entry 43).
 */
import type { Problem } from '../problem.ts';
import { type Binding, reads, uniform } from '../program.ts';
import { HALVES } from '../wgsl/halves.ts';
import { type MatrixTile, threads } from '../wgsl/matrix-layout.ts';
import { cells, type WidthC } from '../wgsl/store.ts';
import { plus } from '../wgsl/terms.ts';
import type { Finish } from './reduce.ts';
import { LINES } from './split.ts';

/** WGSL: one copy of an operand serves the whole batch, or each product has its own. */
const SCALE_OF = /* wgsl */ `fn scaleOf(lines: Lines, batch: u32, line: u32) -> f32 {
  return scales[lines.first + min(batch, lines.copies - 1) * lines.lines + line];
}
`;

const BINDINGS: readonly Binding[] = [
  ...[uniform('linesA'), uniform('linesB'), reads('scales')],
  ...[reads('a'), reads('b')],
];

/** WGSL. Sizes are read and not written out, so that products of many sizes share a pipeline. */
const declare = ({ a, b }: Problem, binding: number, width: WidthC) => /* wgsl */ `
${LINES}

alias Cells = ${cells('f32', width)};

@group(0) @binding(${binding}) var<uniform> linesA: Lines;
@group(0) @binding(${binding + 1}) var<uniform> linesB: Lines;
@group(0) @binding(${binding + 2}) var<storage, read> scales: array<f32>;
@group(0) @binding(${binding + 3}) var<storage, read> originalA: array<f32>;
@group(0) @binding(${binding + 4}) var<storage, read> originalB: array<f32>;

${SCALE_OF}
// 1 / scale, exactly; 0 for a marked line.
fn inverse(scale: f32) -> f32 { return select(bitcast<f32>((254u << 23) - bitcast<u32>(scale)), 0.0, scale == 0.0); }

fn plainSum(batch: u32, row: u32, col: u32) -> f32 {
  let fromA = linesA.offset + batch * linesA.stride + row * ${a.trans ? '1' : 'linesA.ld'};
  let fromB = linesB.offset + batch * linesB.stride + col * ${b.trans ? 'linesB.ld' : '1'};
  var sum = 0.0;
  // NaN stays NaN: where all is, as in a training that has diverged, little is added up.
  for (var start = 0u; start < params.k && (bitcast<u32>(sum) & 0x7fffffffu) <= 0x7f800000u; start += 32) {
    for (var k = start; k < min(start + 32, params.k); k++) {
      sum += originalA[fromA + k * ${a.trans ? 'linesA.ld' : '1'}] * originalB[fromB + k * ${b.trans ? '1' : 'linesB.ld'}];
    }
  }
  return sum;
}
`;

/** WGSL: takes what scales are inverse to off a sum, and stores it. */
const storeScaled = (unscaleA: string, unscaleB: string, width: WidthC) => /* wgsl */ `
fn storeScaled(batch: u32, row: u32, col: u32, sum: Cells) {
  let one = Cells(${unscaleA});
  let other = ${unscaleB};
  // The smaller factor first: the other way round, the product could overflow on its way.
  var value = sum * min(one, other) * max(one, other);
  let marked = (one == Cells()) | (other == Cells());
  if (${width === 1 ? 'marked' : 'any(marked)'} && row < params.m && col < params.n) {
    ${
      width === 1
        ? 'value = plainSum(batch, row, col);'
        : `for (var j = 0u; j < 4; j++) {
      if (marked[j]) { value[j] = plainSum(batch, row, col + j); }
    }`
    }
  }
  storeC(batch, row, col, value);
}
`;

/** For the reduction of slices. */
export const reducedStore = (problem: Problem): Finish => ({
  name: 'storeScaled',
  bindings: BINDINGS,
  wgsl: (binding, width) => {
    const ofColumn = (further: number) => `inverse(scaleOf(linesB, batch, ${plus(further, 'col')}))`;
    return [
      declare(problem, binding, width),
      storeScaled(
        'inverse(scaleOf(linesA, batch, row))',
        width === 1
          ? ofColumn(0)
          : `Cells(\n    ${ofColumn(0)}, ${ofColumn(1)},\n    ${ofColumn(2)}, ${ofColumn(3)},\n  )`,
        width,
      ),
    ].join('');
  },
});

/** WGSL: one column's, or four columns'. */
const ofColumns = (width: WidthC) => {
  const unscale = (further: number) =>
    `inverse(scaleOf(linesB, tile.batch, min(${plus(further, 'col')}, params.n - 1)))`;
  return width === 1
    ? `let col = tile.col + i;
    unscaleB[i] = ${unscale(0)};`
    : `let col = tile.col + i * 4;
    unscaleB[i] = Cells(
      ${unscale(0)},
      ${unscale(1)},
      ${unscale(2)},
      ${unscale(3)},
    );`;
};

/** For the kernel: `storeScaled`, and `giveScales`, which puts the scales into workgroup memory (`scaleBytes`). */
export const tileStore = (problem: Problem, tile: MatrixTile) => ({
  bindings: BINDINGS,
  wgsl: (binding: number) => /* wgsl */ `${declare(problem, binding, tile.width)}
// Of the tile's rows and columns; those past the edge repeat the last ones.
var<workgroup> unscaleA: array<f32, ${tile.bm}>;
var<workgroup> unscaleB: array<Cells, ${tile.bn / tile.width}>;

fn giveScales(tile: Tile, thread: u32) {
  for (var i = thread; i < ${tile.bm}; i += ${threads(tile)}) {
    unscaleA[i] = inverse(scaleOf(linesA, tile.batch, min(tile.row + i, params.m - 1)));
  }
  for (var i = thread; i < ${tile.bn / tile.width}; i += ${threads(tile)}) {
    ${ofColumns(tile.width)}
  }
}
${storeScaled(`unscaleA[row % ${tile.bm}]`, `unscaleB[col % ${tile.bn}${tile.width === 1 ? '' : ' / 4'}]`, tile.width)}`,
});

/** WGSL for a pipeline that splits B as it lies; the scales are bound from `binding` on, if they are not bound yet. */
export const splitWhileStaging = (binding: number | null) => /* wgsl */ `${
  binding === null
    ? ''
    : `
${LINES}

@group(0) @binding(${binding}) var<uniform> linesB: Lines;
@group(0) @binding(${binding + 1}) var<storage, read> scales: array<f32>;

${SCALE_OF}`
}
${HALVES}
// Of four columns; those past the edge repeat the last one.
fn scalesOfB(batch: u32, col: u32) -> vec4f {
  let last = params.n - 1;
  return vec4f(
    scaleOf(linesB, batch, min(col, last)), scaleOf(linesB, batch, min(col + 1, last)),
    scaleOf(linesB, batch, min(col + 2, last)), scaleOf(linesB, batch, min(col + 3, last)),
  );
}

struct Parts { high: vec4<u32>, low: vec4<u32> }

fn splitWords(x: vec4<u32>, y: vec4<u32>, scaleX: vec4f, scaleY: vec4f) -> Parts {
  let first = halves(bitcast<vec4f>(x) * scaleX);
  let second = halves(bitcast<vec4f>(y) * scaleY);
  return Parts(vec4(first.high, second.high), vec4(first.low, second.low));
}
`;
