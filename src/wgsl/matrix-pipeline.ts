/**
 * The main loop of wgsl/matrix-tile.ts as a pipeline: while one step is multiplied, the next goes from
 * workgroup memory into matrices, the one after it from registers into workgroup memory, and later ones are on their way from
 * storage. With two buffers in workgroup memory, two sets of matrices and steps of one matrix, one barrier between steps is enough,
 * and nothing between two barriers waits for anything else there (docs/performance.md, log entry 16).
 *
 * Mapping: as there. A and B share the buffers, A's slices first; packed, both lie along K, in slices of as many lines as divide
 * a subgroup's rows and its columns. Each slice is an inner array, so that offsets of matrix loads are constants.
 *
 * A in rows comes a round of steps at a time, so that neighbouring threads read a line of the cache; each thread's words are of one
 * step, and it stores them in that one (log entry 23). With ways, groups of subgroups make the whole tile over a part of K each, in
 * slices of their own, and their sums are added as they are stored (log entry 24).
 *
 * At a flush and at the end the first buffer is free: results go through it, a few matrices of each subgroup at a time.
 */
import { declarePlaces, placesA, placesB } from './matrix-fetch.ts';
import { inLines, type MatrixTile, pipelineLayout, subgroups, threadsOfWay } from './matrix-layout.ts';
import {
  beginMain,
  declareSteps,
  declareTile,
  indent,
  multiplies,
  paragraph,
  partsOf,
} from './matrix-tile.ts';
import { cells, type WidthC } from './store.ts';
import { plus, times } from './terms.ts';
import { unroll } from './unroll.ts';

/** Steps take turns at buffers and sets of matrices. */
const TURNS = [
  { set: 'even', next: 'odd', buffer: 0, nextBuffer: 1 },
  { set: 'odd', next: 'even', buffer: 1, nextBuffer: 0 },
] as const;

