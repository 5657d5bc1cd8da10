/** `webgemm/ladder`: the teaching kernels, and how to run them. */
export { type Climb, type ClimbOptions, climb, type Phase, type RungResult } from './climb.ts';
export type { Rung, RungProgram, Shape } from './rung.ts';
export { findRungs, RUNGS } from './rungs.ts';
