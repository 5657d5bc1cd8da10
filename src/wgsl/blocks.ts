/**
 * Panels of 4×4 blocks: the parts of A and B that a workgroup multiplies in a step of K, in workgroup memory. The
 * workgroup's threads form `ways` groups, and each multiplies a part of the step, of bk ks.
 *
 * A block is four vec4s just as they lie in the operand: of an operand stored along K, one for each of four rows of A (or
 * columns of B), over four ks; of any other, one for each of four ks. Nothing is turned on the way in: which number of a
 * block is which is only a matter of naming registers.
 *
 * Line 4·i + q of a panel holds the q-th vec4s of all blocks of a way's i-th four ks: those of A, way by way, and then those
 * of B. Neighbouring threads write and read neighbouring vec4s, which lie in different banks.
 */
import type { Problem } from '../problem.ts';
import type { Width } from './vectors.ts';
import { liesAlongK, widest, words } from './words.ts';

/** A tile of C of bm×bn cells, tm×tn of them for each thread of a way; all multiples of 4. */
export interface BlockTile {
  readonly bm: number;
  readonly bn: number;
  /** Ks that a way multiplies in a step; a multiple of 4. */
  readonly bk: number;
  readonly tm: number;
  readonly tn: number;
  /** Groups of threads that share a step's K. */
  readonly ways: number;
}

/** Threads of a way. */
export const threadsOfWay = ({ bm, bn, tm, tn }: BlockTile): number => (bm / tm) * (bn / tn);

/** vec4s in a line of `panels`, which has bk of them for a step. */
export const lineOf = ({ bm, bn, ways }: BlockTile): number => (ways * (bm + bn)) / 4;

/** Whether every thread of a way has the same number of words of A to fetch in a step, and of B. */
export const sharesWords = (tile: BlockTile): boolean =>
  [tile.bm, tile.bn].every(side => ((tile.bk / 4) * side) % threadsOfWay(tile) === 0);

export interface BlockPanels {
  /**
   * WGSL: `panels`; `fetchA(tile, base, way, unit)`, which gives one of a way's words of the step at `base`, and
   * `putA(way, unit, word)`, which puts it there; the same for B. To follow a frame and `tileOf(bm, bn)`.
   */
  readonly wgsl: string;
  /**
   * Words of A, and of B, that a thread fetches in a step. `unit` is the thread's number in its way, then as many more as
   * the way has threads, and so on.
   */
  readonly words: { readonly A: number; readonly B: number };
  /** Bytes of workgroup memory. */
  readonly bytes: number;
  /** For frame(). */
  readonly vectors: { readonly vectorA: Width; readonly vectorB: Width };
}

export function blockPanels(problem: Problem, tile: BlockTile): BlockPanels {
  const vectors = { vectorA: widest(problem, 'A', 4), vectorB: widest(problem, 'B', 4) };
  const share = (side: number) => ((tile.bk / 4) * side) / threadsOfWay(tile);
  return {
    wgsl: /* wgsl */ `
var<workgroup> panels: array<array<vec4<Sum>, ${lineOf(tile)}>, ${tile.bk}>;
${words(problem, 'A', vectors.vectorA).wgsl}${moves(problem, 'A', tile)}
${words(problem, 'B', vectors.vectorB).wgsl}${moves(problem, 'B', tile)}
`,
    words: { A: share(tile.bm), B: share(tile.bn) },
    bytes: tile.bk * lineOf(tile) * 16,
    vectors,
  };
}

/** WGSL: where in a line the block is that is number `block` of its way. */
const placeOf = (name: 'A' | 'B', { bm, bn, ways }: BlockTile, block: string) =>
  name === 'A' ? `way * ${bm / 4} + ${block}` : `${(ways * bm) / 4} + way * ${bn / 4} + ${block}`;

