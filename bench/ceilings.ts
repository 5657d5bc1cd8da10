/**
 * What the hardware can do at the most through WebGPU, so that a kernel's speed can be told from the GPU's: multiply-adds
 * alone, matrix units alone, matrix units that load what they multiply from workgroup memory, and a copy.
 *
 * Every result depends on all that was computed, and is known exactly: inputs are ones, which no compiler knows.
 */
import { type BenchResult, blankResult } from '../src/bench/record.ts';
import { createBuffer, readBuffer, uploadBuffer } from '../src/device/buffers.ts';
import { Executable } from '../src/device/executable.ts';
import { type MeasureOptions, measureTogether } from '../src/measure/measure.ts';
import type { Timer } from '../src/measure/timer.ts';
import { type MatrixConfig, type Profile, subgroupSizeFor } from '../src/profile.ts';
import { type Pass, reads, writes } from '../src/program.ts';
import { SUBGROUP_MATRIX_ENABLE, SUBGROUP_SIZE_ENABLE } from '../src/wgsl/experimental.ts';
import { unroll } from '../src/wgsl/unroll.ts';

/** A program whose every output word is known. */
interface Ceiling {
  readonly name: string;
  readonly dtype: BenchResult['dtype'];
  readonly pass: Pass;
  /** What every word of the input is. */
  readonly input: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** What every word of the output must be, as its bits. */
  readonly expected: number;
  /** Operations of a run, or bytes read and written. */
  readonly work: { readonly operations: number } | { readonly bytes: number };
}

/** How much the ceilings compute and copy: enough to fill the GPU, and no more than a submit may take on it. */
export interface CeilingSizes {
  /** Multiply-adds: workgroups of 256 threads, and steps of a thread. */
  readonly fma: { readonly workgroups: number; readonly steps: number };
  /** Matrix units: workgroups of 4 subgroups, steps, and result matrices along a side of a subgroup's grid. */
  readonly matrix: { readonly workgroups: number; readonly steps: number; readonly grid: number };
  /** Workgroups that copy 16 KiB each. */
  readonly copy: number;
}

/** For data centre GPUs, and for GPUs that are CPUs. */
export const CEILING_SIZES = {
  gpu: {
    fma: { workgroups: 4096, steps: 4096 },
    matrix: { workgroups: 528, steps: 4096, grid: 4 },
    copy: 32768,
  },
  software: {
    fma: { workgroups: 4, steps: 64 },
    matrix: { workgroups: 2, steps: 4, grid: 2 },
    copy: 16,
  },
} as const satisfies Readonly<Record<string, CeilingSizes>>;

/** Compiles, checks and times them all. One that is wrong or can't run is a result with its reason. */
export async function measureCeilings(
  device: GPUDevice,
  profile: Profile,
  timer: Timer,
  times: MeasureOptions,
  sizes: CeilingSizes = profile.software ? CEILING_SIZES.software : CEILING_SIZES.gpu,
): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  const ready: { ceiling: Ceiling; encode: (pass: GPUComputePassEncoder) => void }[] = [];
  const buffers: GPUBuffer[] = [];
  for (const ceiling of ceilings(profile, sizes)) {
    if ('missing' in ceiling) {
      results.push({ ...blankResult('ceiling', ceiling.name), failure: ceiling.missing });
      continue;
    }
    try {
      ready.push({ ceiling, encode: await checked(device, ceiling, buffers) });
    } catch (error) {
      const { name, dtype } = ceiling;
      results.push({ ...blankResult('ceiling', name), dtype, failure: (error as Error).message });
    }
  }
  const measured = await measureTogether(timer, ready, times);
  for (const [i, { ceiling }] of ready.entries()) {
    const { ms, spread } = measured[i];
    const { name, dtype, work } = ceiling;
    results.push({
      ...blankResult('ceiling', name),
      ...{ dtype, ms, spread, timer: timer.kind, robustness: true, relErr: 0, worst: 0 },
      ...('bytes' in work ? { gbps: work.bytes / ms / 1e6 } : { tflops: work.operations / ms / 1e9 }),
    });
  }
  for (const buffer of buffers) buffer.destroy();
  return results;
}

