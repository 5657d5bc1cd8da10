/**
 * Verification against float64, and timing that waits for the clock.
 *
 * @module webgemm/measure
 */
export { type Measurement, type MeasureOptions, measure, measureTogether, type Work } from './measure.ts';
export { random, randomMatrix } from './random.ts';
export type { Matrix } from './reference.ts';
export { geometricMean, isSteady, median, quantile, spread } from './statistics.ts';
export { createTimer, type Timer } from './timer.ts';
export { type Arithmetic, gamma, magnitude, resultRounding, type Signs, sumBound } from './tolerance.ts';
export { type Product, type Verdict, verify } from './verify.ts';
