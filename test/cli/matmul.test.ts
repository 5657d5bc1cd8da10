import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parse } from 'npyjs';
import { describe, expect, test } from 'vitest';
import { fromHalves } from '../../src/float16.ts';
import { verify } from '../../src/measure/verify.ts';
import { narrowed } from '../unit/products.ts';
import { npyFile, someMatrix } from './npy-files.ts';
import { useFolder, webgemm } from './run.ts';

const path = useFolder();
const a = someMatrix(33, 20, 1);
const b = someMatrix(20, 17, 2);

const multiply = (aFile: string, bFile: string, cFile: string, ...more: string[]) =>
  webgemm(['matmul', path(aFile), path(bFile), '-o', path(cFile), '--software', ...more]);

/** A file as npyjs sees it, half floats as their bits. */
const read = (name: string) =>
  parse(new Uint8Array(readFileSync(path(name))).buffer, { convertFloat16: false });

const drafts = () => readdirSync(dirname(path('x'))).filter(name => name.includes('.part'));

describe('matmul', () => {
  test.each([
    { types: ['<f4', '<f4'], fortran: [false, false], rung: '1' },
    { types: ['<f4', '<f4'], fortran: [true, false], rung: '2' },
    { types: ['<f4', '<f4'], fortran: [false, true], rung: '3' },
    { types: ['<f2', '<f2'], fortran: [true, true], rung: '3' },
    { types: ['<f2', '<f4'], fortran: [false, true], rung: undefined },
    { types: ['<f2', '<f2'], fortran: [false, false], rung: 'vectorized' },
  ])('$types, Fortran order $fortran, rung $rung', async ({ types, fortran, rung }) => {
    const name = [...types, ...fortran].join().replace(/[<,]/g, '');
    writeFileSync(path(`a${name}.npy`), npyFile(a, { descr: types[0], fortran: fortran[0] }));
    writeFileSync(path(`b${name}.npy`), npyFile(b, { descr: types[1], fortran: fortran[1], version: 2 }));
    const ran = await multiply(
      `a${name}.npy`,
      `b${name}.npy`,
      `c${name}.npy`,
      ...(rung ? ['--rung', rung] : []),
    );
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const halves = types.every(type => type === '<f2');
    const c = read(`c${name}.npy`);
    expect(c).toMatchObject({ shape: [33, 17], fortranOrder: false, dtype: halves ? 'f2' : 'f4' });
    const verdict = verify({
      a: types[0] === '<f2' ? narrowed(a) : a,
      b: types[1] === '<f2' ? narrowed(b) : b,
      c: halves ? fromHalves(c.data as unknown as Uint16Array) : (c.data as unknown as Float32Array),
      arithmetic: 'f32',
      result: halves ? 'f16' : 'f32',
      signs: 'random',
    });
    expect(verdict.failure).toBeNull();
    expect(drafts()).toEqual([]);
  });

  test('says what it used and how long each part took', async () => {
    writeFileSync(path('a.npy'), npyFile(a));
    writeFileSync(path('b.npy'), npyFile(b));
    const { stdout } = await multiply('a.npy', 'b.npy', 'c.npy');
    expect(stdout).toMatch(/swiftshader.*software GPU\nrung 8s subgroup-shuffle: /i);
    for (const part of ['read', 'upload', 'compile', 'multiply', 'download', 'write']) {
      expect(stdout).toMatch(new RegExp(`^${part} +[\\d.]+ (µs|ms|s)\\b`, 'm'));
    }
    expect(stdout).toContain('A 33×20 float32, B 20×17 float32');
  });
});

describe('matmul refuses', () => {
  const good = npyFile(b);
  test.each<[string, Buffer | null, RegExp]>([
    ['a missing file', null, /bad\d+\.npy can't be read: no such file or folder; give the path/],
    [
      'what is no .npy',
      Buffer.from('PK\x03\x04, an archive, say'),
      /is not an \.npy file; write one with np\.save/,
    ],
    ['an empty file', Buffer.alloc(0), /is not an \.npy file/],
    ['a header cut off', good.subarray(0, 40), /is cut off/],
    [
      'numbers cut off',
      good.subarray(0, -8),
      /is cut off: it holds less than its header says; save or copy it again/,
    ],
    ['half a number cut off', good.subarray(0, -2), /is cut off/],
    [
      'a vector',
      npyFile(b, { shape: [340] }),
      /has the shape \(340,\), which is no matrix; give it two dimensions/,
    ],
    ['a stack of matrices', npyFile(b, { shape: [2, 10, 17] }), /has the shape \(2, 10, 17\)/],
    ['an empty matrix', npyFile(b, { shape: [20, 0] }), /n is 0; sizes are whole numbers from 1 up/],
    [
      'float64',
      npyFile(b, { descr: '<f8' }),
      /holds <f8, not float32 or float16.*; save it with np\.save\(path, x\.astype/,
    ],
    [
      'big-endian numbers',
      npyFile(b, { descr: '>f4' }),
      /holds >f4, not float32 or float16 in little-endian order/,
    ],
    [
      'inner dimensions that differ',
      npyFile(someMatrix(21, 17, 2)),
      /the inner dimensions 20 and 21 differ; A's columns/,
    ],
  ])('%s', async (name, content, message) => {
    const file = `bad${name.length}.npy`;
    if (content) writeFileSync(path(file), content);
    writeFileSync(path('a.npy'), npyFile(a));
    const ran = await multiply('a.npy', file, 'never.npy', '--rung', '1');
    expect(ran.stderr).toMatch(/^webgemm: [^\n]+\n$/);
    expect(ran.stderr).toMatch(message);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(existsSync(path('never.npy'))).toBe(false);
    expect(drafts()).toEqual([]);
  });

  test.each<[string, string[], RegExp]>([
    ['an unknown rung', ['--rung', '12'], /there is no rung "12"; the rungs are 1 \(naive\)/],
    ['two rungs', ['--rung', '1,2'], /--rung is "1,2"; name one rung/],
    [
      'a rung that does not run here',
      ['--rung', '8'],
      /rung 8 \(subgroup-matrix\) can't run: the device has no/,
    ],
    ['a folder as the output', ['-o', '.'], /\. can't be written: it is a folder; give a path/],
    ['an output in no folder', ['-o', 'no/such/c.npy'], /can't be written: no such file or folder/],
  ])('%s', async (_, options, message) => {
    writeFileSync(path('a.npy'), npyFile(a));
    writeFileSync(path('b.npy'), npyFile(b));
    const ran = await multiply('a.npy', 'b.npy', 'never.npy', ...options);
    expect(ran.stderr).toMatch(/^webgemm: [^\n]+\n$/);
    expect(ran.stderr).toMatch(message);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(existsSync(path('never.npy'))).toBe(false);
    expect(drafts()).toEqual([]);
  });

  test('to do without an output', async () => {
    const ran = await webgemm(['matmul', 'a.npy', 'b.npy']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(
      /^webgemm: required option '-o, --output <file>' not specified; `webgemm --help`/,
    );
  });
});
