import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/profile.ts';
import { APPLE, PLAIN } from '../unit/profiles.ts';
import { useFolder, webgemm } from './run.ts';

const path = useFolder();

function profileFile(content: object): string {
  const file = path('profile.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe('explain', () => {
  test('says what this GPU would run, and why', async () => {
    const { code, stdout } = await webgemm(['explain', '1000', '30', '40', '--software', '--bias', 'row']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1000×30×40 f32→f32 NN on swiftshader/);
    expect(stdout).toMatch(/^ {2}kernel +\S+: /m);
    expect(stdout).toMatch(/^ {2}passed over +gemv: /m);
  });

  test('takes a device from a file, and prints a document with the WGSL', async () => {
    const file = profileFile(PLAIN);
    const args = ['--profile', file, '--kernel', 'plain', '--trans-b', '--json', '--wgsl'];
    const { code, stdout } = await webgemm(['explain', '10', '20', '30', ...args]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ schema: 'webgemm-explain/1', problem: '10×20×30 f32→f32 NT', kernel: 'plain', pieces: 1 },
      shaders: [{ label: 'plain', wgsl: expect.stringContaining('@compute') }],
    });
  });

  test('takes what `webgemm info --json` prints', async () => {
    const { wgslFeatures, ...adapter } = APPLE;
    const file = profileFile({ schema: 'webgemm-info/1', adapter, wgslFeatures });
    const { code, stdout } = await webgemm([
      'explain',
      '512',
      '512',
      '512',
      '--type',
      'f16',
      '--profile',
      file,
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('f16→f16');
  });

  test.each([
    [['explain', '0', '1', '1'], /m is "0"/],
    [['explain', '1', '1'], /missing required argument 'k'/],
    [['explain', '1', '1', '1', '--type', 'f64'], /f64/],
    [['explain', '1', '1', '1', '--profile', '/nowhere'], /\/nowhere is no profile: no such file/],
  ])('%j is bad input', async (args, message) => {
    const ran = await webgemm(args);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(message);
  });

  test('bad profiles, and devices that cannot do it', async () => {
    for (const [content, message] of [
      [{ ...PLAIN, features: undefined }, /features/],
      [
        { ...PLAIN, limits: { ...DEFAULT_LIMITS, maxBufferSize: undefined } },
        /its limits lack maxBufferSize/,
      ],
    ] as const) {
      const ran = await webgemm(['explain', '1', '1', '1', '--profile', profileFile(content)]);
      expect(ran.code).toBe(2);
      expect(ran.stderr).toMatch(message);
    }
    const ran = await webgemm(['explain', '1', '1', '1', '--type', 'f16', '--profile', profileFile(PLAIN)]);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/no kernel can serve here.*shader-f16/);
  });
});
