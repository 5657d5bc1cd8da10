/**
 * What the matrix kernels are prepared with, pass by pass: operands that begin anywhere in a word, with NaN beside every
 * row and behind the last one, where the binding ends.
 */
import { describe, expect, test } from 'vitest';
import { createBuffer, type HostArray, readBuffer, writeBuffer } from '../../src/device/buffers.ts';
import { Executable } from '../../src/device/executable.ts';
import { fromHalves, toHalves } from '../../src/float16.ts';
import { type PackedType, pack } from '../../src/kernels/pack.ts';
import { split } from '../../src/kernels/split.ts';
import { random } from '../../src/measure/random.ts';
import { BYTES, type InputType, type Operand } from '../../src/problem.ts';
import type { Program } from '../../src/program.ts';
import { randomArray } from '../../src/trial/operands.ts';
import { driver, useTestGpu } from './device.ts';

const gpu = useTestGpu();

/** So many products, of which each operand has copies of its own. */
const BATCH = 2;

interface Case {
  readonly name: 'a' | 'b';
  readonly trans: boolean;
  readonly type: InputType;
  readonly lines: number;
  readonly length: number;
  /** Elements between two rows, before the first and between two products. */
  readonly pad: number;
}

/** An operand whose gaps hold NaN, or the integer farthest from 0, and what its elements are. */
function laidOut({ name, trans, type, lines, length, pad }: Case) {
  const alongLines = (name === 'a') !== trans;
  const [rows, cols] = alongLines ? [lines, length] : [length, lines];
  const ld = cols + pad;
  const stride = rows * ld + pad;
  const extent = pad + (BATCH - 1) * stride + (rows - 1) * ld + cols;
  const operand: Operand = { type, trans, ld, offset: pad, stride, extent };
  const stored = randomArray(type, extent, random(7));
  const poison = { f32: Number.NaN, f16: 0x7e5a, i8: -128, u8: 255 }[type];
  // Behind the end there is as much again that is not bound.
  const data = new (stored.constructor as typeof Float32Array)(2 * extent + 64).fill(poison);
  const indexOf = (copy: number, line: number, at: number) =>
    pad + copy * stride + (alongLines ? line * ld + at : at * ld + line);
  for (let copy = 0; copy < BATCH; copy++) {
    for (let line = 0; line < lines; line++) {
      for (let at = 0; at < length; at++) {
        data[indexOf(copy, line, at)] = stored[indexOf(copy, line, at)];
      }
    }
  }
  const numbers = type === 'f16' ? fromHalves(data as unknown as Uint16Array<ArrayBuffer>) : data;
  return {
    operand,
    data: data as HostArray,
    /** An element of a row of op(A) or a column of op(B); 0 outside. */
    element: (copy: number, line: number, at: number) =>
      line < lines && at < length ? numbers[indexOf(copy, line, at)] : 0,
  };
}

/** Runs passes that read one operand and gives back what they wrote into one of their buffers. */
async function written(
  program: Program,
  { name }: Case,
  { operand, data }: ReturnType<typeof laidOut>,
  output: string,
): Promise<ArrayBuffer> {
  const { device } = gpu();
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const source = await createBuffer(device, name, data.byteLength, usage);
  writeBuffer(device, source, data);
  const targets = new Map<string, GPUBuffer>();
  for (const [buffer, bytes] of Object.entries(program.scratch)) {
    targets.set(buffer, await createBuffer(device, buffer, bytes, usage));
  }
  const bound = Object.fromEntries([...targets].map(([name, buffer]) => [name, { buffer }]));
  const executable = await Executable.create(device, program, bound);
  // Whole words, as device buffers of a plan are bound.
  const size = Math.ceil((operand.extent * BYTES[operand.type]) / 4) * 4;
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  executable.bind({ [name]: { buffer: source, size } }).encode(pass);
  pass.end();
  device.queue.submit([encoder.finish()]);
  const bytes = await readBuffer(device, targets.get(output) as GPUBuffer);
  executable.destroy();
  source.destroy();
  for (const target of targets.values()) target.destroy();
  return bytes;
}

const SIDES = [
  { name: 'a', trans: false },
  { name: 'a', trans: true },
  { name: 'b', trans: false },
  { name: 'b', trans: true },
] as const;

/** More than a piece either way, in no multiple of anything; words are whole only where there is no padding. */
const SIZES = [
  { lines: 139, length: 141, pads: [0, 1, 3] },
  { lines: 144, length: 272, pads: [0, 2, 4, 8] },
  { lines: 1, length: 1, pads: [0, 3] },
] as const;

const PACKED: readonly { from: InputType; to: PackedType; order: 'lines' | 'steps' }[] = [
  { from: 'f16', to: 'f16', order: 'lines' },
  { from: 'f32', to: 'f16', order: 'lines' },
  { from: 'i8', to: 'i8', order: 'lines' },
  { from: 'u8', to: 'u8', order: 'lines' },
  { from: 'f32', to: 'f32', order: 'steps' },
  { from: 'f16', to: 'f32', order: 'steps' },
];

/** Half of them where each takes a second to compile, each way that rows may run once. */
const SLOW = ['swiftshader', 'chromium'].includes(driver);
const HERE = PACKED.filter((_, i) => !SLOW || i % 2 === 0);
const SIDES_HERE = SIDES.filter(({ trans }) => !SLOW || !trans);

