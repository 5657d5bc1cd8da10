/** The programs in the documents: what each consists of, and what it prints. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Sample {
  /** Document and line. */
  readonly name: string;
  /** Where it runs: ```ts is Node, ```ts browser is a page. */
  readonly where: 'node' | 'browser';
  /** Sources by file name; the program begins in main.ts. */
  readonly files: Readonly<Record<string, string>>;
  /** The ```text block below it. `…` stands for anything. */
  readonly output: string | null;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BLOCK = /^```([^\n]*)\n([\s\S]*?)^```$/gm;

/** A block whose first line is `// worker.ts` is that file of the program whose `// main.ts` follows. */
export function samplesOf(document: string): Sample[] {
  const text = readFileSync(ROOT + document, 'utf8');
  const samples: Sample[] = [];
  let files: Record<string, string> = {};
  for (const { 1: info, 2: source, index } of text.matchAll(BLOCK)) {
    const [language, where = 'node'] = info.split(' ');
    const last = samples.at(-1);
    if (language === 'text' && last && last.output === null) {
      samples.splice(-1, 1, { ...last, output: source });
    }
    if (language !== 'ts') continue;
    const file = /^\/\/ (\w+\.ts)\n/.exec(source)?.[1] ?? 'main.ts';
    files[file] = source;
    if (file !== 'main.ts') continue;
    const line = text.slice(0, index).split('\n').length;
    samples.push({ name: `${document}:${line}`, where: where as Sample['where'], files, output: null });
    files = {};
  }
  return samples;
}

/** What has to be printed, as a pattern. */
export function patternOf(output: string): RegExp {
  const literal = output.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('…', '[\\s\\S]*?')}$`);
}

export const SAMPLES: readonly Sample[] = ['README.md', 'docs/guide.md', 'docs/errors.md'].flatMap(samplesOf);
