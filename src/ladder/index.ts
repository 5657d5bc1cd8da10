/**
 * The teaching kernels, and how to run them.
 *
 * @module webgemm/ladder
 */
export { type Climb, type ClimbOptions, climb, type PassTime, type Phase, type RungResult } from './climb.ts';
export type { Rung, RungProgram, Shape } from './rung.ts';
export { findRungs, RUNGS } from './rungs.ts';
