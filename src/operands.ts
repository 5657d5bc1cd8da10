/** The caller's buffers: what may be handed in, and the checks before anything is encoded. */
import { GemmError } from './errors.ts';
import { BYTES, isEmpty, type Problem } from './problem.ts';

/** A whole buffer or a part of one, in bytes. */
export type BufferView =
  | GPUBuffer
  | { readonly buffer: GPUBuffer; readonly offset?: number; readonly size?: number };

/** The operands of one run. A and B may be left out where k is 0, and everything where C is empty. */
export interface PlanBuffers {
  /** A as the problem lays it out: `offsetA`, `lda` and `strideA` count its elements. */
  readonly a?: BufferView;
  /** B likewise. */
  readonly b?: BufferView;
  /** C likewise; written, and read where beta is not 0. In no buffer that is also read. */
  readonly c?: BufferView;
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

export type Views = Readonly<Record<string, View>>;

/**
 * Checks the buffers of a problem.
 *
 * @throws GemmError `invalid-argument` for a missing buffer, usage flag or alignment, or for C in a buffer that is also
 *   read; `shape-mismatch` for a buffer that is too small
 */
export function checkBuffers(problem: Problem, buffers: PlanBuffers, alignment: number): Views {
  const views: Record<string, View> = {};
  for (const [name, bytes] of requiredBytes(problem)) {
    if (bytes > 0) views[name] = checkView(name, buffers[name as keyof PlanBuffers], bytes, alignment);
  }
  for (const [name, view] of Object.entries(views)) {
    if (name === 'c' || view.buffer !== views.c.buffer) continue;
    const how = overlap(view, views.c) ? 'overlaps it in memory' : 'lies in the same buffer';
    throw new GemmError(
      'invalid-argument',
      `C can't be written while ${name} is read: ${name} ${how}`,
      'WebGPU never lets a dispatch write a buffer that it also reads: give C a buffer of its own.',
    );
  }
  return views;
}

/** Bytes that each operand of the problem takes, from the start of its view; 0 where nothing of it is used. */
export function requiredBytes(problem: Problem): [name: keyof PlanBuffers, bytes: number][] {
  const { m, n, a, b, c, bias, residual } = problem;
  const bytesC = BYTES[c.type];
  return [
    ['a', a.extent * BYTES[a.type]],
    ['b', b.extent * BYTES[b.type]],
    ['c', c.extent * bytesC],
    ['bias', bias === 'none' || isEmpty(problem) ? 0 : (bias === 'row' ? n : m) * bytesC],
    ['residual', residual ? c.extent * bytesC : 0],
  ];
}

/**
 * Checks one buffer for `bytes` bytes of storage.
 *
 * @throws GemmError as checkBuffers
 */
export function checkView(
  name: string,
  given: BufferView | undefined,
  bytes: number,
  alignment: number,
): View {
  if (!given) {
    throw new GemmError('invalid-argument', `the buffer ${name} is missing`, `The problem needs ${name}.`);
  }
  const { buffer, offset = 0, size: whole } = isBuffer(given) ? { buffer: given } : given;
  if (!isBuffer(buffer)) {
    throw new GemmError(
      'invalid-argument',
      `${name} is not a GPUBuffer`,
      'Give a GPUBuffer or { buffer, offset, size }; matmul() takes typed arrays.',
    );
  }
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
      `This device binds at multiples of ${alignment}; the problem's own offsets shift by single elements.`,
    );
  }
  const size = whole ?? buffer.size - offset;
  if (!Number.isSafeInteger(size) || size < 0 || offset + size > buffer.size) {
    throw new GemmError(
      'shape-mismatch',
      `${name}'s view of ${size} bytes from ${offset} on ends outside its buffer of ${buffer.size} bytes`,
      'Give a view that lies inside its buffer.',
    );
  }
  // Whole words: WebGPU binds in words, and its buffers are made of them.
  const needed = Math.ceil(bytes / 4) * 4;
  if (size < needed) {
    throw new GemmError(
      'shape-mismatch',
      `${name} has ${size} bytes, and the problem needs ${needed}`,
      'Give a larger buffer or view.',
    );
  }
  return { buffer, offset, size: needed };
}

const isBuffer = (given: BufferView | undefined): given is GPUBuffer =>
  typeof (given as GPUBuffer | undefined)?.usage === 'number';

const overlap = (x: View, y: View): boolean => x.offset < y.offset + y.size && y.offset < x.offset + x.size;
