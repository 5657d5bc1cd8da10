import { describe, expect, test } from 'vitest';
import { RUNGS } from '../../src/ladder/rungs.ts';
import { webgemm } from './run.ts';

describe('info', () => {
  test('says what the GPU offers and which rungs run', async () => {
    const { code, stdout, stderr } = await webgemm(['info', '--software']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^adapter +swiftshader.*, a software GPU$/m);
    expect(stdout).toMatch(/^backend +Vulkan through Dawn/m);
    expect(stdout).toMatch(/^subgroups +4 lanes$/m);
    expect(stdout).toMatch(/^timer +GPU timestamps, in steps of \d+ ns$/m);
    expect(stdout).toMatch(/^ +maxComputeWorkgroupStorageSize +32 KiB$/m);
    for (const { rung, id } of RUNGS)
      expect(stdout).toMatch(new RegExp(`^ +${rung} +${id} +(runs|not here: )`, 'm'));
    expect(stdout).toMatch(/^ +lavapipe-26 +(ready|lavapipe-26 is not in the cache)/m);
  });

  test('the same as one JSON document', async () => {
    const { code, stdout } = await webgemm(['info', '--software', '--json']);
    expect(code).toBe(0);
    const info = JSON.parse(stdout);
    expect(info).toMatchObject({
      schema: 'webgemm-info/1',
      adapter: { software: true, subgroupMinSize: 4 },
      timer: { kind: 'gpu-timestamp' },
    });
    expect(info.rungs.map(({ rung }: { rung: string }) => rung)).toEqual(RUNGS.map(({ rung }) => rung));
    expect(info.rungs.find(({ rung }: { rung: string }) => rung === '8')).toMatchObject({
      runs: false,
      reason: expect.stringContaining('subgroup-matrix'),
    });
  });
});

describe('webgemm', () => {
  test('shows its commands', async () => {
    const { code, stdout } = await webgemm([]);
    expect(code).toBe(0);
    for (const command of ['ladder', 'info', 'matmul'])
      expect(stdout).toMatch(new RegExp(`^ +${command} `, 'm'));
  });

  test('refuses an unknown command and suggests', async () => {
    const ran = await webgemm(['lader']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(
      /^webgemm: unknown command 'lader' \(Did you mean ladder\?\); `webgemm --help`[^\n]*\n$/,
    );
  });
});
