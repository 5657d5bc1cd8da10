/** The pieces of a plan, each with the kernel that was chosen for it, and what they need to run. */
import { type Piece, split, sumsBytes } from './bands.ts';
import { type Choice, type ChooseOptions, choose } from './choose.ts';
import type { Compiler, KernelOptions, Suggest } from './compile.ts';
import { type Bound, Executable } from './device/executable.ts';
import { type Explanation, explain } from './explain.ts';
import { reducePass } from './kernels/reduce.ts';
import { type Arithmetic, gamma } from './measure/tolerance.ts';
import type { View, Views } from './operands.ts';
import type { Problem } from './problem.ts';
import type { Profile } from './profile.ts';
import { type Program, roundUp } from './program.ts';
import { frame } from './wgsl/frame.ts';

export interface Part {
  readonly piece: Piece;
  /** Null for the pass that finishes the sums over parts of K: there is nothing to choose. */
  readonly choice: Choice | null;
  readonly program: Program;
}

/** A part that is compiled. */
export interface Ready extends Part {
  readonly executable: Executable;
}

/** The scratch buffer in which parts of K are added up. */
export const SUMS = 'sums';

/** What pace and reports call a part's kernel. */
export const kernelOf = ({ choice }: Part): string => choice?.ranked[0].kernel.name ?? 'finish';

/** How the parts compute: as the one with the widest bound does. */
export function arithmeticOf(parts: readonly Part[]): Arithmetic {
  const each = parts.flatMap(({ choice, piece }) => choice?.ranked[0].kernel.arithmetic(piece.problem) ?? []);
  const width = (arithmetic: Arithmetic) => gamma(arithmetic, 'any', 1);
  return each.reduce((widest, next) => (width(next) > width(widest) ? next : widest), each[0] ?? 'f32');
}

function partOf(piece: Piece, choice: Choice | null): Part {
  return { piece, choice, program: choice?.ranked[0].program ?? finishing(piece.problem) };
}

/** The choice for a piece, tried on the device. */
export async function selectPart(compiler: Compiler, piece: Piece, options: KernelOptions): Promise<Part> {
  return partOf(piece, piece.step === 'finish' ? null : await compiler.select(piece.problem, options));
}

/** The parts of a problem as they would be chosen, without a device. */
export function outlineParts(
  problem: Problem,
  profile: Profile,
  { suggest, ...options }: Omit<ChooseOptions, 'suggested'> & { readonly suggest: Suggest },
): readonly Part[] {
  const chosen = (piece: Problem) => choose(piece, profile, { ...options, suggested: suggest(piece) });
  return split(problem, profile.limits).map(piece =>
    partOf(piece, piece.step === 'finish' ? null : chosen(piece.problem)),
  );
}

/** Every distinct shader of the parts, in order. */
export function shadersOf(parts: readonly Part[]): readonly Shader[] {
  const passes = parts.flatMap(({ program }) => program.passes);
  return [...new Map(passes.map(({ label, wgsl }) => [wgsl, { label, wgsl }])).values()];
}

/** A pass's label and its WGSL. */
export interface Shader {
  readonly label: string;
  readonly wgsl: string;
}

/** Bytes of each scratch buffer that the parts use one after the other. */
export function scratchSizes(parts: readonly Part[]): Readonly<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const { program } of parts) {
    for (const [name, size] of Object.entries(program.scratch)) {
      sizes[name] = Math.max(sizes[name] ?? 0, roundUp(size, 4));
    }
  }
  const sums = sumsBytes(parts.map(({ piece }) => piece));
  return sums > 0 ? { ...sizes, [SUMS]: sums } : sizes;
}

/** What `explain()` says of a plan's parts. */
export function explanationOf(problem: Problem, profile: Profile, parts: readonly Part[]): Explanation {
  const chosen = parts.flatMap(({ choice }) => choice ?? []);
  const passedOver = chosen.flatMap(choice => choice.passedOver);
  return explain({
    problem,
    profile,
    ranked: chosen[0]?.ranked ?? [],
    passedOver: [...new Map(passedOver.map(it => [`${it.kernel} ${it.reason}`, it])).values()],
    expectedMs: chosen.reduce((sum, { ranked }) => sum + ranked[0].estimateMs, 0),
    scratch: scratchSizes(parts),
    passes: parts.flatMap(({ program }) => program.passes.map(({ label }) => label)),
    pieces: parts.length,
  });
}

export async function makeReady(compiler: Compiler, part: Part, scratch: Views): Promise<Ready> {
  return { ...part, executable: await Executable.create(compiler.device, part.program, scratch) };
}

/** Binds a part's windows of the operands. */
export function bindPart(
  compiler: Compiler,
  { piece, executable }: Ready,
  views: Views,
  scratch: Views,
): Bound {
  const nothing = { buffer: compiler.nothing };
  const bindings: Record<string, GPUBufferBinding> = { a: nothing, b: nothing };
  for (const [name, window] of Object.entries(piece.windows)) {
    const view = name === 'c' && piece.step === 'accumulate' ? scratch[SUMS] : views[name];
    bindings[name] = { ...view, offset: view.offset + window.offset, size: window.size };
  }
  if (piece.step === 'finish') bindings.partial = bandOf(piece, scratch[SUMS]);
  return executable.bind(bindings);
}

const bandOf = ({ band }: Piece, sums: View): View => ({
  ...sums,
  size: band.size.m * band.size.n * band.size.batch * 4,
});

/** Finishes the sums as the second pass of split-K does. */
const finishing = (problem: Problem): Program => ({
  passes: [reducePass(problem, 1)],
  uniforms: { params: frame(problem).params },
  scratch: {},
});
