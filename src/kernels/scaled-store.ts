/**
 * The store of split-f32: it takes the scales of a sum's row and column off, and computes the cells of marked ones anew, as plain
 * sums of f32. Scales come from the buffer that scales.ts and split.ts fill, or from the workgroup that has found them; what that had
 * to leave out is added here (wgsl/matrix-split.ts).
 */
import type { Problem } from '../problem.ts';
import { reads, uniform } from '../program.ts';
import { type MatrixTile, MOST_LARGE, SIDES, type Side, scalesOf } from '../wgsl/matrix-layout.ts';
import { lineFound } from '../wgsl/matrix-split.ts';
import { cells, type WidthC } from '../wgsl/store.ts';
import { plus } from '../wgsl/terms.ts';
import type { Finish } from './reduce.ts';
import { LINES } from './scales.ts';

/** WGSL: one copy of an operand serves the whole batch, or each product has its own. */
const SCALE_OF = /* wgsl */ `fn scaleOf(lines: Lines, batch: u32, line: u32) -> f32 {
  return scales[lines.first + min(batch, lines.copies - 1) * lines.lines + line];
}`;

/** WGSL for a pipeline that splits B as it lies; the scales are bound from `binding` on, if they are not bound yet. */
export const giveScalesOfB = (binding: number | null) => /* wgsl */ `${
  binding === null
    ? ''
    : `
${LINES}

@group(0) @binding(${binding}) var<uniform> linesB: Lines;
@group(0) @binding(${binding + 1}) var<storage, read> scales: array<f32>;

${SCALE_OF}
`
}
// Of four columns; those past the edge repeat the last one.
fn scalesOfB(batch: u32, col: u32) -> vec4f {
  let last = params.n - 1;
  return vec4f(
    scaleOf(linesB, batch, min(col, last)), scaleOf(linesB, batch, min(col + 1, last)),
    scaleOf(linesB, batch, min(col + 2, last)), scaleOf(linesB, batch, min(col + 3, last)),
  );
}
`;

/** What takes the scales off a sum, or computes it anew where its row or column is marked, and stores it. */
export function scaledStore(problem: Problem, tile: MatrixTile): Finish {
  const sides = SIDES.map(side => sideOfStore(problem, tile, side));
  const ofPasses = sides.filter(({ found }) => !found);
  return {
    name: 'storeScaled',
    bindings: [
      ...ofPasses.map(({ side }) => uniform(`lines${side}`)),
      ...(ofPasses.length > 0 ? [reads('scales')] : []),
      ...ofPasses.map(({ name }) => reads(name)),
    ],
    wgsl: (binding, width) => {
      const count = ofPasses.length;
      const declared =
        count === 0
          ? ''
          : `${LINES}

${ofPasses.map(({ side }, i) => `@group(0) @binding(${binding + i}) var<uniform> lines${side}: Lines;`).join('\n')}
@group(0) @binding(${binding + count}) var<storage, read> scales: array<f32>;
${ofPasses.map(({ side }, i) => `@group(0) @binding(${binding + count + 1 + i}) var<storage, read> original${side}: array<f32>;`).join('\n')}

${SCALE_OF}

`;
      return `\n${declared}${storeScaled(sides, width, tile.slices)}`;
    },
  };
}

type SideOfStore = ReturnType<typeof sideOfStore>;

/** WGSL expressions for one operand in `storeScaled`. */
function sideOfStore(problem: Problem, tile: MatrixTile, side: Side) {
  const [name, line, size] = side === 'A' ? (['a', 'row', 'BM'] as const) : (['b', 'col', 'BN'] as const);
  const found = scalesOf(tile, side) === 'found';
  const alongK = problem[name].trans === (side === 'B');
  const lines = `lines${side}`;
  return {
    ...{ side, name, found },
    /** Of a row or column, or of one a few columns further. */
    scale: (further = 0) =>
      found
        ? `scaleOfLine(${lineFound(tile, side, `${further ? `(${plus(further, line)})` : line} % ${size}`)})`
        : `scaleOf(${lines}, batch, ${plus(further, line)})`,
    /** The first of its elements, and those behind it. */
    from: found
      ? `index${side}(batch, ${side === 'A' ? 'row, 0' : '0, col'})`
      : `${lines}.offset + batch * ${lines}.stride + ${line} * ${alongK ? `${lines}.ld` : '1'}`,
    step: alongK ? '' : ` * ${found ? `params.ld${name}` : `${lines}.ld`}`,
    element: (index: string) =>
      found ? `bitcast<f32>(${name}[(${index}) / 4][(${index}) % 4])` : `original${side}[${index}]`,
  };
}

