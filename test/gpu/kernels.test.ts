/**
 * Every kernel of the library, forced, on problems that cover every pair of (type, layout, alignment, epilogue), each
 * with poison, canaries and float64; once on each driver. A CPU driver takes a second or more to compile a pipeline, so
 * problems that differ in their uniforms only share one: a row of the covering set is one pipeline and several problems.
 */
import { describe, expect, test } from 'vitest';
import { createBuffer, type HostArray, readBuffer, uploadBuffer } from '../../src/device/buffers.ts';
import { Executable } from '../../src/device/executable.ts';
import { toHalves } from '../../src/float16.ts';
import { KERNELS } from '../../src/kernels/index.ts';
import type { Kernel, Params } from '../../src/kernels/kernel.ts';
import { plain } from '../../src/kernels/plain.ts';
import { registerTile } from '../../src/kernels/register-tile.ts';
import type { HostOperands } from '../../src/measure/expected.ts';
import { random } from '../../src/measure/random.ts';
import {
  type Activation,
  describeProblem,
  type InputType,
  isInteger,
  normalize,
  type Problem,
  type ProblemOptions,
} from '../../src/problem.ts';
import { brokenLimit } from '../../src/program.ts';
import { runChecked } from '../../src/selfcheck.ts';
import { randomArray } from '../../src/trial/operands.ts';
import { driver, halfFloats, useTestGpu } from './device.ts';
import { pairwise } from './pairwise.ts';

const gpu = useTestGpu();
/** Everything once, on the driver that is quick at it. */
const THOROUGH = driver === 'lavapipe-26';

/**
 * In a page, the driver is SwiftShader again, which has every row in Node, and lavapipe 25 in Node, which compiles slowest of
 * all, has every row under Deno: a third of them will do.
 */
const PART = ['chromium', 'lavapipe-25'].includes(driver) ? 3 : 1;

/**
 * lavapipe 26 takes everything. The others take many times as long to compile, and get a smaller set: SwiftShader, which
 * has no f16, the integers, and lavapipe 25, also under Deno, the floats.
 */
const TYPES: readonly InputType[] = THOROUGH
  ? ['f32', 'f16', 'i8', 'u8']
  : halfFloats
    ? ['f32', 'f16']
    : ['f32', 'i8'];

/** A and B of different types, or C of another one than theirs. */
const MIXED: readonly Partial<ProblemOptions>[] = [
  { aType: 'f32', bType: 'f16', cType: 'f32' },
  { type: 'f16', cType: 'f32' },
  { aType: 'i8', bType: 'u8' },
];

type Size = readonly [m: number, n: number, k: number];

/** Sizes around the edges of tiles; those of aligned problems are multiples of 8. The first decides the parameters. */
interface Sizes {
  readonly aligned: readonly Size[];
  readonly odd: readonly Size[];
}
const SIZES: Sizes = {
  aligned: [
    [72, 64, 136],
    [64, 136, 40],
    [8, 8, 0],
  ],
  odd: [
    [65, 63, 129],
    [1, 1, 1],
    [17, 130, 33],
    [5, 3, 0],
    [31, 16, 15],
  ],
};
/** Kernels for certain shapes only, each with sizes that share its code; rows of the covering set take turns. */
const OWN_SIZES: Readonly<Record<string, readonly Sizes[]>> = {
  gemv: [
    few(1, [1, 1, 1]),
    turned(few(8, [5, 7, 8])),
    few(4, [3, 4, 3]),
    turned(few(1, [1, 1, 1])),
    few(8, [8, 6, 5]),
    turned(few(2, [2, 2, 2])),
  ],
  'small-batched': [
    {
      aligned: [
        [64, 40, 64],
        [8, 56, 24],
        [64, 8, 0],
      ],
      odd: [
        [63, 33, 65],
        [1, 1, 1],
        [17, 5, 3],
      ],
    },
    {
      aligned: [
        [16, 8, 24],
        [8, 16, 8],
      ],
      odd: [
        [15, 9, 17],
        [1, 1, 1],
        [5, 13, 0],
      ],
    },
  ],
};

