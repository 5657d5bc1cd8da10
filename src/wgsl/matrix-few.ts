/**
 * Tiles of few rows or columns, of f16 operands that lie in blocks: 1025 columns are one more than eight times 128, and whole tiles
 * for that one take as long as all others, where those just fill the device (docs/performance.md, log entry 52). Such tiles are plain
 * sums of f32, of the same words that the matrices would multiply.
 *
 * Mapping: a thread takes the words of each step that it would fetch of the tile's long side, with those of each of the few lines.
 * Its sums of a word, four at the most, are a word of workgroup memory; there, those of a line are added.
 */
import {
  type MatrixTile,
  pipelineLayout,
  type Side,
  sizesOf,
  storeOf,
  threadsOfWay,
  wordElements,
} from './matrix-layout.ts';
import { paragraph, partsOf } from './matrix-tile.ts';
import { plus, times } from './terms.ts';
import { unroll } from './unroll.ts';

export interface FewTiles {
  /** Functions that `main` calls. */
  readonly functions: string;
  /** In `main`, once a thread's words have their places: makes such a tile, and returns. */
  readonly main: string;
}

export function fewTiles(tile: MatrixTile): FewTiles {
  const { rows, cols } = tile.few;
  const sides = [
    ...(cols > 0 ? [fewOf(tile, 'B', cols)] : []),
    ...(rows > 0 ? [fewOf(tile, 'A', rows)] : []),
  ];
  return { functions: rows + cols > 0 ? functions(tile) : '', main: sides.join('\n') };
}

/** Words of a line in a step. */
const wordsOf = (tile: MatrixTile): number => tile.bk / wordElements(tile);

/** Words of workgroup memory from one way's sums to the next one's. */
const wordsOfWay = (tile: MatrixTile): number => Math.max(tile.bm, tile.bn) * wordsOf(tile);

/** Words of a thread that are under way at once, and steps that they are of at the most: few such tiles run beside the others. */
const LOADS = 44;
const STEPS = 12;

function functions(tile: MatrixTile): string {
  const parts = partsOf(tile);
  const ofLine = wordsOf(tile);
  const given = (name: string) => parts.map(part => `${name}${part}: Word`).join(', ');
  const numbers = (name: string, half: string) => {
    const sum = parts.map(part => `numbers(${name}${part}.${half})`).join(' + ');
    return parts.length > 1 ? `(${sum})` : sum;
  };
  return /* wgsl */ `
fn numbers(halves: vec2<u32>) -> vec4f { return vec4f(unpack2x16float(halves.x), unpack2x16float(halves.y)); }

fn productOf(${given('x')}, ${given('y')}) -> f32 {
  return dot(${numbers('x', 'xy')}, ${numbers('y', 'xy')})
    + dot(${numbers('x', 'zw')}, ${numbers('y', 'zw')});
}

// A line's sums with each of the few, from the threads that have words of it.
fn sumsOf(line: u32) -> vec4f {
  let at = line / 8 * ${8 * ofLine} + line % 8;
  var sums = vec4f();
  ${unroll(tile.ways * ofLine, 2, i => {
    const [way, word] = [Math.floor(i / ofLine), i % ofLine];
    return `sums += bitcast<vec4f>(${inMemory(tile, plus(way * wordsOfWay(tile) + 8 * word, 'at'))});`;
  })}
  return sums;
}
`;
}

/** WGSL: the word of that number of a buffer, whatever slice it is in. */
function inMemory(tile: MatrixTile, at: string): string {
  const { slice } = pipelineLayout(tile);
  const term = at.includes(' ') ? `(${at})` : at;
  return `memory0[${term} / ${slice}][${term} % ${slice}]`;
}

