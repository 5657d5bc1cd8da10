import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { cacheFolder } from '../../src/node/software.ts';
import { readTuningRecord } from '../../src/tuning/record.ts';
import { useFolder, webgemm } from './run.ts';

const path = useFolder();
const tune = (args: readonly string[], env: Record<string, string> = {}, interruptAt?: RegExp) =>
  webgemm(['tune', '--software', ...args], env, interruptAt);

describe('tune', () => {
  test('prints a table and writes the record that --out names', async () => {
    const file = path('tuned.json');
    const { code, stdout, stderr } = await tune([
      '--shapes',
      '16x16x16,1x64x32',
      '--budget',
      '8',
      '--out',
      file,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('2 shapes, f32, accuracy f32, 8.00 s');
    expect(stdout).toMatch(/^m×n×k +before +after +speed-up +kernel +parameters$/m);
    const time = String.raw`[\d.]+ (µs|ms|s)`;
    expect(stdout).toMatch(new RegExp(String.raw`^1×64×32 +${time} +${time} +[\d.]+× +\S+ +\w+ \d`, 'm'));
    expect(stdout).toContain(`The record is in ${file}.`);
    expect(stdout).not.toContain('\x1b');
    const record = readTuningRecord(JSON.parse(readFileSync(file, 'utf8')));
    expect(record.entries.map(({ m, n, k }) => [m, n, k])).toEqual([
      [1, 64, 32],
      [16, 16, 16],
    ]);
    expect(record.runtime).toMatch(/^Node [\d.]+, Dawn /);
  });

  test('Ctrl-C keeps what was measured', async () => {
    const file = path('interrupted.json');
    const shapes = '8x8x8,64x64x64,65x65x65,66x66x66';
    const { code, stdout } = await tune(['--shapes', shapes, '--out', file], {}, /4 shapes, f32/);
    expect(code).toBe(130);
    expect(stdout).toContain('Stopped.');
    const record = readTuningRecord(JSON.parse(readFileSync(file, 'utf8')));
    expect(record.entries.length).toBeLessThan(4);
  });

  test.each([
    [['--shapes', '16x16'], /"16x16" is neither a shape nor a set of shapes; give MxNxK/],
    [['--shapes', 'cubes'], /square, odd, language-models/],
    [['--shapes', '0x1x1'], /"0x1x1" is neither/],
    [['--budget', '0'], /--budget is "0"/],
    [['--dtype', 'f64'], /f64/],
    [['--out', '/nowhere/x.json'], /\/nowhere\/x.json can't be written: no such file or folder/],
    [['--dtype', 'f16', '--shapes', '8x8x8', '--budget', '1'], /nothing could be tuned: .*shader-f16/],
  ])('%j is bad input', async (args, message) => {
    const { code, stderr } = await tune(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('the cache', () => {
  const folder = path('cache');
  const env = { WEBGEMM_CACHE: folder };
  const kept = () => readdirSync(folder).filter(name => name.startsWith('tuning-'));

  beforeAll(async () => {
    // The software GPU is unpacked once for all tests.
    await webgemm(['info', '--software']);
    mkdirSync(folder);
    for (const name of readdirSync(cacheFolder()).filter(it => it.startsWith('swiftshader'))) {
      symlinkSync(join(cacheFolder(), name), join(folder, name));
    }
  });

  test('keeps the record, `explain` uses it, and --json prints it with what was tried', async () => {
    const shape = ['20', '24', '28'];
    const explain = () => webgemm(['explain', ...shape, '--software'], env);
    expect((await explain()).stdout).not.toContain('tuned for 20×24×28');
    const { code, stdout } = await tune(['--shapes', shape.join('x'), '--budget', '6', '--json'], env);
    expect(code).toBe(0);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ schema: 'webgemm-tuning/1', entries: [{ m: 20, n: 24, k: 28 }] });
    expect(document.results).toMatchObject([{ m: 20, speedUp: expect.any(Number) }]);
    expect(
      document.results[0].tried.filter((it: { status: string }) => it.status === 'fastest'),
    ).toHaveLength(1);
    expect(kept()).toHaveLength(1);
    const { kernel } = document.entries[0];
    const explained = (await explain()).stdout;
    expect(explained).toMatch(new RegExp(`kernel +${kernel}: `));
    expect(explained).toContain('(tuned for 20×24×28 on this device)');
  });
});