describe.each(HERE)('$from packed as $to in $order', ({ from: type, to, order }) => {
  test.each(SIDES_HERE)('$name, transposed $trans', async side => {
    for (const { pads, ...size } of SIZES) {
      for (const pad of pads) {
        const it: Case = { ...side, ...size, type, pad };
        const source = laidOut(it);
        const block = [32, 16] as const;
        // One step more than there is K.
        const steps = Math.ceil(it.length / block[1]) + 1;
        const { passes, uniforms, scratch } = pack(
          { order, type: to, wordBytes: 16, length: it.length, batch: BATCH, steps },
          [{ name: it.name, operand: source.operand, lines: it.lines, block }],
        );
        const name = `packed${it.name.toUpperCase()}`;
        const bytes = await written({ passes, uniforms, scratch }, it, source, name);
        const found = numbersOf(bytes, to);
        const tiles = Math.ceil(it.lines / block[0]);
        const due = found.map((_, index) => {
          const { copy, line, at } = placeOf(index, { order, block, tiles, steps, word: 16 / BYTES[to] });
          const value = source.element(copy, line, at);
          return to === 'f16' ? fromHalves(toHalves(Float32Array.of(value)))[0] : value;
        });
        expect(found.length, JSON.stringify(it)).toBe(BATCH * tiles * block[0] * steps * block[1]);
        expect(
          found.findIndex((value, index) => value !== due[index]),
          JSON.stringify(it),
        ).toBe(-1);
      }
    }
  });
});

function numbersOf(bytes: ArrayBuffer, type: PackedType): readonly number[] {
  if (type === 'f16') return [...fromHalves(new Uint16Array(bytes))];
  return [...new { f32: Float32Array, i8: Int8Array, u8: Uint8Array }[type](bytes)];
}

/** Which element the blocks hold at an index: lines in eights, a word of each after the other; or for one K all lines. */
function placeOf(
  index: number,
  {
    order,
    block: [lines, k],
    tiles,
    steps,
    word,
  }: { order: string; block: readonly [number, number]; tiles: number; steps: number; word: number },
) {
  const inBlock = index % (lines * k);
  const block = Math.floor(index / (lines * k));
  const tile = Math.floor(block / steps);
  const [line, at] =
    order === 'lines'
      ? [
          Math.floor(inBlock / (8 * k)) * 8 + (Math.floor(inBlock / word) % 8),
          (Math.floor(inBlock / (8 * word)) % (k / word)) * word + (inBlock % word),
        ]
      : [inBlock % lines, Math.floor(inBlock / lines)];
  return {
    copy: Math.floor(tile / tiles),
    line: (tile % tiles) * lines + line,
    at: (block % steps) * k + at,
  };
}

/** More sizes: lines of many loads, and so many lines that a workgroup takes eight. */
const LONG = [
  { lines: 6, length: 1027, pads: [0, 1] },
  { lines: 37, length: 2100, pads: [3] },
  { lines: 530, length: 96, pads: [0] },
] as const;

/** What brings the largest element of each line to [2^14, 2^15). */
function scalesOf({ lines, length }: Case, { element }: ReturnType<typeof laidOut>): number[] {
  return Array.from({ length: BATCH * lines }, (_, i) => {
    const line = Array.from({ length }, (_, at) => element(Math.floor(i / lines), i % lines, at));
    return 2 ** (14 - Math.floor(Math.log2(Math.max(...line.map(Math.abs)))));
  });
}

test.each(SIDES)('scales alone of $name, transposed $trans', async side => {
  for (const { pads, ...size } of [...SIZES, ...LONG]) {
    for (const pad of pads) {
      const it: Case = { ...side, ...size, type: 'f32', pad };
      const source = laidOut(it);
      const prepared = split([{ ...it, operand: source.operand, batch: BATCH, firstScale: 0 }]);
      expect(prepared.a ?? prepared.b).toBe(undefined);
      const program = { ...prepared, scratch: { scales: BATCH * it.lines * 4 } };
      const bytes = await written(program, it, source, 'scales');
      expect([...new Float32Array(bytes, 0, BATCH * it.lines)], JSON.stringify(it)).toEqual(
        scalesOf(it, source),
      );
    }
  }
});

test.each(SIDES)('a high and a low part of $name, transposed $trans', async side => {
  for (const { pads, ...size } of [...SIZES, ...LONG]) {
    for (const pad of pads) {
      const it: Case = { ...side, ...size, type: 'f32', pad };
      const source = laidOut(it);
      const block = [32, 16] as const;
      // One step more than there is K.
      const steps = Math.ceil(it.length / block[1]) + 1;
      const blocks = { lines: block[0], k: block[1], steps };
      const prepared = split([{ ...it, operand: source.operand, batch: BATCH, firstScale: 0, blocks }]);
      const part = prepared[it.name]?.part ?? 0;
      const program = { ...prepared, scratch: { ...prepared.scratch, scales: BATCH * it.lines * 4 } };
      const scales = [...new Float32Array(await written(program, it, source, 'scales'), 0, BATCH * it.lines)];
      expect(scales, JSON.stringify(it)).toEqual(scalesOf(it, source));
      const bytes = await written(program, it, source, `packed${it.name.toUpperCase()}`);
      const found = fromHalves(new Uint16Array(bytes));
      const tiles = Math.ceil(it.lines / block[0]);
      expect(found.length, JSON.stringify(it)).toBe(2 * BATCH * tiles * block[0] * steps * block[1]);
      const wrong = Array.from({ length: part }, (_, index) => {
        const { copy, line, at } = placeOf(index, { order: 'lines', block, tiles, steps, word: 8 });
        const due = source.element(copy, line, at) * (scales[copy * it.lines + line] ?? 1);
        const [high, low] = [found[index], found[part + index]];
        // The high part is the nearest number of 11 bits, and the low one that of what is left.
        return (
          Math.abs(low) > Math.abs(due) * 2 ** -11 || Math.abs(due - high - low) > Math.abs(due) * 2 ** -22
        );
      });
      expect(wrong.indexOf(true), JSON.stringify(it)).toBe(-1);
    }
  }
});
