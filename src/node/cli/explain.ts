/** `webgemm explain M N K`: which kernel a problem would get, and why, on this machine or on a described one. */
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { GemmError } from '../../errors.ts';
import { KERNELS } from '../../kernels/index.ts';
import { explanationOf, outlineParts, shadersOf } from '../../parts.ts';
import { type Accuracy, type Activation, normalize, type ProblemOptions } from '../../problem.ts';
import { DEFAULT_LIMITS, type Profile } from '../../profile.ts';
import { Knowledge } from '../../tuning/knowledge.ts';
import { fileStore } from '../store-file.ts';
import { type GpuOptions, openOptions, sizeOf, withGpuOptions } from './options.ts';
import { fileError } from './output.ts';
import { withGpu } from './session.ts';

interface ExplainOptions extends GpuOptions {
  readonly type: 'f32' | 'f16' | 'i8' | 'u8';
  readonly cType?: 'f32' | 'f16' | 'i32';
  readonly batch: number;
  readonly transA?: boolean;
  readonly transB?: boolean;
  readonly bias: 'none' | 'row' | 'column';
  readonly activation: Activation;
  readonly accuracy: Accuracy;
  readonly kernel?: string;
  readonly profile?: string;
  readonly wgsl?: boolean;
  readonly json?: boolean;
}

export function explainCommand(): Command {
  const one = (flags: string, text: string, choices: string[]) => new Option(flags, text).choices(choices);
  const command = new Command('explain')
    .description('Show which kernel an m×n×k product would get and why, without running it.')
    .argument('<m>', 'rows of A and C', sizeOf('m'))
    .argument('<n>', 'columns of B and C', sizeOf('n'))
    .argument('<k>', 'columns of A and rows of B', sizeOf('k'))
    .addOption(one('--type <type>', 'type of A and B', ['f32', 'f16', 'i8', 'u8']).default('f32'))
    .addOption(one('--c-type <type>', 'type of C', ['f32', 'f16', 'i32']))
    .option('--batch <count>', 'products at once', sizeOf('--batch'), 1)
    .option('--trans-a', 'A is stored transposed')
    .option('--trans-b', 'B is stored transposed')
    .addOption(one('--bias <along>', 'a bias vector', ['none', 'row', 'column']).default('none'))
    .addOption(
      one('--activation <name>', 'applied to C', [
        ...['none', 'relu', 'gelu', 'gelu-tanh', 'silu', 'sigmoid', 'tanh'],
      ]).default('none'),
    )
    .addOption(one('--accuracy <name>', 'what may be narrowed', ['f32', 'strict', 'f16']).default('f32'))
    .option('--kernel <name>', 'only this kernel')
    .option('--profile <file>', 'a device to explain for, as `webgemm info --json` prints it')
    .option('--wgsl', 'print the WGSL of every pass')
    .option('--json', 'print one JSON document');
  return withGpuOptions(command).action(async (m: number, n: number, k: number, options: ExplainOptions) => {
    const { profile: file, wgsl, json, kernel, software: _, adapter: __, ...rest } = options;
    const problem = normalize({ m, n, k, ...rest } as ProblemOptions);
    const profile =
      file === undefined
        ? await withGpu(openOptions(options), async opened => opened.profile)
        : readProfile(file);
    const knowledge = await Knowledge.load(profile, fileStore());
    for (const reason of knowledge.ignored) process.stderr.write(`webgemm: ${reason}\n`);
    const parts = outlineParts(problem, profile, {
      kernels: KERNELS,
      suggest: piece => knowledge.suggest(piece),
      ...(kernel === undefined ? {} : { force: kernel }),
    });
    const explanation = explanationOf(problem, profile, parts);
    const shaders = wgsl ? shadersOf(parts) : [];
    const document = { schema: 'webgemm-explain/1', ...explanation, ...(wgsl ? { shaders } : {}) };
    const text = [`${explanation}`, ...shaders.map(({ label, wgsl }) => `// ${label}\n${wgsl.trim()}`)];
    process.stdout.write(`${json ? JSON.stringify(document, null, 2) : text.join('\n\n')}\n`);
  });
}

/**
 * A profile from a file: a profile by itself, or what `webgemm info --json` prints.
 *
 * @throws GemmError `invalid-file`
 */
function readProfile(path: string): Profile {
  const refuse = (reason: string, cause?: unknown) =>
    new GemmError(
      'invalid-file',
      `${path} is no profile: ${reason}`,
      'Give a file that `webgemm info --json` wrote.',
      { cause },
    );
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw refuse(fileError(cause), cause);
  }
  let document: { adapter?: object; wgslFeatures?: unknown } & Partial<Profile>;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw refuse((cause as Error).message, cause);
  }
  const { adapter, ...beside } = document ?? {};
  const found = { ...beside, ...adapter } as Partial<Profile>;
  const lists = [found.features, found.wgslFeatures, found.matrixConfigs];
  const limits = Object.keys(DEFAULT_LIMITS).filter(
    name => typeof found.limits?.[name as keyof Profile['limits']] !== 'number',
  );
  if (!lists.every(Array.isArray)) throw refuse('features, wgslFeatures or matrixConfigs is missing');
  if (limits.length > 0) throw refuse(`its limits lack ${limits.join(', ')}`);
  return found as Profile;
}