/** Parameters that rows of the covering set take turns with, of kernels whose first ones for small problems leave out some of their code. */
const OWN_PARAMS: Readonly<Record<string, readonly Params[]>> = {
  'register-tile': [
    {},
    // As on hardware.
    ...(THOROUGH
      ? [
          { bm: 64, bn: 64, bk: 16, tm: 8, tn: 8, pack: 0 },
          { bm: 32, bn: 64, bk: 8, tm: 8, tn: 8, pack: 1 },
        ]
      : []),
  ],
  'split-k': [
    {},
    { bm: 32, bn: 64, bk: 16, tm: 4, tn: 8, ways: 2 },
    { bm: 64, bn: 32, bk: 8, tm: 8, tn: 4, ways: 4 },
    { bm: 64, bn: 64, bk: 16, tm: 4, tn: 4, ways: 1 },
  ],
};

function few(rows: number, [x, y, z]: Size): Sizes {
  return {
    aligned: [
      [rows, 136, 264],
      [rows, 64, 8],
      [rows, 8, 0],
    ],
    odd: [
      [x, 137, 131],
      [y, 9, 300],
      [z, 33, 1],
    ],
  };
}
function turned({ aligned, odd }: Sizes): Sizes {
  const turn = (sizes: readonly Size[]) => sizes.map(([m, n, k]): Size => [n, m, k]);
  return { aligned: turn(aligned), odd: turn(odd) };
}

const EPILOGUES: Readonly<Record<string, (type: InputType) => Partial<ProblemOptions>>> = {
  bare: () => ({}),
  row: type => ({ alpha: isInteger(type) ? 3 : 0.75, beta: -2, bias: 'row', activation: 'relu' }),
  column: type => ({
    alpha: -1,
    beta: isInteger(type) ? 2 : 0.5,
    bias: 'column',
    activation: isInteger(type) ? 'relu' : 'silu',
    residual: true,
  }),
};

const ROWS = pairwise({
  type: TYPES,
  transA: [false, true],
  transB: [false, true],
  aligned: [true, false],
  epilogue: Object.keys(EPILOGUES).slice(THOROUGH ? 0 : 1),
});

/** Batches, strides and offsets are uniforms: the problems of a row take turns. */
function laidOut(options: ProblemOptions, turn: number, aligned: boolean): ProblemOptions {
  const { m, n, k, transA, transB } = options;
  const pad = aligned ? 8 : 3;
  const [rowsA, lda] = transA ? [k, m] : [m, k];
  const [rowsB, ldb] = transB ? [n, k] : [k, n];
  const ld = { lda: lda + pad, ldb: ldb + pad, ldc: n + pad };
  // Odd offsets make a problem unaligned whatever its sizes.
  const offset = { offsetA: aligned ? 16 : 5, offsetB: aligned ? 8 : 3, offsetC: aligned ? 4 : 7 };
  const strides = { strideA: rowsA * ld.lda + pad, strideB: rowsB * ld.ldb + pad, strideC: m * ld.ldc + pad };
  switch (turn % 3) {
    case 0:
      return aligned ? options : { ...options, ...offset };
    case 1:
      return { ...options, ...ld, ...offset, batch: 3, ...strides };
    default:
      return {
        ...options,
        ...ld,
        ...offset,
        batch: 2,
        ...strides,
        ...(turn % 2 ? { strideA: 0 } : { strideB: 0 }),
      };
  }
}

/** The kernel's first parameters that fit the driver. */
function paramsFor(kernel: Kernel, problem: Problem): Params {
  const { profile } = gpu();
  const candidates = kernel.candidates(problem, profile);
  const fits = candidates.find(
    params => brokenLimit(kernel.build(problem, profile, params), profile) === null,
  );
  expect(fits, `no parameters of ${kernel.name} fit ${driver}`).toBeDefined();
  return fits!;
}

/**
 * The same parameters for a pipeline; each third turn packs what another does not and may keep its loads still, fetches further
 * ahead, cuts K into ways, or sums small products apart.
 */
