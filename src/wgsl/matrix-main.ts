/** The main loop of the kernels that multiply with matrix units, in as many stages as the tile has. */
import type { MatrixTile } from './matrix-layout.ts';
import { matrixPipeline } from './matrix-pipeline.ts';
import { matrixTile } from './matrix-tile.ts';

/** WGSL: declarations and `main`, to follow a frame with `words` access and `tileOf(bm, bn)`. */
export const matrixMain = (tile: MatrixTile): string =>
  tile.stages === 2 ? matrixPipeline(tile) : matrixTile(tile);
