// Written by scripts/shipped.ts from bench/records/tuning-swiftshader*.json: swiftshader-device-subzero-, 2026-11-30.
import type { ShippedTable } from '../shipped.ts';

export const swiftshader: ShippedTable = {
  vendor: 'google',
  family: /swiftshader/,
  kinds: [
    {
      types: ['f32', 'f32', 'f32'],
      stored: 'NN',
      accuracy: 'f32',
      rows: [
        [1, 512, 512, 1, 'gemv', { lanes: 32, slices: 1 }, 12.8],
        [64, 64, 64, 4, 'plain', { tile: 16 }, 36.3],
        [127, 129, 65, 1, 'plain', { tile: 16 }, 44.1],
        [
          128,
          128,
          128,
          1,
          'register-tile',
          { bm: 32, bn: 32, bk: 8, tm: 4, tn: 4, pack: 0, slices: 1 },
          8.79,
        ],
        [32, 32, 2048, 1, 'small-batched', { tile: 32, step: 32, products: 1 }, 6.02],
      ],
    },
  ],
};
