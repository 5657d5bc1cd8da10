/**
 * Operands of f32 that a pipeline (wgsl/matrix-pipeline.ts) splits into two f16 parts on their way from registers into
 * workgroup memory, each line times a power of two. A line is a row of A or a column of B. Its scale is given by the kernel,
 * a pass of which has found it; or the workgroup finds it:
 *
 * The steps that are fetched first, from either end of its part of K, tell the scale: it brings the largest element of a line in
 * them to [2^7, 2^8). Elements of 2^-2 and more keep all but the last bits of an f32, and up to 2^15 they fit. Those that do not,
 * infinity and NaN among them, are left out. Threads that have left something out look for it at the end and note where it is, and
 * the kernel's store adds what it contributes, as a plain sum does.
 *
 * Lines that can't be served so are marked, and their cells computed again, as plain sums of f32: those with infinity or NaN in the
 * first steps; those with elements that do not fit, if the tile has more of them than it can note; and those of nothing but zeros in
 * the first steps, if the scale that is guessed for them does not suit what follows.
 */
import type { Place } from './matrix-fetch.ts';
import { isAcrossK, type MatrixTile, MOST_LARGE, SIDES, type Side, scalesOf } from './matrix-layout.ts';
import { plus } from './terms.ts';
import { lines } from './unroll.ts';

/** The number of a line in the tile among those whose scales are found. */
export const lineFound = (tile: MatrixTile, side: Side, line: string): string =>
  plus(side === 'A' ? 0 : tile.bm, line);

/**
 * WGSL around an operand's words of f32. A thread's n-th word of a step is in `wordAn_0_SET` and `wordAn_1_SET`, four elements
 * each, of which `split` makes `wordAn.high` and `wordAn.low`.
 */
export interface SplitOfSide {
  /** Looks at the first words, in sets of registers. */
  readonly look: (sets: readonly string[]) => string;
  /** The thread's scales; where they are found, between a barrier behind `look` and one before `split`. */
  readonly scales: string;
  readonly split: (place: number, set: string | number) => string;
  /** Looks through all steps, `first` to `first + STEPS - 1`, where something was left out or a scale was guessed. */
  readonly check: string;
}

/** The same of an operand; undefined where it is not split here. */
export function splitOfSide(tile: MatrixTile, side: Side, places: readonly Place[]): SplitOfSide | undefined {
  const scales = scalesOf(tile, side);
  if (!scales) return undefined;
  const across = isAcrossK(tile, side);
  const halves = (place: number, set: string | number) =>
    [0, 1].map(half => `word${side}${place}_${half}_${set}`);
  // Across K, all of a thread's words are of eight lines, four in each half; along K, each word is of one line.
  const own = Array.from({ length: across ? 2 : places.length }, (_, i) => ({
    name: `${side}${i}`,
    line: lineFound(tile, side, across ? plus(4 * i, places[0].line) : places[i].line),
  }));
  const ofWord = (place: number) => (across ? own : [own[place], own[place]]);
  const scaled = (place: number, set: string | number) =>
    halves(place, set)
      .map((half, i) => `bitcast<vec4f>(${half}) * scale${ofWord(place)[i].name}`)
      .join(', ');
  if (scales === 'given') {
    return {
      look: () => '',
      scales: own
        .map(
          ({ name }, i) =>
            `let scale${name} = scalesOf${side}(tile.batch, ${plus(4 * i, `col${side} * WORD`)});`,
        )
        .join('\n'),
      split: (place, set) => `let word${side}${place} = split(Eight(${scaled(place, set)}));`,
      check: '',
    };
  }
  const note = places.map(({ at, k }, place) => {
    const words = [0, 1].map(half => `bitcast<vec4f>(${at(half)}) * scale${ofWord(place)[half].name}`);
    return `note${across ? 'Across' : 'Along'}(Eight(${words.join(', ')}), ${own[across ? 0 : place].line}, now * BK + ${k});`;
  });
  return {
    look: sets =>
      own
        .map(({ name, line }, i) => {
          const words = across
            ? places.flatMap((_, place) => sets.map(set => halves(place, set)[i]))
            : sets.flatMap(set => halves(i, set));
          return [
            `var most${name} = magnitude(${words[0]});`,
            ...words.slice(1).map(word => `most${name} = max(most${name}, magnitude(${word}));`),
            across ? `lookAtFour(${line}, most${name});` : `lookAt(${line}, largest(most${name}));`,
          ].join('\n');
        })
        .join('\n'),
    scales: [
      ...own.map(
        ({ name, line }) =>
          `let scale${name} = ${across ? `scalesOfFour(${line})` : `vec4(scaleOfLine(${line}))`};`,
      ),
      `var strange${side} = ${across ? `anyGuessed(${own[0].line})` : own.map(({ line }) => `isGuessed(${line})`).join(' || ')};`,
    ].join('\n'),
    split: (place, set) => {
      const word = `scaled${side}${place}`;
      return `var ${word} = Eight(${scaled(place, set)});
if (isLarge(${word})) { ${word} = withoutLarge(${word}); strange${side} = true; }
let word${side}${place} = split(${word});`;
    },
    check: `// What was left out of ${side} is looked for.
if (strange${side}) {
  for (now = first; now < first + STEPS; now++) {
    ${lines(note, 4)}
  }
}`,
  };
}