/** WGSL for tiles of which one side has few lines. */
function fewOf(tile: MatrixTile, side: Side, few: number): string {
  const { steps, fixedSteps, ways, together, bm, bn, width } = tile;
  const other: Side = side === 'A' ? 'B' : 'A';
  const T = threadsOfWay(tile);
  /** Words of a step. */
  const [long, short] = [sizesOf(tile, other).all, sizesOf(tile, side).all].map(all => all * wordsOf(tile));
  const ofThread = Array.from({ length: long / T }, (_, i) => i);
  const parts = partsOf(tile);
  const word = (part: number, i: number) =>
    `${other.toLowerCase()}[${plus(i * T, `block${other}${part} + now * ${long}`)}]`;
  const ofFew = (part: number, j: number) =>
    `${side.toLowerCase()}[${plus(j, `firstFew${part} + now * ${short}`)}]`;
  const ofStep = parts.length * (ofThread.length + few);
  const rounds = Math.ceil(steps / Math.max(1, Math.min(STEPS, Math.floor(LOADS / ofStep))));
  const atOnce = fixedSteps ? Math.floor(steps / rounds) : together;
  const rest = fixedSteps ? steps - rounds * atOnce : 0;
  const load = (s: number, before: string) =>
    [
      `now = first + ${plus(s, before)};`,
      ...ofThread.flatMap(i => parts.map(part => `let word${s}_${i}${part} = ${word(part, i)};`)),
      ...parts.map(part => unroll(few, 0, j => `let few${s}_${j}${part} = ${ofFew(part, j)};`)),
    ].join('\n');
  const add = (s: number) =>
    ofThread
      .map(i =>
        unroll(few, 0, j => {
          const of = (name: string) => parts.map(part => `${name}${part}`).join(', ');
          return `own${i}[${j}] += productOf(${of(`word${s}_${i}`)}, ${of(`few${s}_${j}`)});`;
        }),
      )
      .join('\n');
  const lines = side === 'A' ? bn : bm;
  const atATime = side === 'A' ? width : 1;
  const thread = ways > 1 ? 'threadOfAll' : 'thread';
  const cell = ways > 1 ? `filling * ${wordsOfWay(tile)} + thread` : 'thread';
  return `if (${side === 'A' ? 'tile.row + BM > params.m' : 'tile.col + BN > params.n'}) {
  // Few ${side === 'A' ? 'rows' : 'columns'}. Where the words of the first of them lie:
  ${unroll(parts.length, 2, part => `let firstFew${part} = block${side}${part} - thread + atK * 8;`)}
  ${unroll(ofThread.length, 2, i => `var own${i} = vec4f();`)}
  for (var round = 0u; round < ${fixedSteps ? rounds : `STEPS / ${atOnce}`}; round++) {
    ${unroll(atOnce, 4, s => load(s, `round * ${atOnce}`))}
    ${unroll(atOnce, 4, add)}
  }
  ${paragraph(
    unroll(rest, 2, s => `${load(s, `${rounds * atOnce}`)}\n${add(s)}`),
    2,
  )}${unroll(ofThread.length, 2, i => `${inMemory(tile, plus(i * T, cell))} = bitcast<vec4<u32>>(own${i});`)}
  workgroupBarrier();
  for (var line = ${thread}${times(atATime)}; line < ${lines}; line += ${ways * T * atATime}) {
    ${stores(tile, side, few)}
  }
  return;
}`;
}

/** WGSL: the sums of a line, or of four columns that are stored at once, into C. */
function stores(tile: MatrixTile, side: Side, few: number): string {
  const { width, slices } = tile;
  const slice = slices > 1 ? ', tile.slice' : '';
  const store = (row: string, col: string, sum: string) =>
    `${storeOf(tile)}(tile.batch, ${row}, ${col}, ${sum}${slice});`;
  if (side === 'B' && width === 4) return store('tile.row + line', 'tile.col', 'sumsOf(line)');
  if (side === 'A' && width === 4) {
    const four = (j: number) => `vec4f(${[0, 1, 2, 3].map(i => `sums${i}[${j}]`).join(', ')})`;
    return [
      unroll(4, 4, i => `let sums${i} = sumsOf(${plus(i, 'line')});`),
      unroll(few, 4, j => store(plus(j, 'tile.row'), 'tile.col + line', four(j))),
    ].join('\n    ');
  }
  const ofFew = (j: number) =>
    side === 'A'
      ? store(plus(j, 'tile.row'), 'tile.col + line', `sums[${j}]`)
      : store('tile.row + line', plus(j, 'tile.col'), `sums[${j}]`);
  return ['let sums = sumsOf(line);', unroll(few, 4, ofFew)].join('\n    ');
}
