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
        [1, 512, 512, 1, 'gemv', { lanes: 8, slices: 4 }, 45.2],
        [64, 64, 64, 4, 'plain', { tile: 16 }, 133],
        [127, 129, 65, 1, 'plain', { tile: 16 }, 238],
        [128, 128, 128, 1, 'register-tile', { bm: 64, bn: 64, bk: 16, tm: 4, tn: 4, slices: 1 }, 19],
        [32, 32, 2048, 1, 'small-batched', { tile: 32, step: 32, products: 1 }, 47.8],
      ],
    },
  ],
};
