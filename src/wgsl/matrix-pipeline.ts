/**
 * The main loop of wgsl/matrix-tile.ts as a pipeline: while one step is multiplied, the next goes from
 * workgroup memory into matrices, the one after it from registers into workgroup memory, and later ones are on their way from
 * storage. With two buffers in workgroup memory, two sets of matrices and steps of one matrix, one barrier between steps is enough,
 * and nothing between two barriers waits for anything else there (docs/performance.md, log entry 16).
 *
 * Mapping: as there. A and B share the buffers, A's slices first; packed, both lie along K, in slices of as many lines as divide
 * a subgroup's rows and its columns. Each slice is an inner array, so that offsets of matrix loads are constants.
 *
 * At a flush and at the end the first buffer is free: results go through it, a few matrices of each subgroup at a time.
 */
import { declarePlaces, placesA, placesB, plus } from './matrix-fetch.ts';
import { type MatrixTile, pipelineLayout } from './matrix-layout.ts';
import {
  beginMain,
  declareSteps,
  declareTile,
  indent,
  multiplies,
  paragraph,
  partsOf,
} from './matrix-tile.ts';
import { cells } from './store.ts';
import { unroll } from './unroll.ts';

/** Steps are written out in pairs, so that it is a constant which buffer and which matrices they use. */
const PAIR = [
  { set: 'even', next: 'odd', buffer: 0, nextBuffer: 1 },
  { set: 'odd', next: 'even', buffer: 1, nextBuffer: 0 },
] as const;

