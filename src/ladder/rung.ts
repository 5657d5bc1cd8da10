import type { Arithmetic } from '../measure/tolerance.ts';
import type { MatrixConfig, Profile } from '../profile.ts';
import type { Program } from '../program.ts';

/** C = A·B with A of m×k, B of k×n and C of m×n, all in row order. */
export interface Shape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** A rung built for one shape and one device. */
export interface RungProgram extends Program {
  /** What A and B must hold. */
  readonly inputs: 'f32' | 'f16';
  /** What C will hold. */
  readonly result: 'f32' | 'f16';
  readonly arithmetic: Arithmetic;
  /** What was taken from the device, for the rung's row: matrix shape, types, subgroup size, tile. */
  readonly detail: string;
  /**
   * How the passes before the last one are timed. `beside`: shown, and not in the rung's time, so that two ways of multiplying
   * can be compared. `within`: part of it, as whoever needs a product pays for them each time.
   */
  readonly preparation: 'beside' | 'within';
}

/** One step of the ladder: one idea on top of the rung below it. */
export interface Rung {
  /** Its place: '1' to '11', or '8s' beside rung 8. */
  readonly rung: string;
  readonly id: string;
  /** The one idea, in a line. */
  readonly idea: string;
  /** GFLOP/s that the reference reached with it at 4096³ on an M4 laptop; null where it has no such rung. */
  readonly m4: number | null;
  /** What the device lacks for it, or null; with a shape also why it does not serve that. */
  missing(profile: Profile, shape?: Shape): string | null;
  /** Passes for C = A·B; the last one multiplies, those before it prepare operands. Only where nothing is missing. */
  build(shape: Shape, profile: Profile): RungProgram;
}

/** The contents of the uniform `Shape { m, n, k }` that every rung reads. */
export const shapeUniform = ({ m, n, k }: Shape): Uint32Array => Uint32Array.of(m, n, k);

/** The matrices that the units multiply, for a rung's row: their types and shape. */
export const matrixName = ({ componentType, resultComponentType, M, N, K }: MatrixConfig): string =>
  `${componentType}→${resultComponentType} ${M}×${N}×${K}`;

/** What the f32 rungs share: they run on every device, f32 in and f32 out. */
export const plainF32 = {
  inputs: 'f32',
  result: 'f32',
  arithmetic: 'f32',
  detail: '',
  preparation: 'beside',
} as const;
export const runsEverywhere = (): null => null;
