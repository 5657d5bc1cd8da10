/**
 * Rung 10, tensor f16: rung 8 grown until the matrix units have enough to do. A and B are f16, C is f32.
 *
 * Rung 8's subgroup loads four matrices to multiply four pairs, so it waits for workgroup memory. A subgroup that makes
 * 64×64 cells loads eight to multiply 16. What is left of the way to the units is made short: A and B are packed first, in
 * the order in which the threads fetch them, and move in words of 16 bytes; and each subgroup's part of a tile is
 * an array of its own, so that the range check that WebGPU puts before every matrix load folds away. Where the
 * units have f32 sums of f32 matrices only, as Apple's, packing makes f32 of the f16.
 *
 * It is the library's kernel: ../kernels/subgroup-matrix.ts, and ../wgsl/matrix-tile.ts for the mapping and the WGSL. Packing,
 * where it pays, is part of the rung's time, since every product pays for it.
 */
import { subgroupMatrix as kernel, tileFor } from '../kernels/subgroup-matrix.ts';
import { fromKernel, ofMatrices } from './from-kernel.ts';

export const tensorF16 = fromKernel({
  rung: '10',
  id: 'tensor-f16',
  idea: 'f16 matrices, up to 64×64 cells a subgroup',
  kernel,
  inputs: 'f16',
  detail: (...chosen) => ofMatrices(tileFor(...chosen)),
});
