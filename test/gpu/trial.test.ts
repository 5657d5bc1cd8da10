import { expect, test } from 'vitest';
import { problemOf } from '../../src/bench/job.ts';
import { prepareOurs } from '../../src/bench/ours.ts';
import { choose } from '../../src/choose.ts';
import { createGemm } from '../../src/gemm.ts';
import { measureTogether } from '../../src/measure/measure.ts';
import { createTimer } from '../../src/measure/timer.ts';
import { normalize, type ProblemOptions } from '../../src/problem.ts';
import { TrialOperands } from '../../src/trial/operands.ts';
import { candidateSubject, planSubject, prepareTrial } from '../../src/trial/trial.ts';
import { halfFloats, useTestGpu } from './device.ts';

const gpu = useTestGpu();

const PROBLEMS: Readonly<Record<string, ProblemOptions>> = {
  plain: { m: 65, n: 33, k: 40 },
  transposed: { m: 65, n: 33, k: 40, transA: true, transB: true },
  'a batch': { m: 16, n: 20, k: 24, batch: 3, strideB: 0 },
  'everything else': { m: 40, n: 48, k: 24, beta: 0.5, bias: 'row', activation: 'gelu', residual: true },
  'a layout with gaps': { m: 30, n: 20, k: 16, lda: 20, ldc: 24, offsetC: 5, offsetB: 3 },
  bytes: { m: 64, n: 32, k: 64, aType: 'u8', bType: 'i8' },
  'no k': { m: 8, n: 8, k: 0, beta: 1 },
  // Over what is compared cell by cell.
  'a large product': { m: 512, n: 260, k: 260, transB: true },
  'a large batch': { m: 260, n: 132, k: 132, batch: 8, ldc: 136, transA: true },
  'large bytes': { m: 512, n: 260, k: 260, type: 'u8' },
  'a large product with bias': { m: 512, n: 260, k: 260, bias: 'column', activation: 'relu' },
  ...(halfFloats
    ? {
        'half floats': { m: 33, n: 31, k: 40, type: 'f16', transA: true },
        'large half floats': { m: 512, n: 260, k: 260, type: 'f16' },
      }
    : {}),
};

for (const [name, options] of Object.entries(PROBLEMS)) {
  test(`a kernel and a plan are tried on ${name}`, async () => {
    const { device, profile } = gpu();
    const problem = normalize(options);
    const operands = await TrialOperands.create(device, problem);
    const [candidate] = choose(problem, profile).ranked;
    const gemm = await createGemm(device, { profile });
    const kernel = await prepareTrial(operands, () => candidateSubject(operands, profile, candidate));
    const plan = await prepareTrial(operands, async () => planSubject(operands, await gemm.plan(options)));
    for (const trial of [kernel, plan]) {
      expect(trial.verdict).toMatchObject({ ok: true, failure: null });
      expect(trial.firstMs).toBeGreaterThan(0);
      trial.destroy();
    }
    operands.destroy();
    gemm.destroy();
  });
}

test('trials are ready to be measured together', async () => {
  const { device, profile } = gpu();
  const problem = normalize({ m: 64, n: 64, k: 64 });
  const operands = await TrialOperands.create(device, problem);
  const trials = [];
  for (const candidate of choose(problem, profile).ranked.slice(0, 2)) {
    trials.push(await prepareTrial(operands, () => candidateSubject(operands, profile, candidate)));
  }
  const timer = await createTimer(device);
  const found = await measureTogether(timer, trials, { minTime: 5, minWarmUp: 0, maxWarmUp: 0 });
  expect(found.map(({ ms }) => ms > 0)).toEqual([true, true]);
  for (const trial of trials) trial.destroy();
  expect(operands.scratch.bytes).toBe(0);
  operands.destroy();
  timer.destroy();
});

for (const [where, options, row, col] of [
  ['a small product', { m: 64, n: 64, k: 64 }, 40, 9],
  ['a large product', { m: 512, n: 260, k: 260 }, 300, 17],
  ['large bytes', { m: 512, n: 260, k: 260, type: 'i8' }, 300, 17],
  ['the last of a large batch', { m: 260, n: 132, k: 132, batch: 8 }, 3, 5],
] as const) {
  test(`one wrong cell is found in ${where}`, async () => {
    const { device, profile } = gpu();
    const problem = normalize(options);
    const operands = await TrialOperands.create(device, problem);
    const [candidate] = choose(problem, profile).ranked;
    const one = problem.c.type === 'i32' ? '1' : '1.0';
    const cell = problem.c.offset + (problem.batch - 1) * problem.c.stride + row * problem.c.ld + col;
    const trial = await prepareTrial(operands, async () => {
      const right = await candidateSubject(operands, profile, candidate);
      const type = problem.c.type;
      const module = device.createShaderModule({
        code: `@group(0) @binding(0) var<storage, read_write> c: array<${type}>;
          @compute @workgroup_size(1) fn main() { c[${cell}] += ${one}; }`,
      });
      const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module } });
      const group = device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: [{ binding: 0, resource: { buffer: operands.buffers.c } }],
      });
      return {
        ...right,
        encode(pass) {
          right.encode(pass);
          pass.setPipeline(pipeline);
          pass.setBindGroup(0, group);
          pass.dispatchWorkgroups(1);
        },
      };
    });
    expect(trial.verdict.ok).toBe(false);
    expect(trial.verdict.failure).toContain(`${row}`);
    trial.destroy();
    operands.destroy();
  });
}

test('a plan with a wrong result is timed, and says that it is wrong', async () => {
  const { device, profile } = gpu();
  const job = { shape: { m: 32, n: 32, k: 32 }, dtype: 'f32', accuracy: 'f32' } as const;
  const operands = await TrialOperands.create(device, problemOf(job));
  // What was uploaded is not what the result is held against any more.
  operands.host.a[32 * 20 + 1] += 1;
  const gemm = await createGemm(device, { profile });
  const { result, trial } = await prepareOurs(gemm, operands, job, 'webgemm');
  expect(result.failure).toMatch(/^C\[20, \d+\] is/);
  const timer = await createTimer(device);
  const [{ ms }] = await measureTogether(timer, [trial!], { minTime: 5, minWarmUp: 0, maxWarmUp: 0 });
  expect(ms).toBeGreaterThan(0);
  trial!.destroy();
  operands.destroy();
  gemm.destroy();
  timer.destroy();
});

test('what WebGPU refuses has no time', async () => {
  const { device, profile } = gpu();
  const operands = await TrialOperands.create(device, normalize({ m: 32, n: 32, k: 32 }));
  const [candidate] = choose(operands.problem, profile).ranked;
  const trial = await prepareTrial(operands, async () => {
    const right = await candidateSubject(operands, profile, candidate);
    return {
      ...right,
      encode(pass) {
        right.encode(pass);
        pass.dispatchWorkgroups(device.limits.maxComputeWorkgroupsPerDimension + 1);
      },
    };
  });
  expect(trial).toMatchObject({ ran: false, verdict: { ok: false } });
  trial.destroy();
  operands.destroy();
});

test('a device without room says so, and keeps nothing', async () => {
  const { device } = gpu();
  const m = Math.ceil(device.limits.maxBufferSize / 4 / 16) + 1;
  await expect(TrialOperands.create(device, normalize({ m, n: 16, k: 1 }))).rejects.toMatchObject({
    code: 'too-large',
  });
});
