import type { Arithmetic } from '../measure/tolerance.ts';
import { isInteger, type Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';

/** f16 matrices need the feature; the reason where it is missing. */
export function needsF16({ a, b, c }: Problem, { features }: Profile): string | null {
  const half = [a.type, b.type, c.type].includes('f16');
  return half && !features.includes('shader-f16') ? 'f16 matrices, and the device has no `shader-f16`' : null;
}

/** Of kernels that multiply and add with the device's own f32 or i32 arithmetic. */
export const plainArithmetic = ({ a }: Problem): Arithmetic => (isInteger(a.type) ? 'exact' : 'f32');
