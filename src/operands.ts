/** The caller's buffers: what may be handed in, and the checks before anything is encoded. */
import { GemmError } from './errors.ts';
import { BYTES, type Problem } from './problem.ts';

/** A whole buffer or a part of one, in bytes. */
export type BufferView =
  | GPUBuffer
  | { readonly buffer: GPUBuffer; readonly offset?: number; readonly size?: number };

export interface PlanBuffers {
  readonly a: BufferView;
  readonly b: BufferView;
  readonly c: BufferView;
  /** n or m elements of C's type, where the problem has a bias. */
  readonly bias?: BufferView;
  /** Laid out like C and of its type, where the problem adds a residual. */
  readonly residual?: BufferView;
}

/** A view with nothing left out. */
export interface View {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

/**
 * Checks the buffers of a problem.
 *
 * @throws GemmError `invalid-argument` for a missing buffer, usage flag or alignment, or for C overlapping an input;
 *   `shape-mismatch` for a buffer that is too small
 */
export function checkBuffers(
  problem: Problem,
  buffers: PlanBuffers,
  limits: { readonly minStorageBufferOffsetAlignment: number },
): Readonly<Record<string, View>> {
  const views: Record<string, View> = {};
  for (const [name, bytes] of requiredBytes(problem)) {
    const given = buffers[name as keyof PlanBuffers];
    if (!given) {
      throw new GemmError('invalid-argument', `the buffer ${name} is missing`, `The problem needs ${name}.`);
    }
    views[name] = checkView(name, given, bytes, limits.minStorageBufferOffsetAlignment);
  }
  for (const [name, view] of Object.entries(views)) {
    if (name !== 'c' && overlap(view, views.c)) {
      throw new GemmError(
        'invalid-argument',
        `C overlaps ${name} in memory`,
        'WebGPU cannot write a part of a buffer that it reads in the same dispatch: give C a place of its own.',
      );
    }
  }
  return views;
}

/** Bytes that each operand of the problem takes, from the start of its view. */
export function requiredBytes({ m, n, a, b, c, bias, residual }: Problem): [name: string, bytes: number][] {
  return [
    ['a', a.extent * BYTES[a.type]],
    ['b', b.extent * BYTES[b.type]],
    ['c', c.extent * BYTES[c.type]],
    ...(bias === 'none' ? [] : [['bias', (bias === 'row' ? n : m) * BYTES[c.type]] as [string, number]]),
    ...(residual ? [['residual', c.extent * BYTES[c.type]] as [string, number]] : []),
  ];
}

function checkView(name: string, given: BufferView, bytes: number, alignment: number): View {
  const { buffer, offset = 0 } = 'buffer' in given ? given : { buffer: given };
  const size = ('buffer' in given ? given.size : undefined) ?? buffer.size - offset;
  if (!(buffer.usage & GPUBufferUsage.STORAGE)) {
    throw new GemmError(
      'invalid-argument',
      `${name} has no STORAGE usage`,
      'Create it with GPUBufferUsage.STORAGE.',
    );
  }
  if (!Number.isSafeInteger(offset) || offset < 0 || offset % alignment !== 0) {
    throw new GemmError(
      'invalid-argument',
      `${name} starts at byte ${offset}`,
      `This device binds at multiples of ${alignment}; offset${name.toUpperCase()} shifts by single elements.`,
    );
  }
  if (!Number.isSafeInteger(size) || size < 0 || offset + size > buffer.size) {
    throw new GemmError('shape-mismatch', `${name}'s view ends past its buffer of ${buffer.size} bytes`);
  }
  // Whole words: WebGPU binds in words, and its buffers are made of them.
  const needed = Math.ceil(bytes / 4) * 4;
  if (size < needed) {
    throw new GemmError('shape-mismatch', `${name} has ${size} bytes, and the problem needs ${needed}`);
  }
  return { buffer, offset, size: Math.max(4, needed) };
}

const overlap = (x: View, y: View): boolean =>
  x.buffer === y.buffer && x.offset < y.offset + y.size && y.offset < x.offset + x.size;