function moves(problem: Problem, name: 'A' | 'B', tile: BlockTile): string {
  const { bm, bn, bk } = tile;
  const side = name === 'A' ? bm : bn;
  const blocks = side / 4;
  const alongK = liesAlongK(problem, name);
  // Along K, eight neighbours take eight lines and the next eight the following ks, so that they read whole sectors.
  const [fours, place] = alongK
    ? [`unit / 8 % ${bk / 4}`, `unit / ${2 * bk} * 8 + unit % 8`]
    : [`unit / ${side}`, `unit % ${side}`];
  const [line, k] = alongK
    ? [`4 * (place % ${blocks}) + place / ${blocks}`, '4 * fours']
    : [`4 * (place % ${blocks})`, `4 * fours + place / ${blocks}`];
  const at = name === 'A' ? `tile.row + ${line}, k` : `k, tile.col + ${line}`;
  return /* wgsl */ `
fn fetch${name}(tile: Tile, base: u32, way: u32, unit: u32) -> Word${name} {
  let fours = ${fours};
  let place = ${place};
  let k = base + way * ${bk} + ${k};
  return word${name}(tile.batch, ${at});
}

fn put${name}(way: u32, unit: u32, word: Word${name}) {
  let fours = ${fours};
  let place = ${place};
  panels[4 * fours + place / ${blocks}][${placeOf(name, tile, `place % ${blocks}`)}] = part${name}0(word);
}`;
}

/** WGSL: `blockA` and `blockB`, where in a line thread (y, x) of a way has its first blocks. */
export const declareBlocks = (tile: BlockTile): string[] => [
  `let blockA = ${placeOf('A', tile, 'y')};`,
  `let blockB = ${placeOf('B', tile, 'x')};`,
];

/**
 * WGSL: adds the products of a step to a thread's sums. They are called `sum0_0`, …: one of the thread's rows, and four of
 * its columns.
 */
export function multiplyBlocks(problem: Problem, tile: BlockTile): string[] {
  const { bm, bn, bk, tm, tn } = tile;
  const [groupsM, groupsN] = [tm / 4, tn / 4];
  const [alongA, alongB] = [liesAlongK(problem, 'A'), liesAlongK(problem, 'B')];
  const read = (name: 'A' | 'B', group: number, q: number) => {
    const threads = name === 'A' ? bm / tm : bn / tn;
    const line = `4 * k${q ? ` + ${q}` : ''}`;
    return `let ${name.toLowerCase()}${group}_${q} = panels[${line}][block${name}${group ? ` + ${group * threads}` : ''}];`;
  };
  const component = (i: number) => 'xyzw'[i];
  const ofA = (row: number, k: number) => {
    const [group, i] = [row >> 2, row % 4];
    return alongA ? `a${group}_${i}.${component(k)}` : `a${group}_${k}.${component(i)}`;
  };
  const ofB = (group: number, k: number) =>
    alongB ? `vec4(${[0, 1, 2, 3].map(j => `b${group}_${j}.${component(k)}`).join(', ')})` : `b${group}_${k}`;
  const reads = (name: 'A' | 'B', groups: number, q: number) =>
    Array.from({ length: groups }, (_, group) => read(name, group, q));
  const before = [
    ...(alongA ? [0, 1, 2, 3].flatMap(q => reads('A', groupsM, q)) : []),
    ...(alongB ? [0, 1, 2, 3].flatMap(q => reads('B', groupsN, q)) : []),
  ];
  const body = [0, 1, 2, 3].flatMap(k => [
    ...(alongA ? [] : reads('A', groupsM, k)),
    ...(alongB ? [] : reads('B', groupsN, k)),
    ...Array.from({ length: tm }, (_, i) =>
      Array.from({ length: groupsN }, (_, h) => `sum${i}_${h} += ${ofA(i, k)} * ${ofB(h, k)};`).join(' '),
    ),
  ]);
  return [`for (var k = 0u; k < ${bk / 4}; k++) {`, ...[...before, ...body].map(line => `  ${line}`), '}'];
}
