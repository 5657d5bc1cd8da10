/**
 * Which kernel which device would run for which problem, and why not the others. Nothing here needs a GPU. When a
 * kernel or an estimate changes, the difference of this file is what it means for everybody's devices.
 */
import { describe, expect, test } from 'vitest';
import { choose, type Suggestion } from '../../src/choose.ts';
import type { GemmError } from '../../src/errors.ts';
import { KERNELS } from '../../src/kernels/index.ts';
import type { Kernel } from '../../src/kernels/kernel.ts';
import { normalize, type ProblemOptions } from '../../src/problem.ts';
import type { Profile } from '../../src/profile.ts';
import { brokenLimit } from '../../src/program.ts';
import { checkedProblem } from '../../src/selfcheck.ts';
import { AMD_64, APPLE, deviceWith, INTEL, matrices, NVIDIA, NVIDIA_16K, PLAIN } from './profiles.ts';

const DOT = ['packed_4x8_integer_dot_product', 'subgroup_id'];
const GIB = 2 ** 30;

const DEVICES: Readonly<Record<string, Profile>> = {
  plain: PLAIN,
  phone: { ...PLAIN, vendor: 'arm', architecture: 'bifrost', wgslFeatures: DOT },
  mali: deviceWith({ lanes: 16, workgroupMemory: 32768 }),
  adreno: { ...deviceWith({ lanes: [64, 128], workgroupMemory: 32768 }), wgslFeatures: DOT },
  intel: INTEL,
  'intel-range': deviceWith({ lanes: [8, 32], matrixConfigs: matrices('f16', 'f32', '8×16×16') }),
  apple: APPLE,
  nvidia: { ...NVIDIA, wgslFeatures: DOT },
  'nvidia-16k': NVIDIA_16K,
  'amd-32': { ...deviceWith({ lanes: 32, workgroupMemory: 65536 }), wgslFeatures: DOT },
  'amd-64': AMD_64,
  swiftshader: deviceWith({ lanes: 4, f16: false, workgroupMemory: 32768 }),
  'lavapipe-25': deviceWith({ lanes: 8, workgroupMemory: 32768 }),
  'lavapipe-26': deviceWith({
    lanes: 8,
    matrixConfigs: [...matrices('f16', 'f32', '8×8×8'), ...matrices('i8', 'i32', '8×8×8')],
    workgroupMemory: 32768,
  }),
  huge: {
    ...NVIDIA,
    wgslFeatures: DOT,
    limits: {
      ...NVIDIA.limits,
      ...{ maxBufferSize: 64 * GIB, maxStorageBufferBindingSize: 2 * GIB - 4 },
      ...{ maxComputeInvocationsPerWorkgroup: 1024, maxComputeWorkgroupSizeX: 1024 },
    },
  },
};

const PROBLEMS: Readonly<Record<string, ProblemOptions>> = {
  'one cell': { m: 1, n: 1, k: 1 },
  'f32 64': { m: 64, n: 64, k: 64 },
  'f32 1024': { m: 1024, n: 1024, k: 1024 },
  'f32 4096': { m: 4096, n: 4096, k: 4096 },
  'f32 4096 strict': { m: 4096, n: 4096, k: 4096, accuracy: 'strict' },
  'f32 4096 narrowed': { m: 4096, n: 4096, k: 4096, accuracy: 'f16' },
  'f32 odd, TT': { m: 1023, n: 777, k: 555, transA: true, transB: true },
  'f32 prime': { m: 997, n: 991, k: 983 },
  'vector times matrix': { m: 1, n: 4096, k: 4096 },
  'matrix times vector': { m: 4096, n: 1, k: 4096 },
  'few rows, B transposed': { m: 4, n: 11008, k: 4096, transB: true, type: 'f16' },
  'dot product': { m: 1, n: 1, k: 1_000_000 },
  'few cells, long K': { m: 64, n: 64, k: 65536 },
  'outer product': { m: 2048, n: 2048, k: 1 },
  'attention scores': { m: 512, n: 512, k: 64, batch: 96, transB: true, type: 'f16' },
  'tiny batch': { m: 8, n: 8, k: 8, batch: 10_000 },
  'f16 1024': { m: 1024, n: 1024, k: 1024, type: 'f16' },
  'f16 to f32, gelu': {
    m: 2048,
    n: 2048,
    k: 2048,
    type: 'f16',
    cType: 'f32',
    bias: 'row',
    activation: 'gelu',
  },
  'i8 1024': { m: 1024, n: 1024, k: 1024, type: 'i8' },
  'u8 odd': { m: 333, n: 333, k: 333, type: 'u8' },
  'f16 times f32': { m: 512, n: 512, k: 512, aType: 'f16', bType: 'f32' },
};