function pipelined(params: Params, turn: number): Params {
  const [{ K }] = gpu().profile.matrixConfigs;
  const third = Math.floor(turn / 3);
  return {
    ...params,
    ...{ bk: K, stages: 2, pack: [0, 1, 2, 3][third % 4], prefetch: [1, 2, 4][third % 3] },
    ...{ ways: 1 + (Math.floor(third / 2) % 2), stagger: 8 * (third % 2), still: third % 2 },
    apart: Math.floor(third / 4) % 2,
  };
}

/** Runs problems with the parameters of the first; what is wrong with any of them. */
async function failures(
  kernel: Kernel,
  problems: readonly Problem[],
  params: Params = paramsFor(kernel, problems[0]),
  edit?: (host: HostOperands) => void,
): Promise<string[]> {
  const { device, profile } = gpu();
  const found: string[] = [];
  for (const problem of problems) {
    const executable = await Executable.create(device, kernel.build(problem, profile, params));
    const failure = await runChecked(device, executable, problem, kernel.arithmetic(problem), edit);
    executable.destroy();
    if (failure !== null) found.push(`${describeProblem(problem)}, ${JSON.stringify(params)}: ${failure}`);
  }
  return found;
}

/** Whether the kernel serves a problem here; where it doesn't, it has to say why, in one line. */
function serves(kernel: Kernel, problem: Problem): boolean {
  const reason = kernel.rejects(problem, gpu().profile);
  if (reason !== null) expect(reason).toMatch(/^[^\n]{10,}$/);
  return reason === null;
}

const sizesOf = ({ name }: Kernel, turn: number): Sizes => {
  const own = OWN_SIZES[name];
  return own ? own[turn % own.length] : SIZES;
};

