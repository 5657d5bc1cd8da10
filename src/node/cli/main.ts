/** The command line: which commands there are, and what becomes of errors. */
import { Command, CommanderError } from 'commander';
import { GemmError } from '../../errors.ts';
import { benchCommand } from './bench.ts';
import { explainCommand } from './explain.ts';
import { infoCommand } from './info.ts';
import { ladderCommand } from './ladder.ts';
import { matmulCommand } from './matmul.ts';
import { pageCommand } from './page.ts';
import { tuneCommand } from './tune.ts';

/** Exit codes: what was asked for was bad, or something went wrong that should not have. */
const BAD_INPUT = 2;
const UNEXPECTED = 3;

/** The package that the command belongs to. */
export interface Package {
  readonly version: string;
  /** The folder of the built page. */
  readonly page: string;
}

/** Runs a command and returns the exit code: 0, 1 for a wrong or failed rung, 2 for bad input, 3 for a bug. */
export async function main(args: readonly string[], { version, page }: Package): Promise<number> {
  let exitCode = 0;
  const finish = (code: number) => {
    exitCode = code;
  };
  const program = new Command('webgemm')
    .description('Fast, trustworthy matrix multiplication on WebGPU.')
    .version(version)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  const commands = [
    ladderCommand(version, finish),
    infoCommand(version),
    matmulCommand(),
    explainCommand(),
    benchCommand(version, finish),
    tuneCommand(finish),
    pageCommand(page),
  ];
  for (const command of commands) {
    program.addCommand(command.copyInheritedSettings(program));
  }
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0; // --help, --version
    complain(error.message.replace(/^error: /, ''), '`webgemm --help` shows what there is');
    return BAD_INPUT;
  }
  if (error instanceof GemmError) {
    complain(error.message, error.hint);
    return BAD_INPUT;
  }
  console.error('webgemm: unexpected error, please report it');
  console.error(error);
  return UNEXPECTED;
}

/** One line: what is wrong; what to do. */
function complain(what: string, todo: string): void {
  const hint = todo.replace(/^[A-Z][a-z]+\b/, word => word.toLowerCase());
  const line = [what, hint].filter(Boolean).join('; ');
  process.stderr.write(`webgemm: ${line.replace(/\s*\n\s*/g, ' ')}\n`);
}
