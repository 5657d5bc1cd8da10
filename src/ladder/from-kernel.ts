/**
 * The library's kernels as rungs: the ladder ends where the library begins, and both run the same code with the same
 * parameters.
 */
import type { Kernel, Params } from '../kernels/kernel.ts';
import { normalize, type Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';
import { brokenLimit } from '../program.ts';
import type { MatrixTile } from '../wgsl/matrix-layout.ts';
import { matrixName, type Rung, type RungProgram, type Shape } from './rung.ts';

export interface KernelRung extends Pick<Rung, 'rung' | 'id' | 'idea'> {
  readonly kernel: Kernel;
  /** What A and B hold; C is always f32. */
  readonly inputs: RungProgram['inputs'];
  /** The row's words for the parameters that the kernel took on this device. */
  detail(problem: Problem, profile: Profile, params: Params): string;
}

/** A shape that is nothing special, to ask what a device lacks. */
const USUAL: Shape = { m: 64, n: 64, k: 64 };

export function fromKernel({ kernel, inputs, detail, ...named }: KernelRung): Rung {
  const problemOf = (shape: Shape) => normalize({ ...shape, type: inputs, cType: 'f32' });
  return {
    ...named,
    m4: null,
    missing: (profile, shape = USUAL) => {
      const problem = problemOf(shape);
      const reason = kernel.rejects(problem, profile);
      if (reason !== null) return reason;
      return kernel.candidates(problem, profile).length > 0
        ? null
        : 'no tile fits the matrices of the device';
    },
    build: (shape, profile) => {
      const problem = problemOf(shape);
      const { params, program } = firstThatFits(kernel, problem, profile);
      return {
        ...program,
        inputs,
        result: 'f32',
        arithmetic: kernel.arithmetic(problem),
        detail: detail(problem, profile, params),
        preparation: 'within',
      };
    },
  };
}

/** The kernel's best guess that the device has room for; where there is none, its last, whose broken limit is told. */
function firstThatFits(kernel: Kernel, problem: Problem, profile: Profile) {
  // Cutting K into slices is another idea, and ends with adding them up; a rung ends with the pass that multiplies.
  const candidates = kernel.candidates(problem, profile).filter(({ slices = 1 }) => slices === 1);
  for (const [index, params] of candidates.entries()) {
    const program = kernel.build(problem, profile, params);
    if (brokenLimit(program, profile) === null || index === candidates.length - 1) return { params, program };
  }
  throw new RangeError(`${kernel.name}: what is missing is not built`);
}

/** The tile of C that a workgroup makes, and its step along K. */
export const tileOf = ({ bm, bn, bk }: Params): string => `tiles of ${bm}×${bn}×${bk}`;

/** The matrices that are multiplied, the tile, the cells of C that a subgroup makes, and its lanes. */
export const ofMatrices = (tile: MatrixTile, times = ''): string =>
  `${matrixName(tile.config)}${times}, ${tileOf({ bm: tile.bm, bn: tile.bn, bk: tile.bk })}, ${tile.sm}×${tile.sn} cells a subgroup, ${tile.lanes} lanes`;