for (const [place, kernel] of KERNELS.entries()) {
  describe(kernel.name, () => {
    const rows = ROWS.map((row, turn) => ({ ...row, turn })).filter(
      ({ turn }) => turn % PART === place % PART,
    );
    test.each(rows)(
      '$type, transA $transA, transB $transB, aligned $aligned, epilogue $epilogue',
      async row => {
        const { type, transA, transB, aligned, epilogue, turn } = row;
        const sizes = sizesOf(kernel, turn);
        const problems = (aligned ? sizes.aligned : sizes.odd).map(([m, n, k], index) =>
          normalize(
            laidOut({ m, n, k, type, transA, transB, ...EPILOGUES[epilogue](type) }, index + turn, aligned),
          ),
        );
        if (!serves(kernel, problems[0])) return;
        // register-tile doesn't pack integers.
        const own = (OWN_PARAMS[kernel.name] ?? [{}]).filter(({ pack }) => !pack || !isInteger(type));
        const params = { ...paramsFor(kernel, problems[0]), ...own[Math.floor(turn / 2) % own.length] };
        // Every other row of a kernel that can cut K into slices does so, and every third of one that can be a pipeline is one.
        const cut = 'slices' in params && turn % 2 === 0 ? { ...params, slices: 3 } : params;
        const given = 'stages' in params && turn % 3 === 0 ? pipelined(cut, turn) : cut;
        const served = problems.filter(problem => serves(kernel, problem));
        expect(await failures(kernel, served, given)).toEqual([]);
      },
    );

    // Further tests take a size that is no multiple of anything, and the first type that the kernel serves here.
    const [m, n] = sizesOf(kernel, 2).odd[0];
    const typed = (options: ProblemOptions): Problem => {
      const problems = TYPES.map(type => normalize({ ...options, type }));
      return problems.find(problem => serves(kernel, problem)) ?? problems[0];
    };

    test('every number of rows, or of columns, around the edges of tiles', async () => {
      const edges = [3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129];
      const problems = edges
        .map(size => typed(m === 3 ? { m, n: size, k: 8 } : { m: size, n: 8, k: 8 }))
        .filter(problem => serves(kernel, problem));
      if (problems.length === 0) return;
      // The largest one's parameters serve all.
      const params = paramsFor(kernel, problems[problems.length - 1]);
      expect(await failures(kernel, problems, params)).toEqual([]);
    });

    test.each(MIXED.filter(({ aType }) => aType !== 'i8' || TYPES.includes('i8')))(
      'types %o',
      async types => {
        const problems = [0, 1, 2].map(turn =>
          normalize(laidOut({ m, n, k: 33 + turn, transB: true, ...types }, turn, false)),
        );
        if (!serves(kernel, problems[0])) return;
        expect(await failures(kernel, problems)).toEqual([]);
      },
    );

    test('the same input gives the same bits', async () => {
      const problem = typed({ m: Math.min(m, 20), n, k: 70 });
      if (!serves(kernel, problem)) return;
      const runs = kernel.name === 'split-k' ? (THOROUGH ? 1000 : 200) : 50;
      expect(await differentRuns(kernel, problem, runs)).toBe(0);
    });

    const special = [
      ['one at a time', n, {}],
      ['in fours', Math.ceil(n / 4) * 4, {}],
      ['in slices of K', Math.ceil(n / 4) * 4, { slices: 3 }],
      ['by a pipeline', n, { stages: 2 }],
    ] as const;
    test.each(special.slice(0, THOROUGH ? 4 : 1))(
      'NaN, infinity, −0, subnormals and huge numbers reach exactly their cells, stored %s',
      async (_, n, asked) => {
        const problem = typed({ m, n, k: 40 });
        if (isInteger(problem.a.type) || !serves(kernel, problem)) return;
        const params = paramsFor(kernel, problem);
        if (Object.keys(asked).some(name => !(name in params))) return;
        const [huge, tiny] = problem.a.type === 'f16' ? [60000, 1e-6] : [1e38, 1e-39];
        const edit = ({ a, b }: HostOperands) => {
          put(a, (m - 1) * 40 + 5, Number.NaN);
          put(b, 7 * n + n - 1, Number.NEGATIVE_INFINITY);
          put(b, 39 * n + 2, Number.POSITIVE_INFINITY);
          put(b, 3, huge);
          for (let k = 0; k < 40; k++) {
            put(b, k * n + 4, -0);
            // A driver may take subnormal numbers for 0: few of them, so that their sum is one too.
            put(b, k * n + 5, k < 3 ? tiny : 0);
          }
        };
        const given = 'stages' in asked ? pipelined(params, 1) : { ...params, ...asked };
        expect(await failures(kernel, [problem], given, edit)).toEqual([]);
      },
    );

    test('f16 sums in f32: 4096 products of ±36000 that cancel', async () => {
      const problem = normalize({ m: Math.min(m, 9), n: 8, k: 4096, type: 'f16' });
      if (!serves(kernel, problem)) return;
      const edit = ({ a, b }: HostOperands) => {
        for (const i of a.keys()) put(a, i, 16);
        for (const i of b.keys()) put(b, i, Math.floor(i / 8) % 4 < 2 ? 2250 : -2250);
      };
      expect(await failures(kernel, [problem], undefined, edit)).toEqual([]);
    });
  });
}

const put = (array: HostArray, index: number, value: number) => {
  array[index] = array instanceof Uint16Array ? toHalves(Float32Array.of(value))[0] : value;
};

/** Runs of one executable whose C differs in any bit from the first run's. */
async function differentRuns(kernel: Kernel, problem: Problem, runs: number): Promise<number> {
  const { device, profile } = gpu();
  const executable = await Executable.create(
    device,
    kernel.build(problem, profile, paramsFor(kernel, problem)),
  );
  const next = random(5);
  const buffers = {
    a: await uploadBuffer(device, 'a', randomArray(problem.a.type, problem.a.extent, next)),
    b: await uploadBuffer(device, 'b', randomArray(problem.b.type, problem.b.extent, next)),
    c: await uploadBuffer(device, 'c', new Float32Array(problem.c.extent)),
  };
  const bound = executable.bind({
    a: { buffer: buffers.a },
    b: { buffer: buffers.b },
    c: { buffer: buffers.c },
  });
  const bytes = problem.c.extent * 4;
  const results = await createBuffer(
    device,
    'results',
    runs * bytes,
    GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC,
  );
  for (let run = 0; run < runs; run++) {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    bound.encode(pass);
    pass.end();
    encoder.copyBufferToBuffer(buffers.c, 0, results, run * bytes, bytes);
    device.queue.submit([encoder.finish()]);
  }
  const all = new Int32Array(await readBuffer(device, results, runs * bytes));
  results.destroy();
  executable.destroy();
  for (const buffer of Object.values(buffers)) buffer.destroy();
  const words = bytes / 4;
  const differs = (run: number) =>
    all.subarray(run * words, (run + 1) * words).some((bits, index) => bits !== all[index]);
  return Array.from({ length: runs }, (_, run) => run).filter(differs).length;
}

