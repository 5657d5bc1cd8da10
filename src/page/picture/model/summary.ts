/** A rung in numbers, counted over everything that one workgroup does for its tile of C. */

import type { Shape } from '../../../ladder/rung.ts';
import { RUNGS } from '../../../ladder/rungs.ts';
import type { Profile } from '../../../profile.ts';
import { workgroupBytes } from './arrays.ts';
import { exampleProfile } from './example.ts';
import { mappingOf, pictureShape } from './mappings.ts';
import { distinct, SECTOR, transactions } from './memory.ts';
import { type Trace, trace } from './trace.ts';

export interface Summary {
  readonly rung: string;
  readonly id: string;
  readonly shape: Shape;
  readonly threads: number;
  readonly lanes: number;
  /** Cells of C that a thread makes; of a subgroup that makes them together, its share of them. */
  readonly cellsPerThread: number;
  /** Numbers of A and B that the threads ask global memory for, for each multiply-add. */
  readonly globalReads: number;
  /** Numbers read from workgroup memory for each multiply-add. */
  readonly workgroupReads: number;
  /** Bytes that come from global memory for a step of one K, in whole sectors, for the workgroup's tile. */
  readonly bytesPerK: number;
  /** Of the bytes that come in those sectors, the share that was asked for. */
  readonly used: number;
  /** Floating-point operations for each byte of those. */
  readonly intensity: number;
  /** Bytes that the workgroup has declared. */
  readonly workgroupMemory: number;
  /** Multiply-adds for each number of A, and of B, that was asked for from global memory. */
  readonly usesOfA: number;
  readonly usesOfB: number;
  /**
   * How many times as long the worst read of workgroup memory takes as it would without bank conflicts; null for matrices,
   * which the hardware spreads over its lanes as it likes.
   */
  readonly conflicts: number | null;
}

export function summarize(rung: string, traced: Trace): Summary {
  const { mapping, shape, steps } = traced;
  const products = mapping.tile.m * mapping.tile.n * shape.k;
  const count = { A: 0, B: 0, C: 0, workgroup: 0, sectors: 0, asked: 0, conflicts: 1 };
  for (const { kind, instructions } of steps) {
    if (kind === 'store') continue;
    for (const instruction of distinct(instructions)) {
      const { memory, operand } = mapping.arrays[instruction.array];
      if (instruction.how === 'write') continue;
      for (const { lanes, width, bytes, sectors, passes, leastPasses } of transactions(traced, instruction)) {
        if (memory === 'global') {
          count[operand] += lanes * width;
          count.sectors += sectors.length;
          count.asked += bytes;
        }
        if (memory === 'workgroup') {
          count.workgroup += instruction.matrix ? width : lanes * width;
          count.conflicts = Math.max(count.conflicts, passes / leastPasses);
        }
      }
    }
  }
  const moved = count.sectors * SECTOR;
  return {
    rung,
    id: RUNGS.find(known => known.rung === rung)?.id ?? '',
    shape,
    threads: mapping.threads,
    lanes: mapping.lanes,
    cellsPerThread: (mapping.tile.m * mapping.tile.n) / mapping.threads,
    globalReads: (count.A + count.B) / products,
    workgroupReads: count.workgroup / products,
    bytesPerK: moved / shape.k,
    used: count.asked / moved,
    intensity: (2 * products) / moved,
    workgroupMemory: workgroupBytes(mapping.arrays) + (mapping.undrawn ?? 0),
    usesOfA: products / count.A,
    usesOfB: products / count.B,
    conflicts: mapping.together ? null : count.conflicts,
  };
}

/** Every rung that has a picture, on this device, or on an example where the device can't run it; each as it is counted. */
export function* compareRungs(profile: Profile | null): Generator<Summary, undefined> {
  for (const { rung } of RUNGS) {
    const example = exampleProfile(rung, profile);
    if (!example) continue;
    const shape = pictureShape(rung, example.profile);
    yield summarize(rung, trace(mappingOf(rung, shape, example.profile), shape));
  }
}
