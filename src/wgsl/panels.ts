/**
 * Panels: the parts of A and B that a tile of C needs for a step of K, staged in workgroup memory for threads that make
 * 4×4 cells each.
 *
 * Both panels hold vec4s as they lie in the operand, along its stored rows: nothing is transposed on the way in. A thread
 * reads 4×4 blocks of them; where a block comes out the wrong way round, turning it is only a matter of naming
 * registers. Lines that lie along K have an odd number of vec4s, and a thread's four of them are SIDE apart, so that
 * neighbouring threads read from different banks.
 */
import type { Problem } from '../problem.ts';
import { lines, unroll } from './unroll.ts';
import type { Width } from './vectors.ts';
import { liesAlongK, widest, words } from './words.ts';

export interface PanelOptions {
  /** Rows and columns of the tile of C: 4 for each thread of a side. */
  readonly tile: number;
  /** Step along K. */
  readonly step: number;
  /** Tiles that a workgroup makes at once, each with panels of its own. */
  readonly tiles: number;
}

export interface Panels {
  /**
   * WGSL: `stageA(tile, batch, row, k, thread)` and `stageB(tile, batch, k, col, thread)`, by all threads of the tile;
   * `blockA(tile, y, k)`: for each of thread row y's rows, four elements along K, k counting in fours;
   * `blockB(tile, k, x)`: for each of four ks, the elements of thread column x's columns;
   * `rowOf(y, i)`, `colOf(x, j)`: where in the tile a thread's cells lie.
   */
  readonly wgsl: string;
  /** Bytes of workgroup memory. */
  readonly bytes: number;
  /** For frame(). */
  readonly vectors: { readonly vectorA: Width; readonly vectorB: Width };
}

export function panels(problem: Problem, options: PanelOptions): Panels {
  const vectors = { vectorA: widest(problem, 'A', 4), vectorB: widest(problem, 'B', 4) };
  const a = panel(problem, 'A', vectors.vectorA, options);
  const b = panel(problem, 'B', vectors.vectorB, options);
  return { wgsl: a.wgsl + b.wgsl, bytes: a.bytes + b.bytes, vectors };
}

function panel(
  problem: Problem,
  name: 'A' | 'B',
  width: Width,
  { tile, step, tiles }: PanelOptions,
): { readonly wgsl: string; readonly bytes: number } {
  const side = tile / 4;
  const threads = side * side;
  const alongK = liesAlongK(problem, name);
  // A line of the panel is as much of a stored row as the tile needs.
  const [rows, length, used] = alongK ? [tile, (step / 4) | 1, step / 4] : [step, side, side];
  const isA = name === 'A';
  const [line, thread] = isA ? ['row', 'y'] : ['col', 'x'];
  const place = alongK ? [`${line} + to`, 'k + 4 * vector'] : [`${line} + 4 * vector`, 'k + to'];
  return {
    bytes: tiles * rows * length * 16,
    wgsl: /* wgsl */ `${words(problem, name, width).wgsl}
var<workgroup> panel${name}: array<array<array<vec4<Sum>, ${length}>, ${rows}>, ${tiles}>;

fn stage${name}(tile: u32, batch: u32, ${isA ? 'row: u32, k: u32' : 'k: u32, col: u32'}, thread: u32) {
  for (var i = 0u; i < ${(rows * used) / threads}; i++) {
    let to = (thread + i * ${threads}) / ${used};
    let vector = (thread + i * ${threads}) % ${used};
    panel${name}[tile][to][vector] = part${name}0(word${name}(batch, ${(isA ? place : place.toReversed()).join(', ')}));
  }
}

fn ${line}Of(${thread}: u32, i: u32) -> u32 { return ${alongK ? `${thread} + i * ${side}` : `4 * ${thread} + i`}; }

${block(name, alongK, side)}
`,
  };
}

function block(name: 'A' | 'B', alongK: boolean, side: number): string {
  const thread = name === 'A' ? 'y' : 'x';
  const vector = (i: number) => (alongK ? `[${thread} + ${i * side}][k]` : `[4 * k + ${i}][${thread}]`);
  // A's blocks are wanted row by row along K, B's one k after the other across the columns.
  const turn = alongK !== (name === 'A');
  const turned = ['x', 'y', 'z', 'w'].map(c => `vec4(v0.${c}, v1.${c}, v2.${c}, v3.${c})`);
  return `fn block${name}(tile: u32, ${name === 'A' ? 'y: u32, k: u32' : 'k: u32, x: u32'}) -> array<vec4<Sum>, 4> {
  ${unroll(4, 2, i => `let v${i} = panel${name}[tile]${vector(i)};`)}
  return array(
    ${(turn ? turned : ['v0', 'v1', 'v2', 'v3']).join(',\n    ')},
  );
}`;
}

/** WGSL: adds a step's products to `sum0` … `sum3`, a thread's rows, from the panels of `tile`. */
export const multiplyPanels = (step: number, indent: number): string =>
  lines(
    [
      `for (var k = 0u; k < ${step / 4}; k++) {`,
      `  let a = blockA(tile, y, k);`,
      `  let b = blockB(tile, k, x);`,
      ...[0, 1, 2, 3].flatMap(i =>
        ['x', 'y', 'z', 'w'].map((c, j) => `  sum${i} += a[${i}].${c} * b[${j}];`),
      ),
      `}`,
    ],
    indent,
  );
