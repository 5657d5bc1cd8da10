import { expect, test } from 'vitest';
import { poisoned } from '../../src/measure/fence.ts';
import { randomMatrix } from '../../src/measure/random.ts';
import { referenceRow } from '../../src/measure/reference.ts';
import { KINDS, mapCells } from '../../src/page/views/workbench/cells.ts';

const [m, n, k] = [24, 20, 40];
const a = { rows: m, cols: k, data: randomMatrix(m * k, 1) };
const b = { rows: k, cols: n, data: randomMatrix(k * n, 2) };

function product(spoil: (c: Float32Array) => void = () => {}) {
  const c = new Float32Array(m * n);
  for (let row = 0; row < m; row++) c.set(referenceRow(a, b, row).values, row * n);
  spoil(c);
  return { a, b, c, arithmetic: 'f32', result: 'f32', signs: 'random' } as const;
}

test('a right product has no wrong cell', async () => {
  const cells = await mapCells(product());
  expect(cells.counts).toEqual([m * n, 0, 0, 0, 0, 0, 0]);
  expect(cells).toMatchObject({ first: null, worst: null, box: null });
});

test('each wrong cell is found, with its kind and what is due there', async () => {
  const right = product().c;
  const cells = await mapCells(
    product(c => {
      c[3 * n + 4] += 0.001;
      c[5 * n + 7] += 1000;
      c[6 * n + 2] = Number.POSITIVE_INFINITY;
      new Uint32Array(c.buffer)[8 * n + 19] = poisoned(1, 4)[0];
    }),
  );
  const kindOf = (row: number, col: number) => KINDS[cells.kinds[row * n + col]].id;
  expect([kindOf(3, 4), kindOf(5, 7), kindOf(6, 2), kindOf(8, 19)]).toEqual([
    'slight',
    'more',
    'nan',
    'unwritten',
  ]);
  expect(cells.counts[0]).toBe(m * n - 4);
  expect(cells.box).toEqual({ rows: [3, 8], cols: [2, 19] });
  expect(cells.first).toMatchObject({ row: 3, col: 4 });
  expect(cells.worst).toMatchObject({ row: 5, col: 7, got: Math.fround(right[5 * n + 7] + 1000) });
  expect(cells.worst?.want).toBeCloseTo(right[5 * n + 7], 4);
});

test('where there is no time for all rows, one of each stretch is compared; whoever waits can end it', async () => {
  const cells = await mapCells(product(), { budget: 6 * n * k });
  expect(cells.rows).toHaveLength(6);
  cells.rows.forEach((row, part) => {
    expect(Math.floor(row / 4)).toBe(part);
  });
  const pause = async () => {
    throw new Error('enough');
  };
  await expect(mapCells(product(), { pause })).rejects.toThrow('enough');
});
