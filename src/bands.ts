/**
 * Splitting of what exceeds a limit: a problem whose operands are larger than a binding becomes pieces whose bindings are
 * windows of the caller's buffers. Pure.
 *
 * A binding starts at a multiple of 256 bytes; the elements between there and the first one are the piece's own offset, so
 * rows of any length can be cut anywhere. The dimension that is cut is the one that an operand's rows run over: M for A,
 * K for a transposed A, K for B, N for a transposed B. Parts of K are added up in the scratch buffer `sums`, and a last
 * pass finishes them.
 */
import { GemmError } from './errors.ts';
import { BYTES, isEmpty, isInteger, type Operand, type Output, type Problem } from './problem.ts';
import { ceilDiv, roundUp } from './program.ts';

/** Sizes of a box of the product, or where it begins. */
export interface Box {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: number;
}

/** Bytes from the start of the caller's view on. */
export interface Window {
  readonly offset: number;
  readonly size: number;
}

export interface Piece {
  /**
   * - `multiply`: the whole of K, finished and stored into C.
   * - `accumulate`: a part of K, added to what `sums` holds, or stored there if it is the first part.
   * - `finish`: from `sums` into C.
   */
  readonly step: 'multiply' | 'accumulate' | 'finish';
  readonly start: Box;
  readonly size: Box;
  /** The part of C that `sums` holds while K is walked through, densely. */
  readonly band: { readonly start: Box; readonly size: Box };
  /** What the kernel computes. For `accumulate` its C is `sums`. */
  readonly problem: Problem;
  /** Parts of the operands to bind. An operand of which nothing is read has none. */
  readonly windows: Readonly<Record<string, Window>>;
}

export interface BandLimits {
  readonly maxStorageBufferBindingSize: number;
  readonly maxBufferSize: number;
  readonly minStorageBufferOffsetAlignment: number;
}

/** Bands are whole tiles of every kernel where they can be. */
const TILE = 128;

/**
 * The pieces of a problem, in the order in which they run; one where nothing exceeds a limit.
 *
 * @throws GemmError `too-large` where an operand can't be cut to fit: the message says which and by which limit
 */
export function split(problem: Problem, limits: BandLimits): readonly Piece[] {
  const { m, n, k, batch } = problem;
  const all: Box = { m, n, k, batch };
  const origin: Box = { m: 0, n: 0, k: 0, batch: 0 };
  const align = limits.minStorageBufferOffsetAlignment;
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  const whole = pieceOf(problem, 'multiply', origin, all, { start: origin, size: all }, align);
  if (isEmpty(problem)) return [];
  if (Object.values(whole.windows).every(({ size }) => size <= most)) return [whole];

  const size = bandSizes(problem, most, align);
  const pieces: Piece[] = [];
  for (const start of grid(all, { ...size, k: Math.max(1, k) })) {
    const band = { start, size: { ...within(all, start, size), k } };
    if (size.k >= k) {
      pieces.push(pieceOf(problem, 'multiply', start, band.size, band, align));
      continue;
    }
    for (let from = 0; from < k; from += size.k) {
      const depth = Math.min(size.k, k - from);
      const at = { ...start, k: from };
      pieces.push(pieceOf(problem, 'accumulate', at, { ...band.size, k: depth }, band, align));
    }
    pieces.push(pieceOf(problem, 'finish', start, band.size, band, align));
  }
  return pieces;
}

/** Two halves of a piece that takes too long for one submit, or null where it can't be cut. */
export function halve(problem: Problem, piece: Piece, align: number): readonly [Piece, Piece] | null {
  const { step, start, size, band } = piece;
  if (step === 'finish') return null;
  const cuts = (['batch', 'm', 'n'] as const).map(name => {
    const unit = name === 'batch' ? 1 : unitOf(problem, name, align);
    const half = Math.ceil(size[name] / 2);
    const cut = unit > 1 || half >= TILE ? roundUp(half, Math.max(unit, TILE)) : half;
    return { name, cut, works: cut < size[name] };
  });
  const [batch, m, n] = cuts;
  const chosen = [batch, ...(size.m >= size.n ? [m, n] : [n, m])].find(({ works }) => works);
  if (!chosen) return null;
  const { name, cut } = chosen;
  const rest = { ...start, [name]: start[name] + cut };
  return [
    pieceOf(problem, step, start, { ...size, [name]: cut }, band, align),
    pieceOf(problem, step, rest, { ...size, [name]: size[name] - cut }, band, align),
  ];
}

