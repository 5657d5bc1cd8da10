/**
 * Panels of register-tile: a step's part of an operand in workgroup memory, for each k of the step a line of vec4s along
 * the tile's side. Threads carry words of four elements from storage into them.
 *
 * A line is in groups of as many vec4s as threads lie along the side. So where a panel is read, every index but the
 * thread's own place in a group is a constant: the check that WGSL puts before it is the same for all reads, and is made
 * once.
 */
import type { Operand, Problem } from '../problem.ts';
import { ceilDiv } from '../program.ts';
import { modulo, over, plus, times } from './terms.ts';
import { liesAlongK } from './words.ts';

export interface Panel {
  /** WGSL: the panel in workgroup memory. */
  readonly declaration: string;
  /** Of workgroup memory. */
  readonly bytes: number;
  /** WGSL: finds the first step's words; nothing where each word is found anew. */
  readonly start: readonly string[];
  /** Variables that hold words on their way, and WGSL for what storage holds for them in the step at `base` of K. */
  readonly words: readonly { readonly name: string; at(base: string): string }[];
  /** WGSL: moves on to the next step's words. */
  readonly next: readonly string[];
  /** WGSL: stores the words into the panel. */
  readonly stores: readonly string[];
  /** WGSL: this thread's vec4 of a group of a line. */
  read(k: number, group: number): string;
}

/** What a panel has to know of its tile. */
export interface Side {
  readonly name: 'A' | 'B';
  /** Rows or columns of the tile. */
  readonly side: number;
  /** Threads along them. */
  readonly along: number;
  /** Threads of the workgroup. */
  readonly threads: number;
  /** Step along K. */
  readonly bk: number;
}

/** Where words come from. */
interface Source {
  readonly start: readonly string[];
  readonly next: readonly string[];
  /** WGSL: the thread's word in the step at `base`, or the one so many stored rows further. */
  word(rows: number, base: string): string;
  /** WGSL: a word's elements. */
  elements(word: string): string;
}

/** A thread's first word in a step of an operand as it lies: the stored row, and which of the row's words. */
interface Place {
  readonly row: string;
  readonly word: string;
}

const corner = (name: 'A' | 'B') => (name === 'A' ? 'tile.row' : 'tile.col');
const lane = (name: 'A' | 'B') => (name === 'A' ? 'y' : 'x');

/**
 * vec4s between the lines of four k and the next four, of a panel whose operand is turned on its way in: threads side by
 * side write lines four k apart, which have to begin in different banks.
 */
export const paddingOf = (bk: number): number => Math.max(1, Math.floor(32 / bk));

/** Bytes of a panel in workgroup memory. */
export const panelBytes = (side: number, bk: number, turned: boolean): number =>
  (bk * side + (turned ? bk * paddingOf(bk) : 0)) * 4;

/** A step's units of work, one a thread: words, or, where they are turned, fours of words; and how many lie side by side. */
const unitsOf = (side: number, bk: number, turned: boolean) =>
  turned ? { units: ((bk / 4) * side) / 4, beside: bk / 4 } : { units: (bk * side) / 4, beside: side / 4 };

/** Whether the threads can carry a step in whole rounds of the same pattern, or in a part of one. */
export function carries({ side, bk, threads }: Side, turned: boolean): boolean {
  const { units, beside } = unitsOf(side, bk, turned);
  return units <= threads || (units % threads === 0 && threads % beside === 0);
}

/** WGSL: this thread's unit. Where there are too few for all threads, the rest carries the same, and does not store it. */
const unitOf = (threads: number, units: number) => (units < threads ? `thread % ${units}` : 'thread');
const stored = (threads: number, units: number, stores: string[]): string[] =>
  units < threads ? [`if (thread < ${units}) {\n  ${stores.join('\n  ')}\n}`] : stores;

/** Blocks that hold the panel's vec4s in just this order (kernels/pack.ts). */
export function packedPanel(side: Side): Panel {
  const { name, threads, bk } = side;
  const { units, beside: line } = unitsOf(side.side, bk, false);
  const next = `next${name}`;
  const tile = `${corner(name)} / ${side.side} * params.depth * params.slices`;
  return acrossPanel(side, {
    start: [
      `var ${next} = tile.batch * params.stride${name} / 4 + (${tile} + start) * ${line} + ${unitOf(threads, units)};`,
    ],
    next: [`${next} += ${units};`],
    word: rows => `${name.toLowerCase()}[${plus(rows * line, next)}]`,
    elements: word => word,
  });
}

/**
 * The operand as it lies, with its elements turned 4×4 where it lies along K.
 *
 * @param wholeWords whether its rows consist of vec4s of floats; else they are read through `wordA` or `wordB` (words.ts)
 */
export function panel(problem: Problem, side: Side, wholeWords: boolean): Panel {
  const { name, threads, bk } = side;
  const turned = liesAlongK(problem, name);
  const { units, beside } = unitsOf(side.side, bk, turned);
  const unit = unitOf(threads, units);
  const place = {
    row: turned ? `${over(unit, beside)} * 4` : over(unit, beside),
    word: modulo('thread', beside),
  };
  const operand = name === 'A' ? problem.a : problem.b;
  const source = wholeWords
    ? inWords(operand, side, place, turned, problem.k % bk === 0)
    : anyhow(side, place, turned);
  return turned ? turnedPanel(side, source) : acrossPanel(side, source);
}

