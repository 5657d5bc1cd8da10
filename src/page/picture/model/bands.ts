import type { Shape } from '../../../ladder/rung.ts';
import { ceilDiv } from '../../../program.ts';
import type { Mapping } from './trace.ts';

/** The order in which wgsl/frame.ts walks over tiles: in bands of 8 tile rows, down each column of a band. */
export function inBands(shape: Shape, rows: number, cols: number): Mapping['groupOf'] {
  const [tilesM, tilesN] = [ceilDiv(shape.m, rows), ceilDiv(shape.n, cols)];
  return (row, col) => {
    const band = Math.floor(row / 8);
    const bandRows = Math.min(8, tilesM - band * 8);
    return [band * 8 * tilesN + col * bandRows + (row % 8), 0];
  };
}