/** WGSL: functions that the pieces call. */
export function declareSplit(tile: MatrixTile): string {
  const scales = SIDES.map(side => scalesOf(tile, side));
  return [
    ...(scales.some(Boolean) ? [HALVES, SPLIT] : []),
    ...(scales.includes('found') ? [declareFound(tile)] : []),
  ].join('\n');
}

/**
 * The high part is the f32 rounded to the 11 bits of an f16, with integers: through f32(f16(x)) a compiler may fold
 * the rounding away.
 */
export const HALVES = /* wgsl */ `struct Halves { high: vec2<u32>, low: vec2<u32> }

fn halves(x: vec4f) -> Halves {
  let high = bitcast<vec4f>((bitcast<vec4<u32>>(x) + vec4(0x1000u)) & vec4(0xffffe000u));
  let low = x - high;
  return Halves(
    vec2(pack2x16float(high.xy), pack2x16float(high.zw)),
    vec2(pack2x16float(low.xy), pack2x16float(low.zw)),
  );
}
`;

/**
 * WGSL: `scaleFor(most)`, of the bits of a line's largest magnitude: the power of two that brings it to [2^power, 2^(power + 1)); 0
 * for infinity and NaN.
 */
export const scaleFor = (power: number): string => /* wgsl */ `fn scaleFor(most: u32) -> f32 {
  // 2^(${power} - e) for a largest element of 2^e and more; not so large that its inverse were a subnormal number.
  let scale = bitcast<f32>(min(${254 + power} - (most >> 23), 253u) << 23);
  return select(select(scale, 1.0, most == 0), 0.0, most >= 0x7f800000u);
}`;

const SPLIT = /* wgsl */ `struct Eight { x: vec4f, y: vec4f }
struct Parts { high: vec4<u32>, low: vec4<u32> }

fn split(word: Eight) -> Parts {
  let first = halves(word.x);
  let second = halves(word.y);
  return Parts(vec4(first.high, second.high), vec4(first.low, second.low));
}
`;

