/**
 * Rung 11, split f32: the accuracy of f32 from matrix units that take f16.
 *
 * An f32 has 24 bits of precision and an f16 has 11, so two f16 hold nearly all of an f32: x = high + low. Then
 * a·b = high·high + high·low + low·high, up to a term too small to matter: three products on the matrix units in place
 * of one on the f32 units, and faster where the matrix units are more than three times as fast. Two things would
 * spoil the accuracy. f16 has a small range: so each row of A and column of B is scaled by a power of two first, which
 * loses nothing. And matrix units truncate while they add: so the sums are moved into f32 registers now and then.
 * Its result is held to what a plain f32 kernel may err by. After Ootomo and Yokota, 2022.
 *
 * The parts hold 22 of an f32's 24 bits, and the product of the low parts is left out: a single product may be off by 12
 * units of 2^-24, more than a plain f32 kernel is. Such errors have random signs and hide behind the rounding of a
 * sum of 16 and more; the kernel rejects shorter ones.
 *
 * It is the library's kernel: ../kernels/split-f32.ts. Scaling and splitting are part of the rung's time, since every product pays
 * for them.
 */
import { splitF32 as kernel, tileFor } from '../kernels/split-f32.ts';
import { fromKernel, ofMatrices } from './from-kernel.ts';

export const splitF32 = fromKernel({
  rung: '11',
  id: 'split-f32',
  idea: 'f32 in two f16 parts, three products for one',
  kernel,
  inputs: 'f32',
  detail: (...chosen) => ofMatrices(tileFor(...chosen), ' thrice'),
});
