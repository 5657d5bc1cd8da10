/** The workbench's fields for a kernel's parameters. */
import { expect, test } from 'vitest';
import { KERNELS } from '../../src/kernels/index.ts';
import { describeParameter, freeNames, wrongParameter } from '../../src/page/views/workbench/parameters.ts';
import { normalize, type ProblemOptions } from '../../src/problem.ts';
import { APPLE, NVIDIA } from './profiles.ts';

const PROBLEMS: readonly ProblemOptions[] = [
  { m: 4096, n: 4096, k: 4096 },
  { m: 4096, n: 4096, k: 4096, type: 'f16' },
  { m: 4096, n: 4096, k: 4096, type: 'i8', cType: 'i32' },
  { m: 1, n: 4096, k: 4096 },
  { m: 8, n: 8, k: 8, batch: 100 },
];

test('every parameter has a name and a hint, and every candidate fits into the fields', () => {
  for (const problem of PROBLEMS.map(normalize)) {
    for (const profile of [APPLE, NVIDIA]) {
      for (const kernel of KERNELS.filter(it => it.rejects(problem, profile) === null)) {
        for (const params of kernel.candidates(problem, profile)) {
          for (const name of freeNames(params)) {
            expect(describeParameter(name).hint, `${kernel.name}: ${name}`).not.toBe('');
            expect(wrongParameter(name, String(params[name])), `${kernel.name}: ${name}`).toBeNull();
          }
        }
      }
    }
  }
});
