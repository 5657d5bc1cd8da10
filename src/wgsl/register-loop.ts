/**
 * `main` of register-tile: sums in registers, panels in workgroup memory.
 *
 * While a step is multiplied, the words of the next one are on their way from storage; they are stored between two barriers.
 * The vec4s of the next k are read before a k is multiplied, also across the barriers: two sets of variables take turns.
 */

import type { Panel } from './register-panels.ts';
import type { WidthC } from './store.ts';
import { plus } from './terms.ts';
import { lines } from './unroll.ts';

/** Numbers of the tile, as in kernels/register-tile.ts. */
export interface RegisterTile {
  readonly bm: number;
  readonly bn: number;
  /** Even. */
  readonly bk: number;
  readonly tm: number;
  readonly tn: number;
  readonly slices: number;
  /** Cells that storeC takes at once. */
  readonly width: WidthC;
  /** Whether C's cells are narrower than sums. */
  readonly narrowed: boolean;
}

/** A tile's threads lie in blocks of this many. */
export const BLOCK = { rows: 4, cols: 8 } as const;

export const threadsOf = ({ bm, bn, tm, tn }: Pick<RegisterTile, 'bm' | 'bn' | 'tm' | 'tn'>): number =>
  (bm / tm) * (bn / tn);

/** WGSL: declarations and `main`, to follow a frame and `tileOf(bm, bn)`. */
export function registerTileMain(a: Panel, b: Panel, tile: RegisterTile): string {
  return /* wgsl */ `
${a.declaration}
${b.declaration}

@compute @workgroup_size(${threadsOf(tile)})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = tileOf(group, groups);
  if (!tile.valid) { return; }
  ${lines(place(tile), 2)}
  ${lines(
    rows(tile).map(i => sumsOf(tile, i).map(declareSum).join(' ')),
    2,
  )}

  let start = tile.slice * params.depth;
  let end = min(start + params.depth, params.k);
  ${lines(multiply(a, b, tile), 2)}

  ${lines(store(b, tile), 2)}
}
`;
}

const rows = ({ tm }: RegisterTile) => Array.from({ length: tm }, (_, i) => i);
const sumsOf = ({ tn }: RegisterTile, i: number) => Array.from({ length: tn / 4 }, (_, h) => `sum${i}_${h}`);
const declareSum = (sum: string) => `var ${sum} = vec4<Sum>();`;

/** This thread's place among the tile's. */
function place({ bn, tn }: RegisterTile): string[] {
  const across = bn / tn / BLOCK.cols;
  if (across === 1) return [`let y = thread / ${BLOCK.cols};`, `let x = thread % ${BLOCK.cols};`];
  return [
    `// Blocks of ${BLOCK.rows}×${BLOCK.cols} threads, side by side.`,
    `let block = thread / ${BLOCK.rows * BLOCK.cols};`,
    `let y = block / ${across} * ${BLOCK.rows} + thread % ${BLOCK.rows * BLOCK.cols} / ${BLOCK.cols};`,
    `let x = block % ${across} * ${BLOCK.cols} + thread % ${BLOCK.cols};`,
  ];
}

function multiply(a: Panel, b: Panel, tile: RegisterTile): string[] {
  const { bk } = tile;
  const fetch = (base: string, how: 'var ' | '' = '') => [
    ...[...a.words, ...b.words].map(({ name, at }) => `${how}${name} = ${at(base)};`),
    ...a.next,
    ...b.next,
  ];
  const stores = [...a.stores, ...b.stores];
  const first = operands(a, b, tile, 0);
  const step = [
    ...Array.from({ length: bk - 1 }, (_, k) => multiplyOne(a, b, tile, k)).flat(),
    'workgroupBarrier();',
    ...stores,
    'workgroupBarrier();',
    ...fetch(`base + ${2 * bk}`),
    ...multiplyOne(a, b, tile, bk - 1),
  ];
  return [
    ...a.start,
    ...b.start,
    ...fetch('start', 'var '),
    ...stores,
    'workgroupBarrier();',
    ...fetch(`start + ${bk}`),
    ...first.map(({ name, from }) => `var ${setOf(0)}${name} = ${from};`),
    ...first.map(({ name }) => `var ${setOf(1)}${name}: vec4<Sum>;`),
    `for (var base = start; base < end; base += ${bk}) {\n  ${lines(step, 2)}\n}`,
  ];
}

const setOf = (k: number): string => (k % 2 === 0 ? 'even' : 'odd');

/** A thread's vec4s of both panels for one k. */
const operands = (a: Panel, b: Panel, { tm, tn }: RegisterTile, k: number) => [
  ...Array.from({ length: tm / 4 }, (_, g) => ({ name: `A${g}`, from: a.read(k, g) })),
  ...Array.from({ length: tn / 4 }, (_, h) => ({ name: `B${h}`, from: b.read(k, h) })),
];

/** Multiply-adds of one k of the step, after the reads for the next: of the last, for the first of the next step. */
function multiplyOne(a: Panel, b: Panel, tile: RegisterTile, k: number): string[] {
  const [own, following] = [setOf(k), setOf(k + 1)];
  return [
    `// k = ${plus(k, 'base')}`,
    ...operands(a, b, tile, (k + 1) % tile.bk).map(({ name, from }) => `${following}${name} = ${from};`),
    ...rows(tile).map(i =>
      sumsOf(tile, i)
        .map((sum, h) => `${sum} += ${own}A${i >> 2}.${'xyzw'[i % 4]} * ${own}B${h};`)
        .join(' '),
    ),
  ];
}

/**
 * A driver's compiler lays out registers by what is stored: sums that are stored as four f32 lie in aligned fours, which
 * multiply-adds are quicker with (docs/performance.md, log entry 30). So sums that are narrowed are stored so as well, if never.
 */
function keepAligned(b: Panel, tile: RegisterTile): string[] {
  const stores = rows(tile).flatMap(i =>
    sumsOf(tile, i).map((sum, h) => `${b.read(i % tile.bk, h)} = ${sum};`),
  );
  return [
    '// Never so: it makes the compiler keep sums in aligned registers.',
    `if (params.slices == 0) {\n  ${lines(stores, 2)}\n}`,
  ];
}

function store(b: Panel, tile: RegisterTile): string[] {
  const { bm, bn, tm, tn, slices, width } = tile;
  const slice = slices > 1 ? ', tile.slice' : '';
  const parts = width === 4 ? [''] : ['.x', '.y', '.z', '.w'];
  return [
    ...(tile.narrowed ? keepAligned(b, tile) : []),
    'let row = tile.row + 4 * y;',
    'let col = tile.col + 4 * x;',
    ...rows(tile).flatMap(i => {
      const row = plus((i >> 2) * 4 * (bm / tm) + (i % 4), 'row');
      return sumsOf(tile, i).flatMap((sum, h) =>
        parts.map((part, j) => {
          const col = plus(h * 4 * (bn / tn) + j, 'col');
          return `storeC(tile.batch, ${row}, ${col}, ${sum}${part}${slice});`;
        }),
      );
    }),
  ];
}
