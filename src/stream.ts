/**
 * A product of host arrays in tiles that fit into a budget of device memory; a problem that fits is one tile. Parts of a
 * product are packed on the way, so any part of any layout can be a tile, and A's stays while B's go by. K is cut only
 * where even narrow tiles with all of K are too large: its parts are added up in f32 (or i32) on the device.
 */
import { type Box, type Layout, resized, withOrigin } from './bands.ts';
import { createBuffer, type HostArray, readBuffer, writeBuffer } from './device/buffers.ts';
import { GemmError } from './errors.ts';
import { fromHalves, toHalves } from './float16.ts';
import type { Plan, RunOptions } from './plan.ts';
import { BYTES, copiesOf, isEmpty, type Operand, operations, type Problem } from './problem.ts';

/** The operands as they lie on the host; everything but A and B is dense and of C's type. */
export interface HostOperands {
  readonly a: HostArray;
  readonly b: HostArray;
  readonly c?: HostArray;
  readonly bias?: HostArray;
  readonly residual?: HostArray;
}

/** What multiplies: a Gemm, seen from here. */
export interface Target {
  readonly device: GPUDevice;
  plan(problem: Problem): Promise<Plan>;
}

export interface StreamOptions extends RunOptions {
  /** Bytes of device memory to stay under. */
  readonly memory: number;
}

/**
 * Multiplies into `result`, which is dense.
 *
 * @throws GemmError `too-large` where not even single cells fit into `memory`, and what Gemm.plan and Plan.run throw
 */
export async function multiplyTiled(
  target: Target,
  problem: Problem,
  host: HostOperands,
  result: HostArray,
  options: StreamOptions,
): Promise<void> {
  if (isEmpty(problem)) return;
  const size = tileSize(problem, options.memory, target.device.limits.maxBufferSize);
  if (size.k < problem.k && problem.c.type === 'f16') {
    // Rounded once, at the end, as a kernel does.
    const sums = new Float32Array(result.length);
    const wide = { ...problem, c: { ...problem.c, type: 'f32' as const } };
    await multiplyTiles(target, wide, widened(host), sums, size, options);
    result.set(toHalves(sums));
    return;
  }
  await multiplyTiles(target, problem, host, result, size, options);
}

async function multiplyTiles(
  target: Target,
  problem: Problem,
  host: HostOperands,
  result: HostArray,
  size: Box,
  { signal, onProgress }: StreamOptions,
): Promise<void> {
  const buffers = new TileBuffers(target.device);
  const total = operations(problem);
  let done = 0;
  try {
    for (const tile of tiles(problem, size)) {
      const part = tileProblem(problem, tile);
      const plan = await target.plan(part);
      try {
        const c = await uploadTile(buffers, problem, part, tile, host);
        const progress = (share: number) => onProgress?.((done + share * operations(part)) / total);
        await plan.run(buffers.views(), {
          ...(signal ? { signal } : {}),
          ...(total > 0 ? { onProgress: progress } : {}),
        });
        if (tile.last) storeTile(problem, tile, await readTile(target.device, c, part), result);
      } finally {
        plan.destroy();
      }
      done += operations(part);
    }
    if (total === 0) onProgress?.(1);
  } finally {
    buffers.destroy();
  }
}

interface Tile {
  readonly start: Box;
  readonly size: Box;
  /** Whether it has all of m, n and k, so that the operands need no packing. */
  readonly whole: boolean;
  /** Whether it is the first and the last part of K. */
  readonly first: boolean;
  readonly last: boolean;
}

function* tiles({ m, n, k, batch }: Problem, size: Box): Generator<Tile> {
  const whole = size.m >= m && size.n >= n && size.k >= k;
  for (let product = 0; product < batch; product += size.batch) {
    for (let row = 0; row < m; row += size.m) {
      for (let col = 0; col < n; col += size.n) {
        for (let depth = 0; depth < Math.max(1, k); depth += Math.max(1, size.k)) {
          const here = {
            batch: Math.min(size.batch, batch - product),
            m: Math.min(size.m, m - row),
            n: Math.min(size.n, n - col),
            k: Math.min(size.k, k - depth),
          };
          const start = { batch: product, m: row, n: col, k: depth };
          yield { start, size: here, whole, first: depth === 0, last: depth + here.k >= k };
        }
      }
    }
  }
}

