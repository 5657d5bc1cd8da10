/** A library kernel's parameters as fields: what they are called, and what may be typed. Pure. */
import type { Params } from '../../../kernels/kernel.ts';

interface Parameter {
  readonly label: string;
  readonly hint: string;
  readonly least?: number;
  readonly most?: number;
}

/** Straight-line code is written for each cell of a thread: beyond, no GPU has the registers, and texts become huge. */
const MOST = 256;

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  bm: { label: 'BM', hint: 'rows of C a workgroup' },
  bn: { label: 'BN', hint: 'columns of C a workgroup' },
  bk: { label: 'BK', hint: 'step along K', most: 128 },
  tm: { label: 'TM', hint: 'rows of C a thread', most: 32 },
  tn: { label: 'TN', hint: 'columns of C a thread', most: 32 },
  sm: { label: 'SM', hint: 'rows of C a subgroup' },
  sn: { label: 'SN', hint: 'columns of C a subgroup' },
  slices: { label: 'Slices', hint: 'parts that K is cut into' },
  lanes: { label: 'Lanes', hint: 'threads that share K' },
  step: { label: 'Step', hint: 'step along K', most: 64 },
  products: { label: 'Products', hint: 'a workgroup makes at once' },
  stages: { label: 'Stages', hint: '1, or 2: a pipeline of two buffers', most: 2 },
  prefetch: { label: 'Prefetch', hint: 'steps fetched early', least: 0, most: 4 },
  ways: { label: 'Ways', hint: 'parts of K that a workgroup takes at once', most: 16 },
  stagger: { label: 'Stagger', hint: 'steps in which tiles begin apart', least: 0, most: 64 },
  pack: { label: 'Pack', hint: '1: operands are packed first, 2: A alone, 3: B alone', least: 0, most: 3 },
  still: { label: 'Still', hint: '1: loads of packed operands stay where they are put', least: 0, most: 1 },
  config: { label: 'Matrices', hint: 'which of the device’s sizes, from 0', least: 0, most: 15 },
  apart: { label: 'Apart', hint: '1: small products have sums of their own', least: 0, most: 1 },
  flush: { label: 'Flush', hint: 'K between two flushes', least: 0, most: 65536 },
};

/** Parameters that follow from the problem: there is one right value. */
const FIXED = ['tile'];

export const describeParameter = (name: string): Parameter => PARAMETERS[name] ?? { label: name, hint: '' };

/** The parameters of a kernel that can be chosen. */
export const freeNames = (params: Params): string[] =>
  Object.keys(params).filter(name => !FIXED.includes(name));

/** What is wrong with a number as it was typed, or null. */
export function wrongNumber(typed: string, least: number, most: number): string | null {
  const value = Number(typed);
  return typed.trim() !== '' && Number.isInteger(value) && value >= least && value <= most
    ? null
    : `a whole number from ${least} to ${most.toLocaleString('en-US')}`;
}

export function wrongParameter(name: string, typed: string): string | null {
  const { least = 1, most = MOST } = describeParameter(name);
  return wrongNumber(typed, least, most);
}

/** Such as `BM 64, BN 64, BK 16`. */
export const describeParams = (params: Params): string =>
  freeNames(params)
    .map(name => `${describeParameter(name).label} ${params[name]}`)
    .join(', ');