function chosen(options: ProblemOptions, profile: Profile): string {
  try {
    return choose(normalize(options), profile).ranked[0].kernel.name;
  } catch (error) {
    expect((error as GemmError).code).toBe('unsupported');
    return 'none';
  }
}

/** `kernel: device, device; kernel: device`: the devices that choose the same are said together. */
function grouped(choices: readonly (readonly [device: string, choice: string])[]): string {
  const groups = new Map<string, string[]>();
  for (const [device, choice] of choices) groups.set(choice, [...(groups.get(choice) ?? []), device]);
  const all = Object.keys(DEVICES).length;
  return [...groups]
    .map(([choice, devices]) => `${choice}: ${devices.length === all ? 'all' : devices.join(', ')}`)
    .join('; ');
}

test('which kernel is chosen', () => {
  const table = Object.entries(PROBLEMS).map(
    ([name, options]) =>
      `${name} → ${grouped(Object.entries(DEVICES).map(([device, profile]) => [device, chosen(options, profile)]))}`,
  );
  expect(table.join('\n')).toMatchInlineSnapshot(`
    "one cell → gemv: all
    f32 64 → split-k: all
    f32 1024 → register-tile: plain, phone, mali, adreno, intel-range, nvidia-16k, amd-32, amd-64, swiftshader, lavapipe-25, lavapipe-26; split-f32: intel, nvidia, huge; subgroup-matrix: apple
    f32 4096 → register-tile: plain, phone, mali, adreno, intel-range, amd-32, amd-64, swiftshader, lavapipe-25; split-f32: intel, nvidia, nvidia-16k, lavapipe-26, huge; subgroup-matrix: apple
    f32 4096 strict → register-tile: plain, phone, mali, adreno, intel, intel-range, nvidia, nvidia-16k, amd-32, amd-64, swiftshader, lavapipe-25, lavapipe-26, huge; subgroup-matrix: apple
    f32 4096 narrowed → register-tile: plain, phone, mali, adreno, intel-range, amd-32, swiftshader, lavapipe-25; subgroup-matrix: intel, apple, nvidia, nvidia-16k, amd-64, lavapipe-26, huge
    f32 odd, TT → register-tile: plain, phone, mali, adreno, intel-range, amd-32, amd-64, swiftshader, lavapipe-25, lavapipe-26; split-f32: intel, nvidia, nvidia-16k, huge; subgroup-matrix: apple
    f32 prime → register-tile: plain, phone, mali, adreno, intel-range, amd-32, amd-64, swiftshader, lavapipe-25; split-f32: intel, nvidia, nvidia-16k, lavapipe-26, huge; subgroup-matrix: apple
    vector times matrix → gemv: all
    matrix times vector → gemv: all
    few rows, B transposed → none: plain, phone, swiftshader; gemv: mali, adreno, intel, intel-range, apple, nvidia, nvidia-16k, amd-32, amd-64, lavapipe-25, lavapipe-26, huge
    dot product → gemv: all
    few cells, long K → split-k: plain, phone, mali, adreno, intel, intel-range, nvidia, nvidia-16k, amd-32, amd-64, swiftshader, lavapipe-25, lavapipe-26, huge; subgroup-matrix: apple
    outer product → plain: all
    attention scores → none: plain, phone, swiftshader; register-tile: mali, adreno, intel-range, amd-32, lavapipe-25; subgroup-matrix: intel, apple, nvidia, nvidia-16k, amd-64, lavapipe-26, huge
    tiny batch → gemv: all
    f16 1024 → none: plain, phone, swiftshader; register-tile: mali, adreno, intel-range, amd-32, lavapipe-25; subgroup-matrix: intel, apple, nvidia, nvidia-16k, amd-64, lavapipe-26, huge
    f16 to f32, gelu → none: plain, phone, swiftshader; register-tile: mali, adreno, intel-range, amd-32, lavapipe-25; subgroup-matrix: intel, apple, nvidia, nvidia-16k, amd-64, lavapipe-26, huge
    i8 1024 → register-tile: plain, mali, intel-range, apple, amd-64, swiftshader, lavapipe-25; dot-i8: phone, adreno, amd-32; subgroup-matrix: intel, nvidia, nvidia-16k, lavapipe-26, huge
    u8 odd → split-k: plain, phone, mali, adreno, intel, intel-range, apple, amd-32, amd-64, swiftshader, lavapipe-25, lavapipe-26; subgroup-matrix: nvidia, nvidia-16k, huge
    f16 times f32 → none: plain, phone, swiftshader; split-k: mali, adreno, intel, intel-range, apple, nvidia, nvidia-16k, amd-32, amd-64, lavapipe-25, lavapipe-26, huge"
  `);
});

