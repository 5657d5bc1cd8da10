/**
 * The roofline of Williams, Waterman and Patterson (2009): what a device can reach at the most is bound by its memory where
 * a problem does little for each byte, and by its arithmetic where it does much. Pure.
 */
import type { BenchResult } from '../../../bench/record.ts';
import { isInteger, operations, type Problem } from '../../../problem.ts';
import { intensity } from './outline.ts';

/** A rate that arithmetic can't exceed. */
export interface Roof {
  readonly name: string;
  readonly label: string;
  /** 10⁹ operations a second. */
  readonly gflops: number;
  readonly unit: Unit;
}

/** Operations on floats, or on integers. */
export type Unit = 'FLOP' | 'OP';

export interface Roofs {
  /** 10⁹ bytes a second of a copy, read and written. */
  readonly gbps: number;
  /** The slowest first. */
  readonly compute: readonly Roof[];
}

/** A product that was measured. */
export interface Point {
  /** Operations for each byte that must be moved. */
  readonly intensity: number;
  readonly gflops: number;
  readonly unit: Unit;
  readonly label: string;
}

const LABELS: Readonly<Record<string, string>> = {
  'f32-fma': 'f32 multiply-adds',
  'matrix-f16-f32': 'matrix units, f16',
  'matrix-f16-f32-loads': 'matrix units, f16, loads included',
  'matrix-i8-i32': 'matrix units, 8 bits',
  'matrix-i8-i32-loads': 'matrix units, 8 bits, loads included',
};

export const labelOf = (name: string): string => LABELS[name] ?? name;

/** The roofs that were measured; null without a copy and one kind of arithmetic. */
export function roofsOf(results: readonly BenchResult[]): Roofs | null {
  const gbps = results.find(({ name }) => name === 'copy')?.gbps ?? null;
  const compute = results
    .filter(({ name, tflops }) => tflops !== null && !name.endsWith('-loads'))
    .map(({ name, tflops, dtype }): Roof => {
      return { name, label: labelOf(name), gflops: tflops! * 1000, unit: dtype === 'i8' ? 'OP' : 'FLOP' };
    })
    .sort((x, y) => x.gflops - y.gflops);
  return gbps !== null && compute.length > 0 ? { gbps, compute } : null;
}

/** Kernels that multiply with the subgroup's matrix units. */
const ON_MATRIX_UNITS = ['subgroup-matrix', 'split-f32'];

/** The arithmetic that bounds a kernel, as far as it was measured. */
export function roofOf(roofs: Roofs, kernel: string | null, { a }: Problem): Roof {
  const units = isInteger(a.type) ? 'matrix-i8-i32' : 'matrix-f16-f32';
  const name = ON_MATRIX_UNITS.includes(kernel ?? '') ? units : 'f32-fma';
  return roofs.compute.find(roof => roof.name === name) ?? roofs.compute[0];
}

/** What memory and this arithmetic allow at so many operations a byte. */
export const allowed = ({ gbps }: Roofs, { gflops }: Roof, perByte: number): number =>
  Math.min(gflops, gbps * perByte);

export const pointOf = (problem: Problem, ms: number, label: string): Point => ({
  ...{ intensity: intensity(problem), gflops: operations(problem) / ms / 1e6, label },
  unit: unitOf(problem),
});

export const unitOf = ({ a }: Problem): Unit => (isInteger(a.type) ? 'OP' : 'FLOP');

/** Both axes' ends, as powers of 2 and of 10. */
export interface Extent {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

export function extentOf({ gbps, compute }: Roofs, points: readonly Point[], perByte: number): Extent {
  const at = [perByte, ...points.map(point => point.intensity), compute[0].gflops / gbps].filter(x => x > 0);
  const rates = [...points.map(point => point.gflops), gbps].filter(y => y > 0);
  const most = compute[compute.length - 1].gflops;
  return {
    x: [
      Math.min(0.25, 2 ** Math.floor(Math.log2(Math.min(...at)))),
      Math.max(1024, 2 ** Math.ceil(Math.log2(4 * Math.max(...at)))),
    ],
    y: [
      10 ** Math.floor(Math.log10(Math.min(...rates, most / 100) / 1.5)),
      10 ** Math.ceil(Math.log10(Math.max(...rates, most) * 1.5)),
    ],
  };
}
