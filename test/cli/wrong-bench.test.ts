/** The bench with a kernel that is wrong for large products only, so that the self-check does not find it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGemm } from '../../src/gemm.ts';
import type { Kernel } from '../../src/kernels/kernel.ts';
import { plain } from '../../src/kernels/plain.ts';
import { runBench } from '../../src/node/cli/bench.ts';
import { Screen } from '../../src/node/cli/screen.ts';
import { type OpenGpu, openGpu } from '../../src/node/gpu.ts';
import { parseShapes } from '../../src/trial/shapes.ts';

let gpu: OpenGpu;
beforeAll(async () => {
  gpu = await openGpu({ software: true });
});
afterAll(() => gpu.close());

const SHAPES = '96x64x64,16x16x16';

const broken: Kernel = {
  ...plain,
  build: (...given) => {
    const program = plain.build(...given);
    const wgsl = (text: string) => text.replace('col, sum);', 'col, select(sum, Sum(), row == 95));');
    return { ...program, passes: program.passes.map(pass => ({ ...pass, wgsl: wgsl(pass.wgsl) })) };
  },
};

async function run(json: boolean) {
  const stream = () => {
    const it = { text: '', columns: 100, write: (text: string) => (it.text += text) };
    return it;
  };
  const [out, document] = [stream(), stream()];
  const exitCode = await runBench(gpu, await createGemm(gpu.device, { ...gpu, kernels: [broken] }), {
    ...{
      shapes: parseShapes(SHAPES),
      dtypes: ['f32'],
      accuracy: 'f32',
      kernel: undefined,
      params: undefined,
    },
    ...{ peers: null, version: '0.0.0', machine: undefined, minTime: 20 },
    screen: new Screen(out, 'stdout'),
    ...(json ? { json: document } : {}),
  });
  return { exitCode, text: out.text, document: document.text };
}

test('a wrong product is marked, its figures withheld, and the exit code is 1', async () => {
  const { exitCode, text } = await run(false);
  expect(exitCode).toBe(1);
  expect(text).toMatch(/^96×64×64 +f32 +plain +WRONG +C\[95, \d+\] is/m);
  expect(text).toMatch(/^16×16×16 +f32 +plain +[\d.]+ (µs|ms|s) /m);
});

test('in the document its time stands beside what is wrong', async () => {
  const { exitCode, document } = await run(true);
  expect(exitCode).toBe(1);
  expect(JSON.parse(document).results).toMatchObject([
    {
      shape: [96, 64, 64],
      ms: expect.any(Number),
      tflops: expect.any(Number),
      failure: expect.stringMatching(/^C\[95, \d+\] is/),
    },
    { shape: [16, 16, 16], failure: null },
  ]);
});
