/** `webgemm matmul A.npy B.npy -o C.npy`: multiplies two real matrices. */
import { Command } from 'commander';
import { GemmError } from '../../errors.ts';
import { highestF32Rung, type Multiplied, multiply } from '../../ladder/multiply.ts';
import type { Rung } from '../../ladder/rung.ts';
import { findRungs } from '../../ladder/rungs.ts';
import type { OpenGpu } from '../gpu.ts';
import { adapterName, colours, duration, gflops } from './format.ts';
import { type NpyMatrix, npyBytes, readMatrix } from './npy.ts';
import { type GpuOptions, openOptions, withGpuOptions } from './options.ts';
import { OutputFile } from './output.ts';
import { withGpu } from './session.ts';

interface MatmulOptions extends GpuOptions {
  readonly output: string;
  readonly rung?: string;
}

export function matmulCommand(): Command {
  const command = new Command('matmul')
    .summary('Multiply two matrices from NumPy files.')
    .description(
      'Multiply two matrices from NumPy files (float32 or float16, C or Fortran order). ' +
        'C is float16 where both are, else float32. ' +
        'The sums are f32, unless a rung that makes f16 results is asked for.',
    )
    .argument('<a>', 'A, an .npy file of m×k')
    .argument('<b>', 'B, an .npy file of k×n')
    .requiredOption('-o, --output <file>', 'where to write C, an .npy file of m×n')
    .option('--rung <id>', 'the rung to multiply with (default: the highest that runs here in f32)');
  return withGpuOptions(command).action(async (a: string, b: string, options: MatmulOptions) => {
    const rung = options.rung === undefined ? undefined : oneRung(options.rung);
    const gpu = openOptions(options);
    const begin = performance.now();
    const files = { a: readMatrix(a), b: readMatrix(b) };
    const read = performance.now() - begin;
    if (files.a.cols !== files.b.rows) {
      throw new GemmError(
        'shape-mismatch',
        `${a} is ${sizeOf(files.a)} and ${b} is ${sizeOf(files.b)}: the inner dimensions ${files.a.cols} and ${files.b.rows} differ`,
        "A's columns must be as many as B's rows.",
      );
    }
    const output = new OutputFile(options.output);
    const summary = await withGpu(gpu, opened => matmul(opened, { ...files, rung, output, read }), {
      output,
    });
    process.stdout.write(`${summary}\n`);
  });
}

interface MatmulRun {
  readonly a: NpyMatrix;
  readonly b: NpyMatrix;
  readonly rung: Rung | undefined;
  readonly output: OutputFile;
  /** Milliseconds that reading the files took. */
  readonly read: number;
}

/** Multiplies and writes C. @returns what was used and how long each part took */
async function matmul(opened: OpenGpu, { a, b, output, read, ...asked }: MatmulRun): Promise<string> {
  const { device, profile } = opened;
  const shape = { m: a.rows, k: a.cols, n: b.cols };
  const halves = a.type === 'float16' && b.type === 'float16';
  const rung = asked.rung ?? highestF32Rung(shape, profile);
  const factors = { shape, a: a.data, b: b.data, type: halves ? 'f16' : 'f32' } as const;
  const result = await multiply(device, profile, rung, factors);
  const type = halves ? 'float16' : 'float32';
  const begin = performance.now();
  output.write(npyBytes({ rows: shape.m, cols: shape.n, type, data: result.c }));
  const write = performance.now() - begin;
  return summarise(opened, { a, b, type, rung, result, path: output.path, times: { read, write } });
}

interface Outcome {
  readonly a: NpyMatrix;
  readonly b: NpyMatrix;
  readonly type: NpyMatrix['type'];
  readonly rung: Rung;
  readonly result: Multiplied;
  readonly path: string;
  readonly times: { readonly read: number; readonly write: number };
}

function summarise({ profile }: OpenGpu, { a, b, type, rung, result, path, times }: Outcome): string {
  const { bold, dim } = colours('stdout');
  const { program, timings } = result;
  const rate = (2 * a.rows * a.cols * b.cols) / timings.multiply / 1e6;
  const clock = result.timer === 'gpu-timestamp' ? 'GPU time' : 'wall clock';
  const beside = program.passes.slice(0, -1).map(({ label }) => label);
  const remarks = [clock, 'one cold run', ...(beside.length > 0 ? [`with ${beside.join(', ')}`] : [])].join(
    ', ',
  );
  const kernel = [rung.idea, `${program.inputs} in, ${program.result} out`, program.detail]
    .filter(Boolean)
    .join('; ');
  const parts: [string, number, string][] = [
    ['read', times.read, `A ${sizeOf(a)} ${a.type}, B ${sizeOf(b)} ${b.type}`],
    ['upload', timings.upload, ''],
    ['compile', timings.compile, ''],
    ['multiply', timings.multiply, `${gflops(rate)} GFLOP/s (${remarks})`],
    ['download', timings.download, ''],
    ['write', times.write, `C ${a.rows}×${b.cols} ${type} to ${path}`],
  ];
  return [
    `${bold(adapterName(profile))}${profile.software ? ', a software GPU' : ''}`,
    `rung ${bold(rung.rung)} ${rung.id}: ${kernel}`,
    '',
    ...parts.map(([name, ms, text]) =>
      `${name.padEnd(10)}${duration(ms).padStart(8)}  ${dim(text)}`.trimEnd(),
    ),
  ].join('\n');
}

function oneRung(name: string): Rung {
  const rungs = findRungs(name);
  if (rungs.length === 1) return rungs[0];
  throw new GemmError('invalid-argument', `--rung is "${name}"`, 'Name one rung; `webgemm info` lists them.');
}

const sizeOf = ({ rows, cols }: NpyMatrix) => `${rows}×${cols}`;