/** WGSL: declarations and `main`, to follow a frame with \`words\` access and \`tileOf(bm, bn)\`. */
export function matrixPipeline(tile: MatrixTile): string {
  const { config, lanes, bm, bn, sm, sn, flush, prefetch, stagger, ways, slices, store, width } = tile;
  const { M, N } = config;
  const {
    word,
    numbers,
    alongK,
    lines,
    strideA,
    strideB,
    slice,
    slicesA,
    slicesAll,
    quads,
    stacked,
    atOnce,
    padded,
    rowStaged,
  } = pipelineLayout(tile);
  const [rowsOf, colsOf] = [sm / M, sn / N];
  const colsOfSubgroups = bn / sn;
  const matrices = rowsOf * colsOf;
  const sum = (matrix: number) => `sum${Math.floor(matrix / colsOf)}_${matrix % colsOf}`;
  const eachSum = (line: (name: string) => string) => unroll(matrices, 0, matrix => line(sum(matrix)));

  const slicesB = bn / (alongK ? lines : sn);
  const splitB = tile.b.kind === 'rows' && tile.b.split;
  const sides = partsOf(tile).flatMap(part => [
    { side: 'A', part, first: part * (bm / lines), places: placesA(tile, lines) } as const,
    { side: 'B', part, first: slicesA + part * slicesB, places: placesB(tile, lines) } as const,
  ]);
  const words = sides.flatMap(({ side, part, first, places }) =>
    places.map(({ at, slice, inner }, i) => ({
      side,
      name: `word${side}${i}_${part}`,
      from: at(part),
      to: `[${plus(first, slice)}${ways > 1 ? ' + filled' : ''}][${inner}]`,
      split: side === 'B' && splitB ? { low: part === 1, of: `wordB${i}` } : null,
    })),
  );
  const lined = inLines(tile);
  const ofLines = lined ? words.filter(({ side }) => side === 'A') : [];
  const ofSteps = words.filter(word => !ofLines.includes(word));
  const at = (step: string) => `first + ${stagger ? `staggered(tile, ${step})` : step}`;
  /** A step's words into a set of registers. */
  const fetch = (set: number, step: string, how: 'var ' | '' = '') =>
    ofSteps.length === 0
      ? ''
      : [`now = ${at(step)};`, ...ofSteps.map(({ name, from }) => `${how}${name}_${set} = ${from};`)].join(
          '\n',
        );
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
  /** The words of A's lines, of some steps. */
  const fetchLines = (step: string, how: 'var ' | '' = '') =>
    lined
      ? [`now = ${at(step)};`, ...ofLines.map(({ name, from }) => `${how}${name} = ${from};`)].join('\n')
      : '';
  /** One step of them into a buffer, by the threads that have it. */
  const putLines = (step: number, buffer: number) =>
    lined
      ? `if (stepA == ${step}) {\n  ${ofLines.map(({ name, to }) => `memory${buffer}${to} = ${name};`).join('\n  ')}\n}`
      : '';

  const fragments = sides.flatMap(({ side, part, first }) => {
    const [count, size, type] =
      side === 'A' ? ([rowsOf, M, 'Left'] as const) : ([colsOf, N, 'Right'] as const);
    const sliced = side === 'A' || alongK;
    return Array.from({ length: count }, (_, i) => ({
      name: `${side}${i}${part}`,
      type,
      major: side === 'B' && alongK ? 'col_major' : 'row_major',
      slice: plus(first + (sliced ? Math.floor((i * size) / lines) : 0), `slice${side}`),
      offset: sliced ? ((i * size) % lines) * strideA : (i * size) / word,
      stride: side === 'A' ? strideA : strideB,
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
      putLines(i, buffer),
      put(i % prefetch, buffer),
      fetch(i % prefetch, `min(step + ${i + prefetch}, STEPS - 1)`),
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
    ...Array.from({ length: prefetch }, (_, set) => fetch(set, `${set}`, set > 1 ? 'var ' : '')),
  ]
    .filter(Boolean)
    .join('\n');

  /** Some results at a time: into the first buffer from where they are, and out of it as numbers. */
  const drain = (
    into: (first: number, count: number) => string,
    out: (first: number, count: number) => string,
  ) =>
    unroll(Math.ceil(matrices / atOnce), 0, turn => {
      const first = turn * atOnce;
      const count = Math.min(atOnce, matrices - first);
      return `${turn > 0 ? 'workgroupBarrier();\n' : ''}${into(first, count)}\nworkgroupBarrier();\n${out(first, count)}`;
    });
  const fromMatrices = (first: number, count: number) =>
    unroll(count, 0, i => {
      const [place, offset] = stacked ? ['slot', (i * quads * 4) / numbers] : [plus(i, 'slot'), 0];
      return `subgroupMatrixStore<row_major>(&memory0[${place}], ${offset}, ${sum(first + i)}, ${rowStaged});`;
    });
  /** Some matrices' totals, and where in the first buffer their fours are: for each lane the same ones at every flush. */
  const ofLane = quads / lanes;
  const rows: StagedRows = { ofRow: N / 4, padded, rowStaged };
  const eachTotal = (first: number, count: number, line: (total: string, place: string) => string) =>
    unroll(count * ofLane, 0, i => {
      const matrix = Math.floor(i / ofLane);
      const below = (i % ofLane) * (lanes / rows.ofRow) * rowStaged;
      const place = stacked
        ? `[slot][${plus(matrix * quads + below, 'quad')}]`
        : `[${plus(matrix, 'slot')}][${plus(below, 'quad')}]`;
      return line(`${sum(first + matrix).replace('sum', 'total')}_${i % ofLane}`, `memory0${place}`);
    });
  const loop = flush
    ? `for (var flush = 0u; flush < FLUSHES; flush++) {
  for (var turn = 0u; turn < ${flush / together}; turn++) {
    let step = flush * ${flush} + turn * ${together};
    ${indent(steps, 4)}
  }
  // Into f32 registers, before the matrix units have truncated too much.
  ${indent(
    drain(fromMatrices, (first, count) =>
      eachTotal(first, count, (total, place) => `${total} += bitcast<vec4<Sum>>(${place});`),
    ),
    2,
  )}
  ${indent(
    eachSum(name => `${name} = Result();`),
    2,
  )}
  workgroupBarrier();
}`
    : `for (var turn = 0u; turn < STEPS / ${together}; turn++) {
  let step = turn * ${together};
  ${indent(steps, 2)}
}`;

  // Neighbouring lanes store neighbouring cells, or fours of them.
  const units = (quads * 4) / width;
  const read = width === 4 ? 'staged' : 'stagedCell';
  const value =
    ways > 1
      ? Array.from({ length: ways }, (_, w) => `${read}(${plus(w * slicesAll, 'firstSlot')}, i)`).join(' + ')
      : `${read}(slot, i)`;
  const finish = drain(
    flush
      ? (first, count) =>
          eachTotal(first, count, (total, place) => `${place} = bitcast<vec4<u32>>(${total});`)
      : fromMatrices,
    (first, count) => {
      const stores = (count * units) / lanes;
      const ragged = stores % ways > 0 ? `\n  if (i >= ${count * units}) { break; }` : '';
      return `for (var v = 0u; v < ${Math.ceil(stores / ways)}; v++) {
  let i = lane + ${ways > 1 ? `(v * ${ways} + way)` : 'v'} * ${lanes};${ragged}
  let matrix = ${plus(first, `i / ${units}`)};
  let row = firstRow + matrix / ${colsOf} * ${M} + i % ${units} / ${N / width};
  let col = firstCol + matrix % ${colsOf} * ${N} + i % ${N / width}${times(width)};
  ${store}(tile.batch, row, col, ${value}${slices > 1 ? ', tile.slice' : ''});
}`;
    },
  );

  const ownWay = ways > 1 ? `way * ${slicesAll} + ` : '';
  const declareWays = `// One way's subgroups multiply a part of K, and its threads fetch it.
let way = subgroupOfAll / ${subgroups(tile)};
let subgroup = subgroupOfAll % ${subgroups(tile)};
let filling = threadOfAll / ${threadsOfWay(tile)};
let thread = threadOfAll % ${threadsOfWay(tile)};
let filled = filling * ${slicesAll};
let firstSlot = subgroup${stacked ? '' : times(atOnce)};`;

  return /* wgsl */ `
${declareTile(tile)}
// Two buffers of slices of A and, behind them, of B.
var<workgroup> memory0: array<array<Word, ${slice}>, ${ways * slicesAll}>;
var<workgroup> memory1: array<array<Word, ${slice}>, ${ways * slicesAll}>;

${paragraph(stagger ? staggered(stagger) : '')}${staging({ numbers, quads, stacked, width, ...rows })}

${beginMain(tile)}
  ${paragraph(ways > 1 ? indent(declareWays, 2) : '', 2)}let sliceA = ${ownWay}subgroup / ${colsOfSubgroups}${times(sm / lines)};
  let sliceB = ${ownWay}subgroup % ${colsOfSubgroups}${alongK ? times(sn / lines) : ''};
  let slot = ${ownWay}subgroup${stacked ? '' : times(atOnce)};${flush ? `\n  ${indent(declareQuad(lanes, rows), 2)}` : ''}

  ${indent(declarePlaces(tile, lines, lines), 2)}
  ${paragraph(splitB ? 'let scaleB0 = scalesOfB(tile.batch, colB * WORD);\n  let scaleB1 = scalesOfB(tile.batch, colB * WORD + 4);' : '', 2)}${indent(
    eachSum(name => `var ${name}: Result;`),
    2,
  )}
  ${paragraph(
    flush
      ? indent(
          eachTotal(0, matrices, total => `var ${total} = ${cells('Sum', 4)}();`),
          2,
        )
      : '',
    2,
  )}${declareSteps(tile)}let first = ${ways > 1 ? `(tile.slice * ${ways} + filling) * STEPS` : 'tile.slice * STEPS'};
  var now: u32;
  ${indent(begin, 2)}
  workgroupBarrier();
  ${indent(declare('even'), 2)}
  ${indent(load('even', 0), 2)}
  ${indent(declare('odd'), 2)}
  workgroupBarrier();
  ${indent(loop, 2)}

  // The results, through the first buffer.
  let firstRow = tile.row + subgroup / ${colsOfSubgroups} * ${sm};
  let firstCol = tile.col + subgroup % ${colsOfSubgroups} * ${sn};
  ${indent(finish, 2)}
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

/** Rows of a staged matrix: fours of each, and whether there are more words from row to row than it fills. */
interface StagedRows {
  readonly ofRow: number;
  readonly padded: boolean;
  readonly rowStaged: number;
}

/**
 * WGSL: the place of a lane's first four in a staged matrix. Rows are taken in the order 0, 2, 1, 3 where they are padded: what eight
 * lanes read at once falls into different banks then.
 */
function declareQuad(lanes: number, { ofRow, padded, rowStaged }: StagedRows): string {
  if (!padded) return 'let quad = lane;';
  if ((lanes / ofRow) % 4 !== 0) return `let quad = lane / ${ofRow} * ${rowStaged} + lane % ${ofRow};`;
  return `let quadRow = lane / ${ofRow};
let quad = (quadRow / 4 * 4 + quadRow % 2 * 2 + quadRow / 2 % 2) * ${rowStaged} + lane % ${ofRow};`;
}

/** WGSL that reads four neighbouring numbers of a subgroup's staged results, or one. */
function staging({
  numbers,
  quads,
  stacked,
  width,
  ofRow,
  padded,
  rowStaged,
}: StagedRows & {
  readonly numbers: number;
  readonly quads: number;
  readonly stacked: boolean;
  readonly width: WidthC;
}): string {
  const inRows = (quad: string) => (padded ? `${quad} / ${ofRow} * ${rowStaged} + ${quad} % ${ofRow}` : quad);
  if (width === 4) {
    const [place, i] = stacked ? ['slot', 'i'] : [`slot + i / ${quads}`, inRows(`i % ${quads}`)];
    const slice = `memory0[${place}]`;
    const quad = numbers === 4 ? `${slice}[${i}]` : `vec4(${slice}[${i} * 2], ${slice}[${i} * 2 + 1])`;
    return `fn staged(slot: u32, i: u32) -> vec4<Sum> { return bitcast<vec4<Sum>>(${quad}); }`;
  }
  const cell = stacked
    ? `memory0[slot][i / ${numbers}]`
    : `memory0[slot + i / ${quads * 4}][${inRows(`i % ${quads * 4} / ${numbers}`)}]`;
  return `fn stagedCell(slot: u32, i: u32) -> Sum { return bitcast<Sum>(${cell}[i % ${numbers}]); }`;
}