/** Runs a ceiling once and looks at every word of its output. @throws Error with what is wrong */
async function checked(device: GPUDevice, ceiling: Ceiling, buffers: GPUBuffer[]) {
  const { pass, input, inputBytes, outputBytes, expected } = ceiling;
  const program = { passes: [pass], uniforms: {}, scratch: {} };
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  const inputs = await uploadBuffer(device, 'input', new Int32Array(inputBytes / 4).fill(input));
  const output = await createBuffer(device, 'output', outputBytes, usage);
  buffers.push(inputs, output);
  const bound = (await Executable.create(device, program)).bind({
    input: { buffer: inputs },
    output: { buffer: output },
  });
  const encoder = device.createCommandEncoder();
  const begun = encoder.beginComputePass();
  bound.encode(begun);
  begun.end();
  device.queue.submit([encoder.finish()]);
  const words = new Int32Array(await readBuffer(device, output));
  const wrong = words.findIndex(word => word !== expected);
  if (wrong >= 0) throw new Error(`word ${wrong} of the output is ${words[wrong]} where ${expected} is due`);
  return bound.encode.bind(bound);
}

function ceilings(
  profile: Profile,
  sizes: CeilingSizes,
): (Ceiling | { readonly name: string; readonly missing: string })[] {
  const units = (type: string, result: string) => {
    const name = `matrix-${type}-${result}`;
    const config = profile.matrixConfigs
      .filter(it => it.componentType === type && it.resultComponentType === result)
      .sort((x, y) => y.M * y.N * y.K - x.M * x.N * x.K)[0];
    const subgroup = subgroupSizeFor(profile);
    if (!config) return [{ name, missing: `the device multiplies no ${type} matrices into ${result}` }];
    if ('missing' in subgroup) return [{ name, missing: subgroup.missing }];
    return [false, true].map(loads => matrixUnits(name, sizes, config, subgroup, loads));
  };
  return [fma(sizes), ...units('f16', 'f32'), ...units('i8', 'i32'), copy(sizes)];
}

const bitsOf = (value: number) => new Int32Array(Float32Array.of(value).buffer)[0];

/** f32 multiply-adds in registers. The chains of a thread are independent of each other. */
function fma({ fma: { workgroups, steps: STEPS } }: CeilingSizes): Ceiling {
  const CHAINS = 8;
  const chains = (line: (chain: number) => string) => unroll(CHAINS, 4, line);
  const wgsl = /* wgsl */ `
@group(0) @binding(0) var<storage, read> input: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let one = input[0];
    ${chains(i => `var chain${i} = input[${i + 1}];`)}
    for (var step = 0u; step < ${STEPS}; step++) {
    ${chains(i => `  chain${i} = fma(chain${i}, one, one);`)}
    }
    var sum = vec4f();
    ${chains(i => `sum += chain${i};`)}
    output[id.x] = sum.x + sum.y + sum.z + sum.w;
}
`;
  const threads = 256 * workgroups;
  return {
    ...{ name: 'f32-fma', dtype: 'f32', input: bitsOf(1), inputBytes: 16 * (CHAINS + 1) },
    pass: passOf('f32-fma', wgsl, workgroups, 256, 0),
    outputBytes: threads * 4,
    expected: bitsOf(4 * CHAINS * (1 + STEPS)),
    work: { operations: threads * CHAINS * 4 * STEPS * 2 },
  };
}

/** 16-byte words, of which each one is read and written. */
function copy({ copy: workgroups }: CeilingSizes): Ceiling {
  const EACH = 4;
  const threads = 256 * workgroups;
  const wgsl = /* wgsl */ `
@group(0) @binding(0) var<storage, read> input: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4u>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
  ${unroll(EACH, 2, i => `output[id.x + ${i * threads}] = input[id.x + ${i * threads}];`)}
}
`;
  const bytes = threads * EACH * 16;
  return {
    ...{ name: 'copy', dtype: null, input: 0x600dc0de, expected: 0x600dc0de },
    ...{ inputBytes: bytes, outputBytes: bytes, work: { bytes: 2 * bytes } },
    pass: passOf('copy', wgsl, workgroups, 256, 0),
  };
}

/**
 * Matrix units on tiles as kernels/subgroup-matrix.ts has them: 2×2 subgroups, each with its own slice of A and of B in
 * workgroup memory and a grid of result matrices.
 *
 * @param loads whether the operands are loaded again for every step, or stay in registers
 */
