import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { useFolder, webgemm } from './run.ts';

const path = useFolder();
const bench = (...args: string[]) => webgemm(['bench', '--software', '--min-time', '0.02', ...args]);
const TINY = '16x16x16';

const time = String.raw`[\d.]+ (?:µs|ms|s)`;

describe('bench', () => {
  test('prints a row for each product', async () => {
    const { code, stdout, stderr } = await bench('--shapes', `${TINY},1x64x32,17x9x20x3`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^swiftshader-\S+ \(SwiftShader driver/);
    expect(stdout).toContain('This is a software GPU');
    expect(stdout).not.toContain('Small shapes were chosen');
    expect(stdout).toMatch(/^m×n×k +type +kernel +time +spread +speed +error$/m);
    const row = (shape: string, kernel: string, unit: string) =>
      new RegExp(`^${shape} +f32 +${kernel} +${time} +[\\d.]+ % +[\\d.]+ [kMGT]?${unit} +[\\d.]+e-\\d$`, 'm');
    expect(stdout).toMatch(row('16×16×16', '[\\w-]+', 'FLOP/s'));
    expect(stdout).toMatch(row('1×64×32', 'gemv', 'B/s'));
    expect(stdout).toMatch(row('3 × 17×9×20', '[\\w-]+', 'FLOP/s'));
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  test('prints one JSON document and nothing else', async () => {
    const args = ['--shapes', TINY, '--dtype', 'f32,i8', '--kernel', 'plain', '--machine', 'mine', '--json'];
    const { code, stdout, stderr } = await bench(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const number = expect.any(Number);
    const document = JSON.parse(stdout);
    const result = {
      ...{ group: 'ours', name: 'webgemm', dtype: 'f32', accuracy: 'f32', shape: [16, 16, 16], batch: 1 },
      ...{ transA: false, transB: false, ms: number, spread: number, tflops: number, gbps: number },
      ...{ relErr: number, worst: number, kernel: 'plain', params: { tile: 16 }, robustness: true },
      ...{ timer: 'gpu-timestamp', coldPlanMs: number, warmPlanMs: number, failure: null },
    };
    expect(document).toEqual({
      schema: 'webgemm-bench/1',
      date: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      machine: 'mine',
      adapter: expect.objectContaining({ vendor: 'google', software: true }),
      runtime: expect.objectContaining({ name: 'node', version: process.versions.node }),
      versions: { webgemm: expect.any(String), node: process.versions.node, dawn: expect.any(String) },
      results: [result, { ...result, dtype: 'i8', relErr: 0, worst: 0 }],
    });
    const [{ ms, tflops, gbps }] = document.results;
    expect(tflops).toBeCloseTo((2 * 16 ** 3) / ms / 1e9, 9);
    expect(gbps).toBeCloseTo((3 * 16 * 16 * 4) / ms / 1e6, 9);
  });

  test('takes parameters of a kernel, and writes a chart', async () => {
    const params = 'bm=64,bn=64,bk=16,tm=4,tn=4,slices=1';
    const chart = path('bench.svg');
    const args = ['--shapes', TINY, '--kernel', 'register-tile', '--params', params, '--svg', chart];
    const { code, stdout } = await bench(...args, '--accuracy', 'strict');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^16×16×16 +f32 +register-tile /m);
    expect(stdout).toContain(`The chart is in ${chart}.`);
    expect(readFileSync(chart, 'utf8')).toMatch(/^<svg[\s\S]*16×16×16 f32 strict/);
  });

  test('says of a peer why it is not there', async () => {
    const { code, stdout } = await bench('--shapes', TINY, '--peers', 'onnx-node');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ONNX Runtime node .+$/m);
  });
});

describe('bench refuses', () => {
  test.each<[string, string[], RegExp]>([
    ['what is no shape', ['--shapes', '16x16'], /"16x16" is neither a shape nor a set of shapes; give MxNxK/],
    ['no shape', ['--shapes', ''], /"" is neither a shape nor a set/],
    ['an unknown type', ['--dtype', 'f64'], /--dtype is "f64"; give one or more of f32, f16, i8/],
    ['an unknown accuracy', ['--accuracy', 'high'], /argument 'high' is invalid. Allowed choices are f32/],
    ['an unknown kernel', ['--kernel', 'fast'], /there is no kernel "fast"; the kernels are /],
    ['parameters of no kernel', ['--params', 'bm=4'], /--params without --kernel; name the kernel/],
    [
      'what is no parameter',
      ['--kernel', 'plain', '--params', 'tile'],
      /--params has "tile"; give NAME=NUMBER/,
    ],
    ['an unknown peer', ['--peers', 'jax,numpy'], /there is no peer "numpy"; the peers are tensorflow, /],
    ['a kernel that can not serve', ['--kernel', 'subgroup-matrix'], /subgroup-matrix/],
    ['a type that the GPU lacks', ['--dtype', 'f16'], /f16/],
    ['no time', ['--min-time', '0'], /--min-time is "0"; give seconds/],
    ['a chart in no folder', ['--svg', 'no/such/chart.svg'], /no\/such\/chart\.svg can't be written/],
  ])('%s', async (_, args, message) => {
    const ran = await bench(...(args.includes('--shapes') ? [] : ['--shapes', TINY]), ...args);
    expect(ran.stderr).toMatch(/^webgemm: [^\n]+\n$/);
    expect(ran.stderr).toMatch(message);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  });

  test('and leaves no chart behind', async () => {
    const chart = path('never.svg');
    expect((await bench('--shapes', TINY, '--dtype', 'f16', '--svg', chart)).code).toBe(2);
    expect(existsSync(chart)).toBe(false);
  });
});
