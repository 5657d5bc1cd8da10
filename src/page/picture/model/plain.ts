/** Rungs 1 to 3: each thread makes one cell of C and reads what it needs from global memory, step by step of K. */
import type { Shape } from '../../../ladder/rung.ts';
import { globals } from './arrays.ts';
import type { Mapping } from './trace.ts';

/** @param side threads along each side of a workgroup @param along what `x` picks */
export function oneCell(shape: Shape, lanes: number, side: number, along: 'row' | 'col'): Mapping {
  return {
    ...{ threads: side * side, side, lanes, arrays: globals(shape) },
    tile: { m: side, n: side, k: 1 },
    groupOf: (row, col) => (along === 'row' ? [row, col] : [col, row]),
    main(t) {
      const [x, y] = [t.group[0] * side + t.x, t.group[1] * side + t.y];
      const [row, col] = along === 'row' ? [x, y] : [y, x];
      for (let k = 0; k < shape.k; k++) {
        t.step('multiply', k, k + 1);
        const [a] = t.read('a', row * shape.k + k);
        const [b] = t.read('b', k * shape.n + col);
        t.multiply(row * shape.n + col, a, b);
      }
      t.step('store');
      t.write('c', row * shape.n + col, [row * shape.n + col]);
      return [];
    },
  };
}
