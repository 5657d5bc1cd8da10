import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useFolder, webgemm } from './run.ts';

const path = useFolder();
const ladder = (...args: string[]) =>
  webgemm(['ladder', '--software', '--size', '17', '--min-time', '0.05', ...args]);

describe('ladder', () => {
  test('prints a table and a bar chart on a pipe', async () => {
    const { code, stdout, stderr } = await ladder('--rungs', '3,1,subgroup-shuffle,8');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^swiftshader-\S+ \(SwiftShader driver [\d.]+\) · Vulkan, Dawn [\d.]+, Node [\d.]+\n/,
    );
    expect(stdout).toContain('A 17×17, B 17×17');
    expect(stdout).toContain('This is a software GPU');
    expect(stdout).toMatch(/^rung +id +GFLOP\/s +× below +× rung 1 +time +spread +error +compile$/m);
    const figure = String.raw`[\d.]+`;
    const time = String.raw`[\d.]+ (µs|ms|s)`;
    const row = (rung: string, below: string) =>
      new RegExp(
        String.raw`^${rung} +${figure} +${below} +${figure}× +${time} +${figure} % +[\d.]+e-\d +${time}$`,
        'm',
      );
    expect(stdout).toMatch(row('1 +naive', '–'));
    expect(stdout).toMatch(row('3 +coalesced', '[\\d.]+×'));
    expect(stdout).toMatch(row('8s +subgroup-shuffle', '[\\d.]+×'));
    expect(stdout).toMatch(/^ +└ 4 lanes$/m);
    expect(stdout).toMatch(
      /^8 +subgroup-matrix +not here +the device has no `chromium-experimental-subgroup-matrix`$/m,
    );
    expect(stdout).toMatch(/^1 +a thread for each cell of C +[█▉▊▋▌▍▎▏]+ [\d.]+$/m);
    expect(stdout.indexOf('naive')).toBeLessThan(stdout.indexOf('coalesced'));
    expect(stdout).not.toContain('\x1b');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  test('says what it chose on a software GPU', async () => {
    const { stdout } = await webgemm(['ladder', '--software', '--rungs', '2']);
    expect(stdout).toContain('A 128×128, B 128×128');
    expect(stdout).toContain('128×128×128 and 300 ms a rung were chosen so that it takes under a minute.');
  });

  test('shows the preparing passes beside rung 7', async () => {
    const { stdout } = await ladder('--rungs', '7');
    expect(stdout).toMatch(/^ +└ beside it: pad A [\d.]+ (µs|ms), transpose B [\d.]+ (µs|ms)$/m);
  });

  test("shows the library's kernels as rungs, and why they are not here", async () => {
    const { code, stdout } = await ladder('--rungs', '9,tensor-f16,11');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^9 +register-tile +[\d.]+ +– +– /m);
    expect(stdout).toMatch(/^ +└ tiles of 64×64×8, 4×4 cells a thread$/m);
    expect(stdout).toMatch(/^10 +tensor-f16 +not here +f16 matrices, and the device has no `shader-f16`$/m);
    expect(stdout).toMatch(
      /^11 +split-f32 +not here +the device has no `chromium-experimental-subgroup-matrix`$/m,
    );
  });

  test('prints one JSON document and nothing else', async () => {
    const { code, stdout, stderr } = await ladder('--m', '5', '--k', '9', '--rungs', '1,2,8s,8', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const number = expect.any(Number);
    const ok = {
      status: 'ok',
      reason: null,
      ms: number,
      spread: number,
      gflops: number,
      relErr: number,
      worst: number,
      compileMs: number,
      overFirst: number,
      prepare: [],
    };
    const document = JSON.parse(stdout);
    expect(document).toEqual({
      schema: 'webgemm-ladder/1',
      date: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      adapter: expect.objectContaining({ vendor: 'google', software: true, subgroupMaxSize: 4 }),
      runtime: {
        name: 'node',
        version: process.versions.node,
        dawn: expect.any(String),
        platform: `${process.platform} ${process.arch}`,
      },
      problem: { m: 5, n: 17, k: 9 },
      timer: { kind: 'gpu-timestamp', resolutionNs: number },
      rungs: [
        { ...ok, rung: '1', id: 'naive', detail: null, overBelow: null, overFirst: 1 },
        { ...ok, rung: '2', id: 'workgroups', detail: null, overBelow: number },
        { ...ok, rung: '8s', id: 'subgroup-shuffle', detail: '4 lanes', overBelow: number },
        {
          ...Object.fromEntries(Object.keys(ok).map(key => [key, null])),
          rung: '8',
          id: 'subgroup-matrix',
          status: 'unsupported',
          reason: 'the device has no `chromium-experimental-subgroup-matrix`',
          detail: null,
          overBelow: null,
          prepare: [],
        },
      ],
    });
    for (const rung of document.rungs.slice(0, 3)) {
      expect(rung.gflops).toBeCloseTo((2 * 5 * 17 * 9) / rung.ms / 1e6, 9);
      expect(rung.worst).toBeLessThanOrEqual(1);
    }
  });

  test('writes an SVG chart', async () => {
    const { code, stdout } = await ladder('--rungs', '1,2,8', '--svg', path('chart.svg'));
    expect(code).toBe(0);
    expect(stdout).toContain(`The chart is in ${path('chart.svg')}.`);
    const svg = readFileSync(path('chart.svg'), 'utf8');
    expect(openTags(svg)).toEqual([]);
    expect(svg).toContain('a thread for each cell of C');
    expect(svg).toContain('17×17×17');
    expect(svg).toContain('not on this device');
  });
});

test('Ctrl-C ends the ladder at once and leaves no chart behind', async () => {
  const args = ['ladder', '--software', '--min-time', '30', '--svg', path('interrupted.svg')];
  const { code } = await webgemm(args, {}, /software GPU/);
  expect(code).toBe(130);
  expect(readdirSync(dirname(path('x'))).filter(name => name.startsWith('interrupted'))).toEqual([]);
});

describe('ladder refuses', () => {
  test.each<[string, string[], RegExp]>([
    ['an unknown rung', ['--rungs', '1,99'], /there is no rung "99"; the rungs are 1 \(naive\), 2/],
    ['no rung', ['--rungs', ','], /no rung is named; the rungs are/],
    ['size 0', ['--size', '0'], /--size is "0"; sizes are whole numbers from 1 up/],
    ['a negative size', ['--m', '-3'], /--m is "-3"; sizes are/],
    ['a fractional size', ['--k', '1.5'], /--k is "1\.5"; sizes are/],
    ['a size that is no number', ['--n', 'big'], /--n is "big"; sizes are/],
    ['a size beyond all integers', ['--n', '9'.repeat(20)], /--n is "9+"; sizes are/],
    [
      'a size too large for the device',
      ['--size', '50000'],
      /A of 50000×50000 needs 10000000256 bytes and this device binds at most \d+; the largest square size here is \d+/,
    ],
    ['no time', ['--min-time', '0'], /--min-time is "0"; give seconds/],
    ['a time that is no number', ['--min-time', 'long'], /--min-time is "long"; give seconds/],
    [
      'an SVG in no folder',
      ['--svg', 'no/such/chart.svg'],
      /no\/such\/chart\.svg can't be written: no such file or folder; give a path/,
    ],
    ['an unknown option', ['--fast'], /unknown option '--fast'; `webgemm --help`/],
    ['an argument too many', ['more'], /too many arguments/],
  ])('%s', async (_, args, message) => {
    const ran = await ladder(...args);
    expect(ran.stderr).toMatch(/^webgemm: [^\n]+\n$/);
    expect(ran.stderr).toMatch(message);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  });

  test('an adapter that is not there', async () => {
    const ran = await webgemm(['ladder', '--adapter', 'no such gpu']);
    expect(ran.stderr).toMatch(/^webgemm: there is no adapter "no such gpu": [^\n]+\n$/);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  });

  test('a software GPU that is not in the cache', async () => {
    const cache = { WEBGEMM_CACHE: path('empty-cache') };
    const ran = await webgemm(['ladder', '--adapter', 'lavapipe-25'], cache);
    expect(ran.stderr).toMatch(/^webgemm: lavapipe-25 is not in the cache[^\n]+\n$/);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  });

  test('--software with the name of a real GPU', async () => {
    const ran = await ladder('--adapter', 'nvidia');
    expect(ran.stderr).toMatch(/^webgemm: --software and --adapter nvidia contradict each other[^\n]+\n$/);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  });

  test('leaves no chart behind when the GPU refuses the size', async () => {
    await ladder('--size', '50000', '--svg', path('never.svg'));
    expect(existsSync(path('never.svg'))).toBe(false);
  });
});

/** Reads XML tag by tag. @returns what is not well formed: tags left open, closed twice, attributes without quotes */
function openTags(xml: string): string[] {
  const open: string[] = [];
  const rest = xml.replace(
    /<(\/?)([\w:]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g,
    (_, close, name, __, empty) => {
      if (close && open.pop() !== name) open.push(`</${name}>`);
      else if (!close && !empty) open.push(name);
      return '';
    },
  );
  const text = rest.replace(/<!\[CDATA\[[\s\S]*?\]\]>/g, '').replace(/&(amp|lt|gt|quot|apos|#\d+);/g, '');
  return /[<&]/.test(text) ? [...open, text] : open;
}