describe('why the others are passed over', () => {
  test.each(Object.entries(DEVICES))('%s', async (device, profile) => {
    const lines = Object.entries(PROBLEMS).map(([name, options]) => {
      try {
        const { ranked, passedOver } = choose(normalize(options), profile);
        const served = ranked.map(({ kernel }) => kernel.name).join(' > ');
        return [
          `${name}: ${served}`,
          ...passedOver.map(({ kernel, reason }) => `  ${kernel}: ${reason}`),
        ].join('\n');
      } catch (error) {
        return `${name}: none\n  ${(error as GemmError).message.split('. ')[1].split('; ').join('\n  ')}`;
      }
    });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`choices/${device}.txt`);
  });
});

const PAIRS = Object.entries(DEVICES).flatMap(([device, profile]) =>
  Object.entries(PROBLEMS).map(([name, options]) => ({ at: `${name} on ${device}`, profile, options })),
);

/** All candidates of all problems on all devices. */
function* candidates() {
  for (const { at, profile, options } of PAIRS) {
    const problem = normalize(options);
    for (const kernel of KERNELS) {
      if (kernel.rejects(problem, profile) !== null) continue;
      for (const params of kernel.candidates(problem, profile)) {
        yield { at: `${at}, ${kernel.name} ${JSON.stringify(params)}`, kernel, params, problem, profile };
      }
    }
  }
}

test('every kernel is either ranked or passed over with a reason, and what is ranked breaks no limit', () => {
  for (const { at, profile, options } of PAIRS) {
    if (chosen(options, profile) === 'none') continue;
    const { ranked, passedOver } = choose(normalize(options), profile);
    const names = [...ranked.map(({ kernel }) => kernel.name), ...passedOver.map(({ kernel }) => kernel)];
    expect(names.sort(), at).toEqual(KERNELS.map(({ name }) => name).sort());
    for (const { reason } of passedOver) expect(reason, at).toMatch(/\w/);
    for (const { program } of ranked) expect(brokenLimit(program, profile), at).toBeNull();
  }
});

/** Kernels that write the problem's K and row strides into their code: a small problem gives a sibling of it. */
const OWN_CODE = ['subgroup-matrix', 'split-f32'];