describe.runIf(PART === 1)('A and B in aligned rows, C not', () => {
  test.each(KERNELS.map(kernel => [kernel.name, kernel] as const))('%s', async (_, kernel) => {
    const [m, n, k] = sizesOf(kernel, 0).aligned[0];
    const problem = normalize({ m, n, k, type: TYPES[0], offsetC: 3, ldc: n + 1 });
    if (!serves(kernel, problem)) return;
    expect(await failures(kernel, [problem])).toEqual([]);
  });
});

/** Operands along K come a round of steps at a time in a pipeline, and step by step otherwise; those across it step by step. */
describe.runIf(THOROUGH)('subgroup-matrix reads transposed operands as they lie', () => {
  const pipeline = { bm: 32, bn: 32, bk: 8, sm: 16, sn: 16, stages: 2, config: 0, still: 0 };
  const rows = [
    { ...pipeline, prefetch: 2, pack: 0, ways: 1, slices: 1 },
    { ...pipeline, prefetch: 1, pack: 0, ways: 2, slices: 1 },
    { ...pipeline, prefetch: 4, pack: 0, ways: 1, slices: 2 },
    { ...pipeline, stages: 1, bk: 32, prefetch: 0, pack: 0, ways: 1, slices: 1 },
    { ...pipeline, stages: 1, bk: 16, prefetch: 1, pack: 0, ways: 1, slices: 1 },
  ];
  const problems = [
    { m: 64, n: 96, k: 128 },
    { m: 40, n: 72, k: 104 }, // neither rows nor columns nor K are whole tiles
    { m: 48, n: 40, k: 72, batch: 2, strideB: 0 },
  ];
  const layouts = [
    { transA: false, transB: true },
    { transA: true, transB: false },
    { transA: true, transB: true },
  ];
  // Each takes seconds to compile: types and problems take turns.
  const types = ['f16', 'i8'] as const;
  const cases = layouts.flatMap((layout, l) =>
    rows.map((params, r) => {
      // Of bytes across K in both operands, lavapipe's small matrices leave no room for results.
      const across = layout.transA && !layout.transB;
      return { type: types[across ? 0 : (l + r) % 2], ...layout, params, size: problems[(l + r) % 3] };
    }),
  );
  test.each(cases)(
    '$type, transA $transA, transB $transB, $params',
    async ({ type, transA, transB, params, size }) => {
      const kernel = KERNELS.find(({ name }) => name === 'subgroup-matrix')!;
      const problem = normalize({ ...size, type, transA, transB });
      const labels = kernel.build(problem, gpu().profile, params).passes.map(({ label }) => label);
      expect(labels.filter(label => label.startsWith('pack'))).toEqual([]);
      expect(await failures(kernel, [problem], params)).toEqual([]);
    },
  );
});

describe('activations', () => {
  const activations: readonly Activation[] = ['gelu', 'gelu-tanh', 'sigmoid', 'tanh', { clip: [-0.5, 2] }];
  test.each(activations.map(activation => [JSON.stringify(activation), activation] as const))(
    '%s',
    async (_, it) => {
      const problem = { m: 33, k: 17, activation: it, alpha: 4 };
      expect(await failures(plain, [normalize({ ...problem, n: 18 })])).toEqual([]);
      expect(await failures(registerTile, [normalize({ ...problem, n: 20 })])).toEqual([]);
    },
  );
});