/** WGSL: declarations and `main`, to follow a frame with \`words\` access and \`tileOf(bm, bn)\`. */
export function matrixPipeline(tile: MatrixTile): string {
  const { config, lanes, bm, bn, sm, sn, flush, prefetch, slices, store, width } = tile;
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
      name: `word${side}${i}_${part}`,
      from: at(part),
      to: `[${plus(first, slice)}][${inner}]`,
      split: side === 'B' && splitB ? { low: part === 1, of: `wordB${i}` } : null,
    })),
  );
  /** A step's words into a set of registers; past the end the last step is fetched again, and not used. */
  const fetch = (set: number, step: string, how: 'var ' | '' = '') =>
    [
      `now = first + min(${step}, STEPS - 1);`,
      ...words.map(({ name, from }) => `${how}${name}_${set} = ${from};`),
    ].join('\n');
  /** And from there into a buffer. */
  const put = (set: number, buffer: number) => {
    const lines = words
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

  const fragments = sides.flatMap(({ side, part, first }) => {
    const [count, size, type] =
      side === 'A' ? ([rowsOf, M, 'Left'] as const) : ([colsOf, N, 'Right'] as const);
    const inLines = side === 'A' || alongK;
    return Array.from({ length: count }, (_, i) => ({
      name: `${side}${i}${part}`,
      type,
      major: side === 'B' && alongK ? 'col_major' : 'row_major',
      slice: plus(first + (inLines ? Math.floor((i * size) / lines) : 0), `slice${side}`),
      offset: inLines ? ((i * size) % lines) * strideA : (i * size) / word,
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

  const steps = PAIR.map(
    (
      { set, next, buffer, nextBuffer },
      i,
    ) => `// The ${set} step; the next into matrices, the one after it into workgroup memory.
${multiplies(
  tile,
  (row, part) => `${set}A${row}${part}`,
  (col, part) => `${set}B${col}${part}`,
)}
${load(next, nextBuffer)}
${put(i % prefetch, buffer)}
${fetch(i % prefetch, `step + ${i + 2 + prefetch}`)}
workgroupBarrier();`,
  ).join('\n');

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
      return `subgroupMatrixStore<row_major>(&memory0[${place}], ${offset}, ${sum(first + i)}, ${N / numbers});`;
    });
  const ofLane = quads / lanes;
  const eachTotal = (first: number, count: number, line: (total: string, i: string) => string) =>
    unroll(count * ofLane, 0, i => {
      const matrix = first + Math.floor(i / ofLane);
      return line(`${sum(matrix).replace('sum', 'total')}_${i % ofLane}`, plus(i * lanes, 'lane'));
    });
  const loop = flush
    ? `for (var flush = 0u; flush < FLUSHES; flush++) {
  for (var pair = 0u; pair < ${flush / 2}; pair++) {
    let step = flush * ${flush} + pair * 2;
    ${indent(steps, 4)}
  }
  // Into f32 registers, before the matrix units have truncated too much.
  ${indent(
    drain(fromMatrices, (first, count) =>
      eachTotal(first, count, (total, i) => `${total} += staged(slot, ${i});`),
    ),
    2,
  )}
  ${indent(
    eachSum(name => `${name} = Result();`),
    2,
  )}
  workgroupBarrier();
}`
    : `for (var pair = 0u; pair < STEPS / 2; pair++) {
  let step = pair * 2;
  ${indent(steps, 2)}
}`;

  const at = (shift: string) =>
    `tile.batch, row + matrix / ${colsOf} * ${M} + at / ${N / 4}, col + matrix % ${colsOf} * ${N} + at % ${N / 4} * 4${shift}`;
  const slice1 = slices > 1 ? ', tile.slice' : '';
  const storeFour =
    width === 4
      ? `${store}(${at('')}, staged(slot, i)${slice1});`
      : `let four = staged(slot, i);
  for (var e = 0u; e < 4; e++) { ${store}(${at(' + e')}, four[e]${slice1}); }`;
  const finish = drain(
    flush
      ? (first, count) => eachTotal(first, count, (total, i) => `putTotal(slot, ${i}, ${total});`)
      : fromMatrices,
    (first, count) => `for (var v = 0u; v < ${count * ofLane}; v++) {
  let i = lane + v * ${lanes};
  let matrix = ${plus(first, `i / ${quads}`)};
  let at = i % ${quads};
  ${storeFour}
}`,
  );

  return /* wgsl */ `
${declareTile(tile)}
// Two buffers of slices of A and, behind them, of B.
var<workgroup> memory0: array<array<Word, ${slice}>, ${slicesAll}>;
var<workgroup> memory1: array<array<Word, ${slice}>, ${slicesAll}>;

${staging({ numbers, quads, stacked, flush: flush > 0 })}

${beginMain(tile)}
  let sliceA = subgroup / ${colsOfSubgroups}${times(sm / lines)};
  let sliceB = subgroup % ${colsOfSubgroups}${alongK ? times(sn / lines) : ''};
  let slot = subgroup${stacked ? '' : times(atOnce)};

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
  )}${declareSteps(tile)}let first = tile.slice * STEPS;
  var now: u32;
  ${indent(fetch(0, '0', 'var '), 2)}
  ${indent(put(0, 0), 2)}
  ${indent(fetch(0, '1'), 2)}
  ${indent(put(0, 1), 2)}
  ${unroll(prefetch, 2, set => fetch(set, `${2 + set}`, set > 0 ? 'var ' : ''))}
  workgroupBarrier();
  ${indent(declare('even'), 2)}
  ${indent(load('even', 0), 2)}
  ${indent(declare('odd'), 2)}
  workgroupBarrier();
  ${indent(loop, 2)}

  // The results, through the first buffer.
  let row = tile.row + subgroup / ${colsOfSubgroups} * ${sm};
  let col = tile.col + subgroup % ${colsOfSubgroups} * ${sn};
  ${indent(finish, 2)}
}
`;
}

/** WGSL: a factor, where there is need of one. */
const times = (factor: number): string => (factor === 1 ? '' : ` * ${factor}`);

/** WGSL that reads four neighbouring numbers of a subgroup's staged results, and puts them there. */
function staging({
  numbers,
  quads,
  stacked,
  flush,
}: {
  readonly numbers: number;
  readonly quads: number;
  readonly stacked: boolean;
  readonly flush: boolean;
}): string {
  const [place, i] = stacked ? ['slot', 'i'] : [`slot + i / ${quads}`, `i % ${quads}`];
  const slice = `memory0[${place}]`;
  const read = numbers === 4 ? `${slice}[${i}]` : `vec4(${slice}[${i} * 2], ${slice}[${i} * 2 + 1])`;
  const write =
    numbers === 4
      ? `${slice}[${i}] = bitcast<vec4<u32>>(four);`
      : `let bits = bitcast<vec4<u32>>(four);
  ${slice}[${i} * 2] = bits.xy;
  ${slice}[${i} * 2 + 1] = bits.zw;`;
  return `fn staged(slot: u32, i: u32) -> vec4<Sum> { return bitcast<vec4<Sum>>(${read}); }${
    flush ? `\n\nfn putTotal(slot: u32, i: u32, four: vec4<Sum>) {\n  ${write}\n}` : ''
  }`;
}