function tileProblem(problem: Problem, { start, size, whole, first, last }: Tile): Problem {
  const { a, b, beta } = problem;
  const kind: Problem = last
    ? { ...withOrigin(problem, start), beta: first ? beta : 1 }
    : {
        ...problem,
        beta: first ? beta : 1,
        bias: 'none',
        activation: 'none',
        residual: false,
        epilogue: null,
      };
  const layout = (operand: Operand, rows: number, cols: number): Layout =>
    whole ? { ...operand, offset: 0 } : operand.trans ? packed(cols, rows) : packed(rows, cols);
  return resized(kind, size, layout(a, size.m, size.k), layout(b, size.k, size.n), packed(size.m, size.n));
}

const packed = (rows: number, cols: number): Layout => ({
  ld: Math.max(1, cols),
  offset: 0,
  stride: rows * cols,
});

/** Halves what is largest until a tile fits. */
function tileSize(problem: Problem, memory: number, maxBufferSize: number): Box {
  const { m, n, k, batch, a, b, c, residual } = problem;
  const size = { m, n, k, batch };
  const fits = () => {
    const whole = size.m === m && size.n === n && size.k === k;
    const [bytesA, bytesB] = [BYTES[a.type], BYTES[b.type]];
    const sizes = [
      bytesA *
        (whole
          ? spanOf(a, size.batch, a.trans ? [k, m] : [m, k])
          : copiesOf(a, size.batch) * size.m * size.k),
      bytesB *
        (whole
          ? spanOf(b, size.batch, b.trans ? [n, k] : [k, n])
          : copiesOf(b, size.batch) * size.k * size.n),
      // C, and C once more on its way back.
      ...Array(residual ? 3 : 2).fill(BYTES[c.type] * size.batch * size.m * size.n),
    ];
    return Math.max(...sizes) <= maxBufferSize && sizes.reduce((sum, bytes) => sum + bytes) <= memory;
  };
  while (!fits()) {
    const side = size.m >= size.n ? 'm' : 'n';
    const name = size.batch > 1 ? 'batch' : size[side] > 64 || size.k <= 64 ? side : 'k';
    if (size[name] <= 1) {
      throw new GemmError(
        'too-large',
        `not even single cells of the product fit into ${memory} bytes of device memory`,
        'Allow more memory.',
      );
    }
    size[name] = half(size[name]);
  }
  return size;
}

/** Half, in whole tiles of most kernels where that goes. */
const half = (size: number) => (size > 128 ? Math.ceil(size / 128) * 64 : Math.ceil(size / 2));

const spanOf = ({ ld, stride }: Layout, batch: number, [rows, cols]: readonly [number, number]) =>
  Math.max(0, (batch - 1) * stride + (rows - 1) * ld + cols);