/**
 * Rows of whole, aligned words. Rows or columns past the edge of C may hold anything, since nobody stores their sums; what
 * is past the end of K must be zeros in both operands: behind them there may be infinities.
 */
function inWords(
  { type }: Operand,
  { name, bk }: Side,
  { row, word }: Place,
  turned: boolean,
  wholeSteps: boolean,
): Source {
  const [next, pitch] = [`next${name}`, `pitch${name}`];
  const first = `params.offset${name} + tile.batch * params.stride${name}`;
  const origin = turned
    ? `(${first}) / 4 + (${corner(name)} + ${row}) * ${pitch} + ${word} + start / 4`
    : `(${first} + ${corner(name)}) / 4 + (start + ${row}) * ${pitch} + ${word}`;
  return {
    start: [`let ${pitch} = params.ld${name.toLowerCase()} / 4;`, `var ${next} = ${origin};`],
    next: [`${next} += ${turned ? bk / 4 : `${bk} * ${pitch}`};`],
    word: (rows, base) => {
      const index = rows === 0 ? next : `${next} + ${pitch}${times(rows)}`;
      const value = `${name.toLowerCase()}[${index}]`;
      const k = turned ? `${base} + ${word} * 4` : plus(rows, `${base} + ${row}`);
      return wholeSteps ? value : `select(vec4<${type}>(), ${value}, ${k} < params.k)`;
    },
    elements: value => (type === 'f32' ? value : `vec4<Sum>(${value})`),
  };
}

/** Any rows at all, through `wordA` or `wordB` (words.ts). */
function anyhow({ name }: Side, { row, word }: Place, turned: boolean): Source {
  return {
    start: [],
    next: [],
    word: (rows, base) => {
      const [across, k] = turned
        ? [plus(rows, `${corner(name)} + ${row}`), `${base} + ${word} * 4`]
        : [`${corner(name)} + ${word} * 4`, plus(rows, `${base} + ${row}`)];
      return `word${name}(tile.batch, ${name === 'A' ? `${across}, ${k}` : `${k}, ${across}`})`;
    },
    elements: value => `part${name}0(${value})`,
  };
}

/** WGSL: the type of so many lines of a panel. */
const linesOf = ({ side, along }: Side, count: number) =>
  `array<array<array<vec4<Sum>, ${along}>, ${side / 4 / along}>, ${count}>`;

/** A panel whose words lie across the tile's side: each is one of its vec4s. */
function acrossPanel(side: Side, { start, next, word, elements }: Source): Panel {
  const { name, threads, bk, along } = side;
  const { units, beside: line } = unitsOf(side.side, bk, false);
  const unit = unitOf(threads, units);
  const group = line === along ? '0' : over(modulo('thread', line), along);
  const rounds = Array.from({ length: ceilDiv(units, threads) }, (_, round) => ({
    name: `word${name}${round}`,
    rows: (round * threads) / line,
  }));
  return {
    ...{ start, next },
    declaration: `var<workgroup> panel${name}: ${linesOf(side, bk)};`,
    bytes: panelBytes(side.side, bk, false),
    words: rounds.map(({ name, rows }) => ({ name, at: base => word(rows, base) })),
    stores: stored(
      threads,
      units,
      rounds.map(
        ({ name: own, rows }) =>
          `panel${name}[${plus(rows, over(unit, line))}][${group}][${modulo('thread', along)}] = ${elements(own)};`,
      ),
    ),
    read: (k, group) => `panel${name}[${k}][${group}][${lane(name)}]`,
  };
}

/** A panel whose words lie along K: a thread turns four of them, of four rows or columns. */
function turnedPanel(side: Side, { start, next, word, elements }: Source): Panel {
  const { name, threads, bk, along } = side;
  const { units, beside: fours } = unitsOf(side.side, bk, true);
  const line = side.side / 4;
  const unit = unitOf(threads, units);
  const rounds = Array.from({ length: ceilDiv(units, threads) }, (_, round) => {
    const further = (round * threads) / fours;
    const vector = plus(further, over(unit, fours));
    const place =
      further === 0
        ? { group: over(unit, fours * along), vector: modulo(over('thread', fours), along) }
        : { group: `(${vector}) / ${along}`, vector: `(${vector}) % ${along}` };
    return {
      place: `[${line === along ? '0' : place.group}][${place.vector}]`,
      words: [0, 1, 2, 3].map(i => ({
        name: `word${name}${4 * round + i}`,
        at: (base: string) => word(4 * further + i, base),
      })),
    };
  });
  return {
    ...{ start, next },
    declaration: `struct Lines${name} { at: ${linesOf(side, 4)}, padding: array<vec4<Sum>, ${paddingOf(bk)}> }
var<workgroup> panel${name}: array<Lines${name}, ${fours}>;`,
    bytes: panelBytes(side.side, bk, true),
    words: rounds.flatMap(({ words }) => words),
    stores: stored(
      threads,
      units,
      rounds.flatMap(({ words, place }) =>
        [...'xyzw'].map((part, i) => {
          const parts = words.map(({ name }) => `${elements(name)}.${part}`).join(', ');
          return `panel${name}[${modulo('thread', fours)}].at[${i}]${place} = vec4(${parts});`;
        }),
      ),
    ),
    read: (k, group) => `panel${name}[${k >> 2}].at[${k % 4}][${group}][${lane(name)}]`,
  };
}
