/**
 * Words: several elements of A or B that lie side by side, read with one load of up to 16 bytes, and taken apart into
 * vec4s. Where an operand's rows are not aligned, a word is gathered from single elements, so that a kernel has one
 * way of reading.
 */
import type { Problem } from '../problem.ts';
import { rowLengthA, rowLengthB } from './frame.ts';
import { vectorizes, type Width } from './vectors.ts';

export interface Words {
  /** WGSL: `alias WordA`, `wordA(batch, row, k)` and `partA0(word)`, …; for B `wordB(batch, k, col)`. */
  readonly wgsl: string;
  /** Elements in a word. */
  readonly width: number;
  /** vec4s in a word. */
  readonly parts: number;
}

/** Whether the elements of a row of op(A), or of a column of op(B), lie side by side. */
export const liesAlongK = (problem: Problem, name: 'A' | 'B'): boolean =>
  name === 'A' ? !problem.a.trans : problem.b.trans;

/** The widest words of up to `most` elements that every row of an operand consists of; 1 where there are none. */
export function widest(problem: Problem, name: 'A' | 'B', most: Width): Width {
  const operand = name === 'A' ? problem.a : problem.b;
  const length = name === 'A' ? rowLengthA(problem) : rowLengthB(problem);
  const widths: readonly Width[] = operand.type === 'f16' ? [8, 4] : [4];
  return widths.find(width => width <= most && vectorizes(operand, length, width)) ?? 1;
}

/** Whether rows of both operands consist of words of four elements. */
export const inFours = (problem: Problem): boolean =>
  widest(problem, 'A', 4) === 4 && widest(problem, 'B', 4) === 4;

/**
 * @param width what the frame was given as vectorA or vectorB; words lie along the stored rows then. With 1, a word is
 *   gathered from 4 elements along `along`.
 */
export function words(
  problem: Problem,
  name: 'A' | 'B',
  width: Width,
  along: 'k' | 'across' = liesAlongK(problem, name) ? 'k' : 'across',
): Words {
  const { type } = name === 'A' ? problem.a : problem.b;
  const place = name === 'A' ? 'batch: u32, row: u32, k: u32' : 'batch: u32, k: u32, col: u32';
  const inside = name === 'A' ? '(row < params.m) & (k < params.k)' : '(k < params.k) & (col < params.n)';
  const { word, parts } = width === 1 ? { word: 'vec4<Sum>', parts: ['word'] } : takenApart(type, width);
  const load = `${name.toLowerCase()}[index${name}(${name === 'A' ? 'batch, row, k' : 'batch, k, col'}) / ${width}]`;
  const body = width === 1 ? gathered(name, along) : `select(Word${name}(), ${load}, ${inside})`;
  return {
    width: Math.max(4, width),
    parts: parts.length,
    wgsl: /* wgsl */ `
alias Word${name} = ${word};

// ${Math.max(4, width)} elements of ${name} that lie side by side, 0 outside of it.
fn word${name}(${place}) -> Word${name} {
  return ${body};
}

${parts.map((part, i) => `fn part${name}${i}(word: Word${name}) -> vec4<Sum> { return ${part}; }`).join('\n')}
`,
  };
}

function gathered(name: 'A' | 'B', along: 'k' | 'across'): string {
  const element = (i: number) => {
    const plus = i === 0 ? '' : ` + ${i}`;
    const [k, line] = along === 'k' ? [`k${plus}`, ''] : ['k', plus];
    return name === 'A' ? `loadA(batch, row${line}, ${k})` : `loadB(batch, ${k}, col${line})`;
  };
  return `vec4<Sum>(\n    ${[0, 1, 2, 3].map(element).join(',\n    ')},\n  )`;
}

function takenApart(type: string, width: Width): { word: string; parts: string[] } {
  if (width === 8) {
    return {
      word: 'vec4<u32>',
      // Not bitcast<vec4<f16>>, which naga (Deno, Firefox) takes for no vector of four.
      parts: ['xy', 'zw'].map(
        ([x, y]) => `vec4<Sum>(unpack2x16float(word.${x}), unpack2x16float(word.${y}))`,
      ),
    };
  }
  if (type === 'i8') {
    return { word: 'u32', parts: ['bitcast<vec4<i32>>(vec4(word) << vec4(24, 16, 8, 0)) >> vec4(24u)'] };
  }
  if (type === 'u8') {
    return { word: 'u32', parts: ['vec4<i32>((vec4(word) >> vec4(0, 8, 16, 24)) & vec4(255u))'] };
  }
  return { word: `vec4<${type}>`, parts: ['vec4<Sum>(word)'] };
}
