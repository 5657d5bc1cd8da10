/**
 * What a kernel hands over to be run: passes over named buffers. Plain data, no device needed: the ladder, the
 * library, the tuner and the tests all build programs and give them to device/executable.ts.
 */

import type { Profile } from './profile.ts';

/** How a pass uses a buffer; the order in Pass.bindings is the order of `@binding(i)` in `@group(0)`. */
export interface Binding {
  /** `a`, `b`, `c`, another operand's name, or the name of one of the program's uniforms or scratch buffers. */
  readonly buffer: string;
  readonly access: 'uniform' | 'read' | 'read_write';
}

/** One dispatch of one shader. The entry point is always `main`. */
export interface Pass {
  readonly label: string;
  readonly wgsl: string;
  readonly bindings: readonly Binding[];
  /** Workgroups in x, y and z. */
  readonly workgroups: readonly [x: number, y: number, z: number];
  /** Invocations in a workgroup. */
  readonly threads: number;
  /** Bytes of workgroup memory that the shader declares. */
  readonly workgroupMemory: number;
}

/** What runs on the device for one problem: passes over named buffers. */
export interface Program {
  /** Run in this order. */
  readonly passes: readonly Pass[];
  /** Contents of the small uniform buffers that the passes name. */
  readonly uniforms: Readonly<Record<string, Uint32Array>>;
  /** Sizes in bytes of the buffers that the passes use between themselves. */
  readonly scratch: Readonly<Record<string, number>>;
}

export const reads = (buffer: string): Binding => ({ buffer, access: 'read' });
export const writes = (buffer: string): Binding => ({ buffer, access: 'read_write' });
export const uniform = (buffer: string): Binding => ({ buffer, access: 'uniform' });

/** Workgroups (or tiles, or steps) needed to cover `size` with pieces of `tile`. */
export const ceilDiv = (size: number, tile: number): number => Math.ceil(size / tile);

/** `size` rounded up to a multiple of `tile`. */
export const roundUp = (size: number, tile: number): number => ceilDiv(size, tile) * tile;

/** Workgroups a dimension may have on every device. */
const MAX_GRID = 65535;

/**
 * A grid of at least `total` workgroups, folded into y where x would be too long. The shader finds its number with
 * WGSL_WORKGROUP_INDEX and leaves if that is past the end.
 */
export function foldGrid(total: number): [x: number, y: number, z: number] {
  if (total <= MAX_GRID) return [total, 1, 1];
  const y = ceilDiv(total, MAX_GRID);
  return [ceilDiv(total, y), y, 1];
}

/** The first limit of the device that the program would break, as one line, or null. */
export function brokenLimit(program: Program, { limits }: Profile): string | null {
  for (const { label, workgroups, threads, workgroupMemory } of program.passes) {
    if (threads > limits.maxComputeInvocationsPerWorkgroup) {
      return `${label} needs ${threads} threads a workgroup, the device allows ${limits.maxComputeInvocationsPerWorkgroup}`;
    }
    if (workgroupMemory > limits.maxComputeWorkgroupStorageSize) {
      return `${label} needs ${workgroupMemory} bytes of workgroup memory, the device has ${limits.maxComputeWorkgroupStorageSize}`;
    }
    const grid = Math.max(...workgroups);
    if (grid > limits.maxComputeWorkgroupsPerDimension) {
      return `${label} needs ${grid} workgroups in a dimension, the device allows ${limits.maxComputeWorkgroupsPerDimension}`;
    }
  }
  for (const [name, size] of Object.entries(program.scratch)) {
    const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    if (size > most) return `${name} needs a binding of ${size} bytes, the device allows ${most}`;
  }
  return null;
}