/** Bytes of the scratch buffer `sums` that the pieces need; 0 where K is not cut. */
export function sumsBytes(pieces: readonly Piece[]): number {
  const sizes = pieces.filter(({ step }) => step === 'accumulate').map(({ band }) => band.size);
  return Math.max(0, ...sizes.map(({ m, n, batch }) => m * n * batch * 4));
}

/** A problem of the same kind with other sizes and layouts. */
export function resized(problem: Problem, size: Box, a: Layout, b: Layout, c: Layout): Problem {
  const shape = { ...problem, ...size };
  const unused = isEmpty(shape) || shape.k === 0;
  const operandA = { ...problem.a, ...a };
  const operandB = { ...problem.b, ...b };
  const output = { ...problem.c, ...c };
  return {
    ...shape,
    a: { ...operandA, extent: unused ? 0 : extentOf(operandA, rowsA(shape), size.batch) },
    b: { ...operandB, extent: unused ? 0 : extentOf(operandB, rowsB(shape), size.batch) },
    c: { ...output, extent: isEmpty(shape) ? 0 : extentOf(output, [size.m, size.n], size.batch) },
  };
}

export type Layout = Pick<Output, 'ld' | 'offset' | 'stride'>;

/** Stored rows, and elements in each. */
const rowsA = ({ m, k, a }: Problem): [number, number] => (a.trans ? [k, m] : [m, k]);
const rowsB = ({ n, k, b }: Problem): [number, number] => (b.trans ? [n, k] : [k, n]);

const extentOf = ({ ld, offset, stride }: Layout, [rows, cols]: [number, number], batch: number): number =>
  offset + (batch - 1) * stride + (rows - 1) * ld + cols;

function pieceOf(
  problem: Problem,
  step: Piece['step'],
  start: Box,
  size: Box,
  band: Piece['band'],
  align: number,
): Piece {
  const { a, b, c } = problem;
  const sums = step === 'accumulate';
  const bytesC = BYTES[c.type];
  const inSums: Layout = { ld: band.size.n, offset: 0, stride: band.size.m * band.size.n };
  const at = {
    a: placeOf(a, start.batch, a.trans ? [start.k, start.m] : [start.m, start.k], BYTES[a.type], align),
    b: placeOf(b, start.batch, b.trans ? [start.n, start.k] : [start.k, start.n], BYTES[b.type], align),
    c: sums
      ? placeOf(
          inSums,
          start.batch - band.start.batch,
          [start.m - band.start.m, start.n - band.start.n],
          4,
          align,
        )
      : placeOf(c, start.batch, [start.m, start.n], bytesC, align),
  };
  const kind = sums ? accumulation(problem, start.k > 0) : withOrigin(problem, start);
  const layoutC = sums ? { ...inSums, offset: at.c.rest } : { ...c, offset: at.c.rest };
  const part = resized(kind, size, { ...a, offset: at.a.rest }, { ...b, offset: at.b.rest }, layoutC);
  const windows: Record<string, Window> = {};
  const open = (name: string, offset: number, bytes: number) => {
    if (bytes > 0) windows[name] = { offset, size: roundUp(bytes, 4) };
  };
  if (step !== 'finish') {
    open('a', at.a.offset, part.a.extent * BYTES[a.type]);
    open('b', at.b.offset, part.b.extent * BYTES[b.type]);
  }
  open('c', at.c.offset, part.c.extent * BYTES[part.c.type]);
  const [from, length] = problem.bias === 'row' ? [start.n, size.n] : [start.m, size.m];
  if (part.bias !== 'none') open('bias', from * bytesC, length * bytesC);
  if (part.residual) open('residual', at.c.offset, part.c.extent * bytesC);
  return { step, start, size, band, problem: part, windows };
}

/** The bytes of a binding's start, and the elements from there to the first one. */
function placeOf(
  { ld, offset, stride }: Layout,
  batch: number,
  [row, col]: [number, number],
  bytes: number,
  align: number,
): { readonly offset: number; readonly rest: number } {
  const first = (offset + batch * stride + row * ld + col) * bytes;
  // An operand that begins at its view's start keeps its offset, and so the whole problem its own code.
  const begin = batch === 0 && row === 0 && col === 0 && offset * bytes < align ? 0 : first - (first % align);
  return { offset: begin, rest: (first - begin) / bytes };
}

