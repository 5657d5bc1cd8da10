// Written by scripts/shipped.ts from bench/records/tuning-lavapipe*.json: llvmpipe-llvm-19-1-7-256-bits-, 2026-11-30.
import type { ShippedTable } from '../shipped.ts';

export const lavapipe: ShippedTable = {
  vendor: 'mesa',
  family: /llvmpipe/,
  kinds: [
    {
      types: ['f32', 'f32', 'f32'],
      stored: 'NN',
      accuracy: 'f32',
      rows: [
        [1, 512, 512, 1, 'gemv', { lanes: 8, slices: 4 }, 0.534],
        [64, 64, 64, 4, 'register-tile', { bm: 32, bn: 32, bk: 16, tm: 4, tn: 4, pack: 0, slices: 1 }, 1.2],
        [
          127,
          129,
          65,
          1,
          'register-tile',
          { bm: 32, bn: 32, bk: 16, tm: 4, tn: 4, pack: 0, slices: 1 },
          1.48,
        ],
        [
          128,
          128,
          128,
          1,
          'register-tile',
          { bm: 64, bn: 64, bk: 8, tm: 4, tn: 4, pack: 0, slices: 1 },
          1.04,
        ],
        [32, 32, 2048, 1, 'small-batched', { tile: 32, step: 32, products: 1 }, 0.683],
      ],
    },
  ],
};
