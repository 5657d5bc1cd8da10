/**
 * The main loop of wgsl/matrix-tile.ts as a pipeline: while one step is multiplied, the next goes from
 * workgroup memory into matrices, the one after it from registers into workgroup memory, and later ones are on their way from
 * storage. With two buffers in workgroup memory, two sets of matrices and steps of one matrix, one barrier between steps is enough,
 * and nothing between two barriers waits for anything else there (docs/performance.md, log entry 16).
 *
 * Mapping: as there. A and B share the buffers, A's slices first; where both lie along K, in slices of as many lines as divide
 * a subgroup's rows and its columns. Each slice is an inner array, so that offsets of matrix loads are constants. Where operands have
 * two parts, a line's low part lies behind its high one.
 *
 * Lines that were not packed come a round of steps at a time, so that neighbouring threads read a line of the cache; each thread's
 * words are of one step, and it stores them in that one (log entry 23). With ways, groups of subgroups make the whole tile over
 * a part of K each, in slices of their own, and their sums are added as they are stored (log entry 24).
 *
 * Results go through both buffers in turn, a block of matrices in each of a subgroup's slices at a time: at the end, and at a flush,
 * behind the last matrices that were loaded before it.
 */
import { declarePlaces, placesOf } from './matrix-fetch.ts';
import { fewTiles } from './matrix-few.ts';
import {
  fetchedAt,
  isAcrossK,
  linedSides,
  type MatrixTile,
  pipelineLayout,
  splitsB,
  strideOf,
  subgroups,
  threadsOfWay,
  wordsInLine,
} from './matrix-layout.ts';
import { pipelineResults } from './matrix-results.ts';
import {
  beginMain,
  declareSteps,
  declareTile,
  indent,
  multiplies,
  paragraph,
  partsOf,
} from './matrix-tile.ts';
import { plus, times } from './terms.ts';
import { unroll } from './unroll.ts';

/** Steps take turns at buffers and sets of matrices. */
const TURNS = [
  { set: 'even', next: 'odd', buffer: 0, nextBuffer: 1 },
  { set: 'odd', next: 'even', buffer: 1, nextBuffer: 0 },
] as const;