/**
 * WGSL. Sizes are read and not written out, so that products of many sizes share a pipeline. Of slices, each knows its own scales
 * where it has found them, and takes them off its own sums.
 */
function storeScaled(sides: readonly SideOfStore[], width: WidthC, slices: number): string {
  const [a, b] = sides;
  const finds = a.found || b.found;
  const sliced = finds && slices > 1;
  const [sliceIs, slice] = sliced ? [', slice: u32', ', slice'] : ['', ''];
  return /* wgsl */ `alias Cells = ${cells('f32', width)};

fn plainSum(batch: u32, row: u32, col: u32${sliceIs}) -> f32 {
  let fromA = ${a.from};
  let fromB = ${b.from};
  var sum = 0.0;
  for (var k = ${sliced ? 'slice * params.depth' : '0u'}; k < ${sliced ? 'min(params.k, (slice + 1) * params.depth)' : 'params.k'}; k++) {
    sum += ${a.element(`fromA + k${a.step}`)} * ${b.element(`fromB + k${b.step}`)};
  }
  return sum;
}

${finds ? ofLarge(a, b) : ''}// 1 / scale, exactly.
fn inverse(scale: Cells) -> Cells { return bitcast<Cells>((254u << 23) - bitcast<${cells('u32', width)}>(scale)); }

fn storeScaled(batch: u32, row: u32, col: u32, sum: Cells${sliceIs}) {
  if (row >= params.m || col >= params.n) { return; }
  let scaleA = Cells(${a.scale()});
  let scaleB = Cells(${
    width === 1
      ? b.scale()
      : `
    ${b.scale()}, ${b.scale(1)},
    ${b.scale(2)}, ${b.scale(3)},
  `
  });
  // The smaller factor first: the other way round, the product could overflow on its way.
  let one = inverse(scaleA);
  let other = inverse(scaleB);
  var value = sum * min(one, other) * max(one, other);
${
  finds
    ? `  if (atomicLoad(&larges) > 0) {
    ${width === 1 ? 'value += ofLarge(batch, row, col);' : 'for (var j = 0u; j < 4; j++) { value[j] += ofLarge(batch, row, col + j); }'}
  }
`
    : ''
}  let marked = (scaleA == Cells()) | (scaleB == Cells());
  ${
    width === 1
      ? `if (marked) { value = plainSum(batch, row, col${slice}); }`
      : `if (any(marked)) {
    for (var j = 0u; j < 4; j++) {
      if (marked[j]) { value[j] = plainSum(batch, row, col + j${slice}); }
    }
  }`
  }
  storeC(batch, row, col, value${slice});
}
`;
}

/** WGSL. K in its order, whatever the order in which they were noted: the same input gives the same bits. */
const ofLarge = (
  a: SideOfStore,
  b: SideOfStore,
) => /* wgsl */ `// What the elements that were left out contribute to a cell, if its row and column are not marked.
fn ofLarge(batch: u32, row: u32, col: u32) -> f32 {
  let fromA = ${a.from};
  let fromB = ${b.from};
  let count = min(atomicLoad(&larges), ${MOST_LARGE}u);
  var sum = 0.0;
  var first = 0u;
  loop {
    var k = 0xffffffffu;
    for (var i = 0u; i < count; i++) {
      let own = large[i].x == row % BM || large[i].x == BM + col % BN;
      if (own && large[i].y >= first) { k = min(k, large[i].y); }
    }
    if (k == 0xffffffffu) { break; }
    sum += ${a.element(`fromA + k${a.step}`)} * ${b.element(`fromB + k${b.step}`)};
    first = k + 1;
  }
  return sum;
}

`;