test('the first-use check of every candidate runs its real code, where that holds no sizes', () => {
  const source = (kernel: Kernel, ...args: Parameters<Kernel['build']>) =>
    kernel.build(...args).passes.map(({ wgsl }) => wgsl);
  for (const { at, kernel, params, problem, profile } of candidates()) {
    if (brokenLimit(kernel.build(problem, profile, params), profile) !== null) continue;
    const checked = checkedProblem(problem, profile, kernel, params);
    expect(checked, at).not.toBeNull();
    if (OWN_CODE.includes(kernel.name)) continue;
    const same =
      source(kernel, checked!, profile, params).join() === source(kernel, problem, profile, params).join();
    expect(same, at).toBe(true);
  }
});

describe('a forced kernel', () => {
  test('is the only one considered', () => {
    const { ranked, passedOver } = choose(normalize(PROBLEMS['f32 1024']), NVIDIA, { force: 'plain' });
    expect(ranked.map(({ kernel }) => kernel.name)).toEqual(['plain']);
    expect(passedOver).toEqual([]);
  });

  test('that cannot serve is an error with its reason', () => {
    expect(() => choose(normalize(PROBLEMS['f32 1024']), NVIDIA, { force: 'gemv' })).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('1024×1024') }),
    );
  });

  test('that does not exist is an error with the names of those that do', () => {
    expect(() => choose(normalize(PROBLEMS['one cell']), PLAIN, { force: 'magic' })).toThrow(
      expect.objectContaining({ code: 'invalid-argument', hint: expect.stringContaining('plain') }),
    );
  });
});

describe('what tuning suggests', () => {
  const problem = normalize(PROBLEMS['f32 1024']);
  const parameters = (name: string) =>
    KERNELS.find(kernel => kernel.name === name)
      ?.candidates(problem, NVIDIA)
      .at(-1) ?? {};
  const suggestion = (kernel: string, more: Partial<Suggestion> = {}): Suggestion => ({
    ...{ kernel, params: parameters(kernel), source: 'measured', ms: 2, note: 'tuned' },
    ...more,
  });

  test('goes before every estimate, in its order', () => {
    const suggested = [suggestion('plain'), suggestion('split-k', { source: 'near', ms: 1 })];
    const { ranked } = choose(problem, NVIDIA, { suggested });
    expect(ranked[0]).toMatchObject({ kernel: { name: 'plain' }, source: 'measured', estimateMs: 2 });
    expect(ranked[1]).toMatchObject({
      ...{ kernel: { name: 'split-k' }, params: parameters('split-k') },
      ...{ source: 'near', note: 'tuned' },
    });
  });

  test("orders a kernel's parameters only, where nothing was measured", () => {
    const suggested = [suggestion('register-tile', { source: 'suggested', ms: null })];
    const { ranked } = choose(problem, NVIDIA, { suggested });
    const [before] = choose(problem, NVIDIA).ranked;
    expect(ranked[0].kernel.name).toBe(before.kernel.name);
    const tile = ranked.find(({ kernel }) => kernel.name === 'register-tile');
    expect(tile).toMatchObject({ params: parameters('register-tile'), source: 'suggested' });
  });

  test("is left out where the kernel can't take it", () => {
    const suggested = [
      suggestion('register-tile', { params: { magic: 7 } }),
      suggestion('register-tile', { params: { ...parameters('register-tile'), tm: 3 } }),
      suggestion('register-tile', { params: { bm: 512, bn: 512, bk: 64, tm: 4, tn: 4, slices: 1 } }),
      suggestion('gemv', { params: { lanes: 32, slices: 1 } }),
      suggestion('a kernel of tomorrow'),
    ];
    const { ranked, passedOver } = choose(problem, NVIDIA, { suggested });
    expect(ranked.map(({ source }) => source)).toEqual(ranked.map(() => 'default'));
    expect(passedOver.map(({ kernel }) => kernel)).toContain('gemv');
  });

  test('gives way to parameters that are given', () => {
    const suggested = [suggestion('plain')];
    const params = parameters('plain');
    const { ranked } = choose(problem, NVIDIA, { suggested, force: 'plain', params });
    expect(ranked).toMatchObject([{ source: 'given', note: null }]);
  });
});