/** Brings a tile's operands to the device. @returns the buffer of C */
async function uploadTile(
  buffers: TileBuffers,
  problem: Problem,
  part: Problem,
  tile: Tile,
  host: HostOperands,
): Promise<GPUBuffer> {
  const { start, size, whole, first } = tile;
  const { a, b, n, m } = problem;
  const operand = (
    name: 'a' | 'b',
    layout: Operand,
    row: number,
    col: number,
    rows: number,
    cols: number,
  ) => {
    const [y, x, height, width] = layout.trans ? [col, row, cols, rows] : [row, col, rows, cols];
    const from = layout.offset + start.batch * layout.stride + y * layout.ld + x;
    const { extent } = part[name];
    const pack = () =>
      whole || width === layout.ld || height === 1
        ? host[name].subarray(from, from + extent)
        : packRows(host[name], from, layout.ld, height, width);
    return extent > 0 ? buffers.set(name, `${from} ${height} ${width}`, pack) : null;
  };
  await operand('a', a, start.m, start.k, size.m, size.k);
  await operand('b', b, start.k, start.n, size.k, size.n);
  const from = (start.batch * m + start.m) * n + start.n;
  const cells = (data: HostArray) =>
    size.n === n ? data.subarray(from, from + part.c.extent) : packRows(data, from, n, size.m, size.n);
  const cellBytes = part.c.extent * BYTES[part.c.type];
  const cell = `${from} ${size.m} ${size.n}`;
  if (first && host.c) await buffers.set('c', `${cell} first`, () => cells(host.c!));
  if (part.residual) await buffers.set('residual', cell, () => cells(host.residual!));
  if (part.bias !== 'none') {
    const [at, length] = part.bias === 'row' ? [start.n, size.n] : [start.m, size.m];
    await buffers.set('bias', `${at}`, () => host.bias!.subarray(at, at + length));
  }
  return buffers.reserve('c', cellBytes);
}

const storage = () => GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;

/** One buffer for each operand, as large as the largest tile so far, and what lies in it. */
class TileBuffers {
  readonly #device: GPUDevice;
  readonly #held = new Map<string, { readonly buffer: GPUBuffer; key: string }>();

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Writes an operand unless it is there already. */
  async set(name: string, key: string, data: () => HostArray): Promise<void> {
    if (this.#held.get(name)?.key === key) return;
    const content = data();
    const buffer = await this.reserve(name, content.byteLength);
    writeBuffer(this.#device, buffer, content);
    this.#held.set(name, { buffer, key });
  }

  async reserve(name: string, bytes: number): Promise<GPUBuffer> {
    const held = this.#held.get(name);
    if (held && held.buffer.size >= bytes) return held.buffer;
    held?.buffer.destroy();
    this.#held.delete(name);
    const buffer = await createBuffer(this.#device, `webgemm ${name}`, bytes, storage());
    this.#held.set(name, { buffer, key: '' });
    return buffer;
  }

  views(): Record<string, GPUBuffer> {
    return Object.fromEntries([...this.#held].map(([name, { buffer }]) => [name, buffer]));
  }

  destroy(): void {
    for (const { buffer } of this.#held.values()) buffer.destroy();
    this.#held.clear();
  }
}

function packRows(data: HostArray, from: number, ld: number, rows: number, cols: number): HostArray {
  const Type = data.constructor as new (length: number) => HostArray;
  const dense = new Type(rows * cols);
  for (let row = 0; row < rows; row++) {
    dense.set(data.subarray(from + row * ld, from + row * ld + cols), row * cols);
  }
  return dense;
}

async function readTile(device: GPUDevice, buffer: GPUBuffer, { c }: Problem): Promise<HostArray> {
  const bytes = await readBuffer(device, buffer, Math.ceil((c.extent * BYTES[c.type]) / 4) * 4);
  if (c.type === 'f32') return new Float32Array(bytes, 0, c.extent);
  return c.type === 'f16' ? new Uint16Array(bytes, 0, c.extent) : new Int32Array(bytes, 0, c.extent);
}

/** Copies a tile's cells to where they belong. */
function storeTile({ m, n }: Problem, { start, size }: Tile, cells: HostArray, result: HostArray): void {
  const from = (start.batch * m + start.m) * n + start.n;
  if (size.n === n) {
    result.set(cells, from);
    return;
  }
  for (let row = 0; row < size.m; row++) {
    result.set(cells.subarray(row * size.n, (row + 1) * size.n), from + row * n);
  }
}

/** Half floats as f32; exact. */
function widened(host: HostOperands): HostOperands {
  const wide = (data: HostArray | undefined) => (data instanceof Uint16Array ? fromHalves(data) : data);
  const [c, bias, residual] = [host.c, host.bias, host.residual].map(wide);
  return { ...host, ...(c ? { c } : {}), ...(bias ? { bias } : {}), ...(residual ? { residual } : {}) };
}