function matrixUnits(
  base: string,
  { matrix: { workgroups, steps: STEPS, grid: GRID } }: CeilingSizes,
  { M, N, K, componentType, resultComponentType }: MatrixConfig,
  { size, pinned }: { readonly size: number; readonly pinned: boolean },
  loads: boolean,
): Ceiling {
  const name = loads ? `${base}-loads` : base;
  const half = componentType === 'f16';
  const DEPTH = 2;
  const bytes = half ? 2 : 1;
  // 16 bytes are moved at once, or 8 where a row of a matrix is no longer than that.
  const wordBytes = (N * bytes) % 16 === 0 && (K * bytes) % 16 === 0 ? 16 : 8;
  const Word = `vec${wordBytes / 4}u`;
  const word = wordBytes / bytes;
  // In words; a word more than a row has, against bank conflicts.
  const alongK = (K * DEPTH) / word + 1;
  // Bytes of B that did not lie along K would have to be turned one by one.
  const [strideA, strideB] = [alongK, half ? (N * GRID) / word + 1 : alongK];
  const [sliceA, sliceB] = [M * GRID * strideA, (half ? K * DEPTH : N * GRID) * strideB];
  const threads = 4 * size;
  const load = (
    k: number,
  ) => `${unroll(GRID, 4, i => `let a${i} = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroup / 2], ${i * M * strideA + (k * K) / word}, ${strideA});`)}
    ${unroll(GRID, 4, j => `let b${j} = subgroupMatrixLoad<Right, ${half ? 'row' : 'col'}_major>(&memoryB[subgroup % 2], ${half ? k * K * strideB + (j * N) / word : j * N * strideB + (k * K) / word}, ${strideB});`)}`;
  const grid = (line: (sum: string, i: number, j: number) => string) =>
    unroll(GRID, 4, i => unroll(GRID, 0, j => line(`sum${i}_${j}`, i, j)));
  const multiply = grid((sum, i, j) => `${sum} = subgroupMatrixMultiplyAccumulate(a${i}, b${j}, ${sum});`);
  const wgsl = /* wgsl */ `${half ? 'enable f16;\n' : ''}${SUBGROUP_MATRIX_ENABLE}
enable subgroups;
${pinned ? SUBGROUP_SIZE_ENABLE : ''}

alias Left = subgroup_matrix_left<${componentType}, ${K}, ${M}>;
alias Right = subgroup_matrix_right<${componentType}, ${N}, ${K}>;
alias Result = subgroup_matrix_result<${resultComponentType}, ${N}, ${M}>;

@group(0) @binding(0) var<storage, read> input: array<${Word}>;
@group(0) @binding(1) var<storage, read_write> output: array<${resultComponentType}>;

var<workgroup> memoryA: array<array<${Word}, ${sliceA}>, 2>;
var<workgroup> memoryB: array<array<${Word}, ${sliceB}>, 2>;

@compute @workgroup_size(${threads})${pinned ? ` @subgroup_size(${size})` : ''}
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) thread: u32,
    @builtin(subgroup_id) subgroup: u32,
) {
    for (var slice = 0u; slice < 2; slice++) {
      for (var e = thread; e < ${sliceA}; e += ${threads}) { memoryA[slice][e] = input[e % 64]; }
      for (var e = thread; e < ${sliceB}; e += ${threads}) { memoryB[slice][e] = input[e % 64]; }
    }
    workgroupBarrier();
    ${grid(sum => `var ${sum}: Result;`)}
    ${loads ? '' : load(0)}
    for (var step = 0u; step < ${STEPS}; step++) {
    ${
      loads
        ? `// As where the next step has just been stored; without it, nothing would be loaded twice.
    workgroupBarrier();
    ${unroll(DEPTH, 4, k => `{\n${load(k)}\n${multiply}\n}`)}`
        : unroll(DEPTH, 4, () => multiply)
    }
    }
    let first = (group.x * 4 + subgroup) * ${GRID * GRID * M * N};
    ${grid((sum, i, j) => `subgroupMatrixStore<row_major>(&output, first + ${(i * GRID + j) * M * N}, ${sum}, ${N});`)}
}
`;
  const cells = workgroups * 4 * GRID * GRID * M * N;
  const sum = STEPS * DEPTH * K;
  return {
    ...{
      name,
      dtype: componentType as 'f16' | 'i8',
      input: half ? 0x3c003c00 : 0x01010101,
      inputBytes: 1024,
    },
    pass: passOf(name, wgsl, workgroups, threads, 2 * wordBytes * (sliceA + sliceB)),
    outputBytes: cells * 4,
    expected: half ? bitsOf(sum) : sum,
    work: { operations: 2 * cells * sum },
  };
}

const passOf = (label: string, wgsl: string, workgroups: number, threads: number, memory: number): Pass => ({
  ...{ label, wgsl, threads, workgroups: [workgroups, 1, 1], workgroupMemory: memory },
  bindings: [reads('input'), writes('output')],
});
