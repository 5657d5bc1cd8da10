/** What the mappings of rungs 10 and 11 share, whether they are pipelines or not. */
import type { Shape } from '../../../ladder/rung.ts';
import { type MatrixTile, type Source, wordElements } from '../../../wgsl/matrix-layout.ts';
import { globals } from './arrays.ts';
import { cellInBlocks } from './blocks.ts';
import type { MemoryArray, Thread } from './trace.ts';

export const counted = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Numbers of A and B as they lie in both memories. */
export const inputsOf = (tile: MatrixTile) => ({
  bytes: tile.config.componentType === 'f32' ? 4 : 2,
  vector: wordElements(tile),
});

/** A, B and C in global memory. */
export function operandsOf(shape: Shape, tile: MatrixTile): Readonly<Record<'a' | 'b' | 'c', MemoryArray>> {
  const { bm, bn, bk, parts, width } = tile;
  const { bytes, vector } = inputsOf(tile);
  const { a, b, c } = globals(shape, { inputs: bytes, result: 4 });
  const blocks = (operand: 'A' | 'B', source: Source, lines: number) =>
    source.kind === 'blocked'
      ? { cell: cellInBlocks(operand, shape, { order: 'lines', lines, k: bk, word: vector, parts }) }
      : {};
  return {
    a: { ...a, vector, line: shape.k / vector, ...blocks('A', tile.a, bm) },
    b: { ...b, vector, line: shape.n / vector, ...blocks('B', tile.b, bn) },
    c: { ...c, vector: width, line: shape.n / width },
  };
}

/** Where a thread's subgroup stands in the tile, and its first row and column of C. */
export function subgroupOf(t: Thread, { bm, bn, sm, sn }: MatrixTile) {
  const across = bn / sn;
  const [subgroupRow, subgroupCol] = [Math.floor(t.subgroup / across), t.subgroup % across];
  return {
    ...{ subgroupRow, subgroupCol },
    row: t.tileRow * bm + subgroupRow * sm,
    col: t.tileCol * bn + subgroupCol * sn,
  };
}

/** A subgroup's matrices of A and B for one K of the matrix unit, of one part of the operands. */
export interface Loaded {
  readonly left: readonly Int32Array[];
  readonly right: readonly Int32Array[];
}

/** Every product of a row of matrices and a column of them; of operands in two parts, three of each. */
export function multiply(t: Thread, tile: MatrixTile, loaded: readonly Loaded[]): void {
  const { sm, sn, parts } = tile;
  const { M, N, K } = tile.config;
  const { row, col } = subgroupOf(t, tile);
  const { n } = t.shape;
  const result = (i: number, j: number) =>
    Int32Array.from(
      { length: M * N },
      (_, e) => (row + i * M + Math.floor(e / N)) * n + col + j * N + (e % N),
    );
  const products =
    parts === 1
      ? [[0, 0]]
      : [
          [0, 1],
          [1, 0],
          [0, 0],
        ];
  for (const [p, q] of products) {
    for (const i of counted(sm / M)) {
      for (const j of counted(sn / N)) {
        t.multiplyMatrices(() => result(i, j), loaded[p].left[i], loaded[q].right[j], K);
      }
    }
  }
}