/** WGSL: declarations and `main`, to follow a frame with \`words\` access and \`tileOf(bm, bn)\`. */
export function matrixPipeline(tile: MatrixTile): string {
  const { config, bn, sm, sn, flush, apart, prefetch, stagger, ways } = tile;
  const { M, N } = config;
  const { word, lines, slice, slicesA, slicesAll, atOnce } = pipelineLayout(tile);
  const [rowsOf, colsOf] = [sm / M, sn / N];
  const colsOfSubgroups = bn / sn;
  const matrices = rowsOf * colsOf;
  const eachSum = (line: (name: string) => string, name: 'sum' | 'low' = 'sum') =>
    unroll(matrices, 0, matrix => line(`${name}${Math.floor(matrix / colsOf)}_${matrix % colsOf}`));

  const splitB = splitsB(tile);
  const sides = partsOf(tile).flatMap(part => [
    { side: 'A', part, first: 0, inLine: part * wordsInLine(tile, 'A') } as const,
    { side: 'B', part, first: slicesA, inLine: part * wordsInLine(tile, 'B') } as const,
  ]);
  const words = sides.flatMap(({ side, part, first, inLine }) =>
    placesOf(tile, side, lines).map(({ at, slice, inner }, i) => ({
      side,
      name: `word${side}${i}_${part}`,
      from: at(part),
      to: `[${plus(first, slice)}${ways > 1 ? ' + filled' : ''}][${plus(inLine, inner)}]`,
      split: side === 'B' && splitB ? { low: part === 1, of: `wordB${i}` } : null,
    })),
  );
  const ofLines = words.filter(({ side }) => linedSides(tile).includes(side));
  const lined = ofLines.length > 0;
  const ofSteps = words.filter(word => !ofLines.includes(word));
  const at = (step: string) => `first + ${stagger ? `staggered(tile, ${step})` : step}`;
  /** A step's words into a set of registers. */
  const fetch = (set: number, step: string, how: 'var ' | '' = '') =>
    ofSteps.length === 0
      ? ''
      : [`now = ${at(step)};`, ...ofSteps.map(({ name, from }) => `${how}${name}_${set} = ${from};`)].join(
          '\n',
        );
  const declareWords = (set: number) => ofSteps.map(({ name }) => `var ${name}_${set}: Word;`).join('\n');
  /** And from there into a buffer. */
  const put = (set: number, buffer: number) => {
    const lines = ofSteps
      .map(({ name, to, split }) => {
        const value = split ? `${split.of}.${split.low ? 'low' : 'high'}` : `${name}_${set}`;
        const parts =
          split && !split.low
            ? `let ${split.of} = splitWords(${split.of}_0_${set}, ${split.of}_1_${set}, scaleB0, scaleB1);\n`
            : '';
        return `${parts}memory${buffer}${to} = ${value};`;
      })
      .join('\n');
    return splitB ? `{\n  ${indent(lines, 2)}\n}` : lines;
  };
  /** The words of lines, of some steps. */
  const fetchLines = (step: string, how: 'var ' | '' = '') =>
    lined
      ? [`now = ${at(step)};`, ...ofLines.map(({ name, from }) => `${how}${name} = ${from};`)].join('\n')
      : '';
  /** One step of them into a buffer, by the threads that have it. */
  const putLines = (step: number, buffer: number) =>
    lined
      ? `if (stepOfRound == ${step}) {\n  ${ofLines.map(({ name, to }) => `memory${buffer}${to} = ${name};`).join('\n  ')}\n}`
      : '';

  const fragments = sides.flatMap(({ side, part, first, inLine }) => {
    const [count, size, type] =
      side === 'A' ? ([rowsOf, M, 'Left'] as const) : ([colsOf, N, 'Right'] as const);
    const across = isAcrossK(tile, side);
    const stride = strideOf(tile, side);
    return Array.from({ length: count }, (_, i) => ({
      name: `${side}${i}${part}`,
      type,
      major: across === (side === 'A') ? 'col_major' : 'row_major',
      slice: plus(first + (across ? 0 : Math.floor((i * size) / lines)), `slice${side}`),
      offset: inLine + (across ? (i * size) / word : ((i * size) % lines) * stride),
      stride,
    }));
  });
  const declare = (set: string) =>
    fragments.map(({ name, type }) => `var ${set}${name}: ${type};`).join('\n');
  const load = (set: string, buffer: number) =>
    fragments
      .map(
        ({ name, type, major, slice, offset, stride }) =>
          `${set}${name} = subgroupMatrixLoad<${type}, ${major}>(&memory${buffer}[${slice}], ${offset}, ${stride});`,
      )
      .join('\n');

  const results = pipelineResults(tile);
  /** In a round's last step, once the matrices of the next are loaded: nothing in either buffer is needed any more. */
  const flushed = () => `if (turn == ${flush / together - 1}) {
  // Into f32 registers, before the matrix units have truncated too much.
  ${indent(results.flush('sum', 1), 2)}
  ${indent(
    eachSum(name => `${name} = Result();`),
    2,
  )}
}`;

  const together = tile.together;
  const steps = unroll(together, 0, i => {
    const { set, next, buffer, nextBuffer } = TURNS[i % 2];
    return [
      `// Step ${i}; the next into matrices, the one after it into workgroup memory. Past the end the last is fetched, and not used.`,
      multiplies(
        tile,
        (row, part) => `${set}A${row}${part}`,
        (col, part) => `${set}B${col}${part}`,
      ),
      load(next, nextBuffer),
      flush && i === together - 1 ? flushed() : '',
      putLines(i, buffer),
      put(i % prefetch, buffer),
      ...fetchedAt(i, prefetch).map(later => fetch(later % prefetch, `min(step + ${later}, STEPS - 1)`)),
      i === together - 1 ? fetchLines(`min(step + ${together}, STEPS - ${together})`) : '',
      'workgroupBarrier();',
    ]
      .filter(Boolean)
      .join('\n');
  });

  /** The last two steps of K go first, so that the loop puts steps into the buffers in whole rounds. Then those that follow are fetched. */
  const begin = [
    fetchLines(`STEPS - ${together}`, 'var '),
    fetch(0, 'STEPS - 2', 'var '),
    ...(prefetch > 1
      ? [
          fetch(1, 'STEPS - 1', 'var '),
          putLines(together - 2, 0),
          put(0, 0),
          putLines(together - 1, 1),
          put(1, 1),
        ]
      : [putLines(together - 2, 0), put(0, 0), fetch(0, 'STEPS - 1'), putLines(together - 1, 1), put(0, 1)]),
    fetchLines('0'),
    ...Array.from({ length: Math.min(prefetch, 2) }, (_, set) => fetch(set, `${set}`)),
    ...Array.from({ length: Math.max(prefetch - 2, 0) }, (_, set) => declareWords(set + 2)),
  ]
    .filter(Boolean)
    .join('\n');

  /** What was never flushed, and what was summed apart, into the totals. */
  const lastFlush = () =>
    [
      ...(flush ? [] : [results.declareTotals, results.flush('sum', 0)]),
      '// The small products, which were summed apart.',
      results.flush('low', 0),
    ].join('\n');
  const loop = flush
    ? `for (var flush = 0u; flush < FLUSHES; flush++) {
  for (var turn = 0u; turn < ${flush / together}; turn++) {
    let step = flush * ${flush} + turn * ${together};
    ${indent(steps, 4)}
  }
}`
    : `for (var turn = 0u; turn < STEPS / ${together}; turn++) {
  let step = turn * ${together};
  ${indent(steps, 2)}
}`;

  const few = fewTiles(tile);
  const functions = [stagger ? staggered(stagger) : '', few.functions, results.functions];
  const ownWay = ways > 1 ? `way * ${slicesAll} + ` : '';
  const declareWays = `// One way's subgroups multiply a part of K, and its threads fetch it.
let way = subgroupOfAll / ${subgroups(tile)};
let subgroup = subgroupOfAll % ${subgroups(tile)};
let filling = threadOfAll / ${threadsOfWay(tile)};
let thread = threadOfAll % ${threadsOfWay(tile)};
let filled = filling * ${slicesAll};
let firstSlot = subgroup${times(atOnce)};`;

  return /* wgsl */ `
${declareTile(tile)}
// Two buffers of slices of A and, behind them, of B.
var<workgroup> memory0: array<array<Word, ${slice}>, ${ways * slicesAll}>;
var<workgroup> memory1: array<array<Word, ${slice}>, ${ways * slicesAll}>;

${paragraph(functions.join(''))}${beginMain(tile)}
  ${paragraph(ways > 1 ? indent(declareWays, 2) : '', 2)}let sliceA = ${ownWay}subgroup / ${colsOfSubgroups}${isAcrossK(tile, 'A') ? '' : times(sm / lines)};
  let sliceB = ${ownWay}subgroup % ${colsOfSubgroups}${isAcrossK(tile, 'B') ? '' : times(sn / lines)};
  let slot = ${ownWay}subgroup${times(atOnce)};${flush || apart ? `\n  ${results.declareQuad}` : ''}

  ${indent(declarePlaces(tile, lines), 2)}
  ${paragraph(splitB ? 'let scaleB0 = scalesOfB(tile.batch, colB * WORD);\n  let scaleB1 = scalesOfB(tile.batch, colB * WORD + 4);' : '', 2)}${indent(
    (apart ? (['sum', 'low'] as const) : (['sum'] as const))
      .map(sums => eachSum(name => `var ${name}: Result;`, sums))
      .join('\n'),
    2,
  )}
  ${paragraph(flush ? indent(results.declareTotals, 2) : '', 2)}${declareSteps(tile)}let first = ${ways > 1 ? `(tile.slice * ${ways} + filling) * STEPS` : 'tile.slice * STEPS'};
  var now: u32;
  ${paragraph(few.main && indent(few.main, 2), 2)}${indent(begin, 2)}
  workgroupBarrier();
  ${indent(declare('even'), 2)}
  ${indent(load('even', 0), 2)}
  ${indent(declare('odd'), 2)}
  workgroupBarrier();
  ${indent(loop, 2)}

  // The results, through both buffers in turn.
  let firstRow = tile.row + subgroup / ${colsOfSubgroups}${times(sm)};
  let firstCol = tile.col + subgroup % ${colsOfSubgroups}${times(sn)};
  ${paragraph(apart ? indent(lastFlush(), 2) : '', 2)}${indent(results.finish, 2)}
}
`;
}

/**
 * WGSL: step 0 of a tile is another step of K than its neighbours' step 0. A round's steps stay side by side.
 */
const staggered = (space: number) => /* wgsl */ `
// Tiles that share rows of A, or columns of B, begin at different places in every ${space} steps of K.
fn staggered(tile: Tile, step: u32) -> u32 {
  let shift = (tile.row / BM * 2 + tile.col / BN) * 4;
  return step / ${space} * ${space} + (step + shift) % ${space};
}
`;