const declareFound = ({
  bm,
  bn,
}: MatrixTile) => /* wgsl */ `// What is known of each row of A in the tile and, behind them, of each column of B: the largest magnitude in the first steps,
// later with HAS_LARGE; if it is 0, GUESSED with the largest one behind them, times the guessed scale; or MARKED.
var<workgroup> known: array<atomic<u32>, ${bm + bn}>;
const HAS_LARGE = 1u;
const GUESSED = 0x80000000u;
const MARKED = 0xffffffffu;
const GUESS = 0x1p9f;

// Elements too large for their line's scale, as many as there is room for: the line, and K.
var<workgroup> large: array<vec2<u32>, ${MOST_LARGE}>;
var<workgroup> larges: atomic<u32>;
const TOO_LARGE = 0x47000000u;         // 2^15
const INFINITE = 0x7f800000u;

// Bits of magnitudes compare like the magnitudes, infinity and NaN above all numbers.
fn magnitude(x: vec4<u32>) -> vec4<u32> { return x & vec4(0x7fffffffu); }
fn largest(x: vec4<u32>) -> u32 { return max(max(x.x, x.y), max(x.z, x.w)); }

fn lookAt(line: u32, most: u32) { atomicMax(&known[line], most & ~HAS_LARGE); }

fn lookAtFour(first: u32, most: vec4<u32>) {
  for (var i = 0u; i < 4; i++) { lookAt(first + i, most[i]); }
}

fn isGuessed(line: u32) -> bool { return atomicLoad(&known[line]) == 0; }

fn anyGuessed(first: u32) -> bool {
  var any = false;
  for (var i = 0u; i < 8; i++) { any |= isGuessed(first + i); }
  return any;
}

${scaleFor(7)}

// 0 for a marked line.
fn scaleOfLine(line: u32) -> f32 {
  let most = atomicLoad(&known[line]);
  if (most > 0 && most < GUESSED) {
    let unserved = (most & HAS_LARGE) > 0 && atomicLoad(&larges) > ${MOST_LARGE};
    return select(scaleFor(most), 0.0, unserved);
  }
  let served = most == 0 || most == GUESSED || (most != MARKED && most - GUESSED >= bitcast<u32>(1.0));
  return select(0.0, GUESS, served);
}

fn scalesOfFour(first: u32) -> vec4f {
  return vec4f(scaleOfLine(first), scaleOfLine(first + 1), scaleOfLine(first + 2), scaleOfLine(first + 3));
}

// Whether one of the elements may be too large, or is none.
fn isLarge(word: Eight) -> bool {
  let both = abs(word.x) + abs(word.y);
  return bitcast<u32>(both.x + both.y + both.z + both.w) >= TOO_LARGE;
}

// 0 in place of elements that are too large.
fn withoutLarge(word: Eight) -> Eight {
  let fitX = magnitude(bitcast<vec4<u32>>(word.x)) < vec4(TOO_LARGE);
  let fitY = magnitude(bitcast<vec4<u32>>(word.y)) < vec4(TOO_LARGE);
  return Eight(select(vec4f(), word.x, fitX), select(vec4f(), word.y, fitY));
}

// Notes an element if it is too large or, where its line's scale is guessed, that it is there.
fn note(x: f32, line: u32, k: u32) {
  let most = bitcast<u32>(x) & 0x7fffffff;
  let fits = most < TOO_LARGE;
  let before = atomicLoad(&known[line]);
  if (before == 0 || before >= GUESSED) {
    atomicMax(&known[line], select(MARKED, GUESSED | most, fits));
  } else if (!fits && before < INFINITE) {
    atomicOr(&known[line], HAS_LARGE);
    let place = atomicAdd(&larges, 1);
    if (place < ${MOST_LARGE}) { large[place] = vec2(line, k); }
  }
}

// Of a line, eight elements along K.
fn noteAlong(word: Eight, line: u32, k: u32) {
  for (var i = 0u; i < 4; i++) {
    note(word.x[i], line, k + i);
    note(word.y[i], line, k + 4 + i);
  }
}

// Of eight lines, an element each.
fn noteAcross(word: Eight, line: u32, k: u32) {
  for (var i = 0u; i < 4; i++) {
    note(word.x[i], line + i, k);
    note(word.y[i], line + 4 + i, k);
  }
}
`;
