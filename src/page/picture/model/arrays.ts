/** The arrays that kernels declare. */
import type { Shape } from '../../../ladder/rung.ts';
import type { MemoryArray } from './trace.ts';

/** A, B and C as they lie in storage: whole rows, one after the other. */
export function globals({ m, n, k }: Shape, bytes = { inputs: 4, result: 4 }): Record<string, MemoryArray> {
  const global = { memory: 'global', vector: 1 } as const;
  return {
    a: { ...global, operand: 'A', bytes: bytes.inputs, line: k, rows: m },
    b: { ...global, operand: 'B', bytes: bytes.inputs, line: n, rows: k },
    c: { ...global, operand: 'C', bytes: bytes.result, line: n, rows: m },
  };
}

/** A tile in workgroup memory, its rows `line` indices long. */
export const tile = (
  operand: MemoryArray['operand'],
  rows: number,
  line: number,
  { vector = 1, bytes = 4, transposed = false } = {},
): MemoryArray => ({ memory: 'workgroup', operand, bytes, vector, line, rows, transposed });

/** Bytes of workgroup memory that a mapping's arrays take. */
export const workgroupBytes = (arrays: Readonly<Record<string, MemoryArray>>): number =>
  Object.values(arrays)
    .filter(({ memory }) => memory === 'workgroup')
    .reduce((sum, { rows, line, vector, bytes }) => sum + rows * line * vector * bytes, 0);
