/** What can be edited: the ladder's rungs, and the library's kernels with parameters of one's own. Pure. */
import { GemmError } from '../../../errors.ts';
import { KERNELS } from '../../../kernels/index.ts';
import type { Kernel, Params } from '../../../kernels/kernel.ts';
import type { RungProgram, Shape } from '../../../ladder/rung.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import { normalize, type Problem } from '../../../problem.ts';
import type { Profile } from '../../../profile.ts';
import { brokenLimit } from '../../../program.ts';

export type InputType = 'f32' | 'f16';

/** `rung:` and its number, or `kernel:` and its name. */
export type SourceId = `rung:${string}` | `kernel:${string}`;

/** The kernels for floats; the workbench has no integer matrices. */
const FLOAT_KERNELS = KERNELS.filter(({ name }) => name !== 'dot-i8');

export interface Choice {
  readonly id: SourceId;
  readonly label: string;
}

export const RUNG_CHOICES: readonly Choice[] = RUNGS.map(({ rung, idea }) => ({
  id: `rung:${rung}`,
  label: `${rung}: ${idea}`,
}));

export const KERNEL_CHOICES: readonly Choice[] = FLOAT_KERNELS.map(({ name, idea }) => ({
  id: `kernel:${name}`,
  label: `${name}: ${idea}`,
}));

/** The source that somebody names: a rung by its number or id, a kernel by its name; undefined for none there is. */
export function findSource(kind: 'rung' | 'kernel', name: string): SourceId | undefined {
  if (kind === 'kernel') return FLOAT_KERNELS.some(it => it.name === name) ? `kernel:${name}` : undefined;
  const found = RUNGS.find(({ rung, id }) => rung === name || id === name);
  return found && `rung:${found.rung}`;
}

export const kernelOf = (source: SourceId): Kernel | undefined =>
  FLOAT_KERNELS.find(({ name }) => source === `kernel:${name}`);

/** A short name for sentences. */
export const nameOf = (source: SourceId): string => source.replace(':', ' ');

const problemOf = (shape: Shape, type: InputType): Problem => normalize({ ...shape, type, cType: 'f32' });

/** Why a source can't multiply this shape on this device, or null. */
export function rejects(source: SourceId, shape: Shape, type: InputType, profile: Profile): string | null {
  const kernel = kernelOf(source);
  if (!kernel) return rungOf(source).missing(profile, shape);
  const reason = kernel.rejects(problemOf(shape, type), profile);
  if (reason) return reason;
  return candidatesOf(source, shape, type, profile).length > 0
    ? null
    : 'no tile fits the matrices of the device';
}

/** The parameters that a kernel would take by itself, the best guess first; none for a rung. */
export function candidatesOf(
  source: SourceId,
  shape: Shape,
  type: InputType,
  profile: Profile,
): readonly Params[] {
  const kernel = kernelOf(source);
  const problem = problemOf(shape, type);
  if (!kernel || kernel.rejects(problem, profile) !== null) return [];
  return kernel.candidates(problem, profile);
}

/**
 * The program as it comes.
 *
 * @throws GemmError `unsupported` where the device or the shape is not for it, `invalid-argument` with the kernel's own
 *   words where parameters do not go together
 */
export function programOf(
  source: SourceId,
  shape: Shape,
  type: InputType,
  params: Params | null,
  profile: Profile,
): RungProgram {
  const reason = rejects(source, shape, type, profile);
  if (reason) throw new GemmError('unsupported', reason);
  const kernel = kernelOf(source);
  if (!kernel) return tidy(rungOf(source).build(shape, profile));
  const problem = problemOf(shape, type);
  const chosen = params ?? kernel.candidates(problem, profile)[0];
  const program = kernel.build(problem, profile, chosen);
  const limit = params ? brokenLimit(program, profile) : null;
  if (limit) throw new GemmError('invalid-argument', limit, 'Take smaller tiles.');
  return tidy({
    ...program,
    ...{ inputs: type, result: 'f32', detail: '', preparation: 'within' },
    arithmetic: kernel.arithmetic(problem),
  });
}

/** Without the empty lines around a text: the editor shows its lines from the first. */
const tidy = (program: RungProgram): RungProgram => ({
  ...program,
  passes: program.passes.map(pass => ({ ...pass, wgsl: `${pass.wgsl.trim()}\n` })),
});

function rungOf(source: SourceId) {
  const rung = RUNGS.find(candidate => source === `rung:${candidate.rung}`);
  if (!rung) throw new GemmError('invalid-argument', `there is no ${nameOf(source)}`);
  return rung;
}