/** A bare sum of a part of K. */
function accumulation(problem: Problem, further: boolean): Problem {
  return {
    ...problem,
    c: { ...problem.c, type: isInteger(problem.a.type) ? 'i32' : 'f32' },
    alpha: 1,
    beta: further ? 1 : 0,
    bias: 'none',
    activation: 'none',
    residual: false,
    epilogue: null,
  };
}

/** The caller's expression counts rows, columns and products of the whole problem. */
export function withOrigin(problem: Problem, start: Box): Problem {
  if (!problem.epilogue) return problem;
  const from: Record<string, number> = { row: start.m, col: start.n, batch: start.batch };
  const moved = (name: string) => (from[name] === 0 ? name : `(${name} + ${from[name]}u)`);
  return { ...problem, epilogue: problem.epilogue.replace(/\b(row|col|batch)\b/g, moved) };
}

/** Sizes of the largest pieces whose windows are all at most `most` bytes, and the slack that alignment costs. */
function bandSizes(problem: Problem, most: number, align: number): Box {
  const size: Record<keyof Box, number> = {
    m: problem.m,
    n: problem.n,
    k: problem.k,
    batch: problem.batch,
  };
  const cut = (what: string, name: 'm' | 'n' | 'k', atMost: number) => {
    if (size[name] <= atMost) return;
    const unit = name === 'k' ? 1 : unitOf(problem, name, align);
    if (atMost >= 1) size[name] = evenBand(size[name], atMost);
    if (atMost < 1 || size[name] % unit !== 0) {
      throw new GemmError(
        'too-large',
        `${what} can't be cut to fit into bindings of ${most} bytes (maxStorageBufferBindingSize)`,
        'Request a device with a higher limit, or split the problem into several.',
      );
    }
  };
  const cover = (
    what: string,
    layout: Layout,
    bytes: number,
    outer: 'm' | 'n' | 'k',
    inner: 'm' | 'n' | 'k',
  ) => {
    const room = Math.floor((most - align) / bytes);
    if ((size[outer] - 1) * layout.ld + size[inner] > room) {
      cut(what, outer, Math.max(1, Math.floor((room - size[inner]) / layout.ld) + 1));
      cut(what, inner, room);
    }
    const one = (size[outer] - 1) * layout.ld + size[inner];
    if (layout.stride > 0) {
      size.batch = Math.min(size.batch, Math.max(1, Math.floor((room - one) / layout.stride) + 1));
    }
  };
  const { a, b, c, bias } = problem;
  const operand = (what: string, it: Operand, outer: 'm' | 'n' | 'k', inner: 'm' | 'n' | 'k') =>
    cover(what, it, BYTES[it.type], outer, inner);
  operand('A', a, a.trans ? 'k' : 'm', a.trans ? 'm' : 'k');
  operand('B', b, b.trans ? 'n' : 'k', b.trans ? 'k' : 'n');
  cover('C', c, BYTES[c.type], 'm', 'n');
  const biasRoom = Math.floor(most / BYTES[c.type]);
  if (bias === 'row') cut('bias', 'n', biasRoom);
  if (bias === 'column') cut('bias', 'm', biasRoom);
  if (size.k < problem.k) cover('C', { ld: size.n, offset: 0, stride: size.m * size.n }, 4, 'm', 'n');
  return size;
}

/** A bias is bound where its band begins, so bands of it begin at multiples of the alignment. */
function unitOf({ bias, c }: Problem, name: 'm' | 'n', align: number): number {
  return bias === (name === 'n' ? 'row' : 'column') ? align / BYTES[c.type] : 1;
}

/** `total` in bands of nearly the same size, at most `most`, whole tiles where that goes. */
function evenBand(total: number, most: number): number {
  const whole = most - (most % TILE);
  if (whole === 0) return Math.ceil(total / ceilDiv(total, most));
  return Math.min(whole, roundUp(Math.ceil(total / ceilDiv(total, whole)), TILE));
}

/** Where boxes of a size begin that cover the whole. */
function* grid(all: Box, step: Box): Generator<Box> {
  for (let batch = 0; batch < all.batch; batch += step.batch) {
    for (let m = 0; m < all.m; m += step.m) {
      for (let n = 0; n < all.n; n += step.n) yield { batch, m, n, k: 0 };
    }
  }
}

const within = (all: Box, start: Box, size: Box): Box => ({
  batch: Math.min(size.batch, all.batch - start.batch),
  m: Math.min(size.m, all.m - start.m),
  n: Math.min(size.n, all.n - start.n),
  k: size.k,
});
