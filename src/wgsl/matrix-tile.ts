/**
 * The main loop of the kernels that multiply with a subgroup's matrix units, on operands in rows of whole 16-byte words.
 *
 * Mapping: a workgroup makes a bm×bn tile of C; its subgroups are laid over it, each making sm×sn cells as a grid of
 * result matrices. K is taken in steps of bk through workgroup memory. Each subgroup row's slice of A and each
 * subgroup column's slice of B is an inner array of its own: then every offset and stride of a matrix load is a
 * constant, and WebGPU's range check of them folds away, which otherwise costs a third of the speed. Rows in workgroup
 * memory are padded by 16 bytes against bank conflicts.
 *
 * At the end (and, with \`flush\`, every so many steps of K) the results go through the same memory, a row of matrices at
 * a time, so that each lane gets plain numbers. K is a whole number of flushes then.
 */
import { SUBGROUP_MATRIX_ENABLE, SUBGROUP_SIZE_ENABLE } from './experimental.ts';
import { declarePlaces, placesOf } from './matrix-fetch.ts';
import {
  laneWidth,
  layout,
  type MatrixTile,
  storeOf,
  subgroups,
  threads,
  valuesOf,
  wordElements,
  wordType,
} from './matrix-layout.ts';
import { cells, type WidthC } from './store.ts';
import { plus } from './terms.ts';
import { unroll } from './unroll.ts';

export const matrixEnable = ({ config, pinned }: MatrixTile): string[] => [
  ...(config.componentType === 'f16' ? ['enable f16;'] : []),
  SUBGROUP_MATRIX_ENABLE,
  'enable subgroups;',
  ...(pinned ? [SUBGROUP_SIZE_ENABLE] : []),
];

/** WGSL: declarations and `main`, to follow a frame with \`words\` access and \`tileOf(bm, bn)\`. */
export function matrixTile(tile: MatrixTile): string {
  const { config, lanes, bm, bn, bk, sm, sn, flush, prefetch, slices: slicesK, width } = tile;
  const { word, numbers, strideA, strideB, staging, sliceA, sliceB, slicesA, slicesB } = layout(tile);
  const [rowsOf, colsOf] = [sm / config.M, sn / config.N];
  const [rowsOfSubgroups, colsOfSubgroups] = [bm / sm, bn / sn];
  const inA = (part: number) => plus(part * rowsOfSubgroups, 'subgroupRow');
  const inB = (part: number) => plus(part * colsOfSubgroups, 'subgroupCol');
  const values = valuesOf(tile);
  /** Numbers that are added up at once. */
  const totals = laneWidth(tile);
  const takeTotal = totals === width ? 'staged' : 'stagedTotal';
  const partNames = partsOf(tile);

  /** Multiply-accumulates of one K of the matrix unit. */
  const multiply = (k: number) => {
    const left = (i: number, part: number) => `a${i}${part}`;
    const right = (j: number, part: number) => `b${j}${part}`;
    const lines: string[] = [];
    for (const part of partNames) {
      for (let i = 0; i < rowsOf; i++) {
        const [offset, major] =
          tile.a.kind === 'rows'
            ? [k * strideA + (i * config.M) / word, 'col_major']
            : [i * config.M * strideA + k / word, 'row_major'];
        lines.push(
          `let ${left(i, part)} = subgroupMatrixLoad<Left, ${major}>(&memoryA[${inA(part)}], ${offset}, ${strideA});`,
        );
      }
      for (let j = 0; j < colsOf; j++) {
        const [offset, major] =
          tile.b.kind === 'rows'
            ? [k * strideB + (j * config.N) / word, 'row_major']
            : [j * config.N * strideB + k / word, 'col_major'];
        lines.push(
          `let ${right(j, part)} = subgroupMatrixLoad<Right, ${major}>(&memoryB[${inB(part)}], ${offset}, ${strideB});`,
        );
      }
    }
    lines.push(multiplies(tile, left, right));
    return `{\n  ${indent(lines.join('\n'), 2)}\n}`;
  };

  /**
   * Results into this subgroup's staging place, as many rows of matrices at a time as fit, and out of it number by number;
   * with more subgroups than places, in rounds.
   */
  const rounds = Math.ceil(subgroups(tile) / slicesA);
  const rowsAtOnce = Math.min(rowsOf, Math.floor(sliceA / staging));
  const drain = (fromMatrices: boolean, take: (rows: readonly number[]) => string) =>
    unroll(rounds * Math.ceil(rowsOf / rowsAtOnce), 0, step => {
      const round = step % rounds;
      const first = Math.floor(step / rounds) * rowsAtOnce;
      const rows = Array.from({ length: Math.min(rowsAtOnce, rowsOf - first) }, (_, i) => first + i);
      const mine = (body: string) =>
        rounds === 1 ? body : `if (subgroup / ${slicesA} == ${round}) {\n  ${indent(body, 2)}\n}`;
      const store = (i: number, j: number) =>
        `subgroupMatrixStore<row_major>(&memoryA[slot], ${(i - first) * staging + (j * config.N) / numbers}, sum${i}_${j}, ${sn / numbers});`;
      const put = fromMatrices
        ? `${mine(rows.map(i => unroll(colsOf, 0, j => store(i, j))).join('\n'))}\nworkgroupBarrier();\n`
        : '';
      return `workgroupBarrier();\n${put}${mine(take(rows))}`;
    });
  const eachTotal = (rows: readonly number[], line: (total: string, i: string) => string) =>
    rows
      .flatMap((i, at) =>
        Array.from({ length: values / totals }, (_, v) =>
          line(total(i, v), `lane + ${((at * values) / totals + v) * lanes}`),
        ),
      )
      .join('\n');
  const total = (i: number, value: number) => `total${i}_${value}`;
  const A = placesOf(tile, 'A');
  const B = placesOf(tile, 'B');
  const fetches = partNames.flatMap(part => [
    ...A.map(({ at }, i) => ({ name: `wordA${i}_${part}`, value: at(part) })),
    ...B.map(({ at }, i) => ({ name: `wordB${i}_${part}`, value: at(part) })),
  ]);
  const stores = partNames.flatMap(part => [
    ...A.map(
      ({ slice, inner }, i) =>
        `memoryA[${plus(part * rowsOfSubgroups, slice)}][${inner}] = wordA${i}_${part};`,
    ),
    ...B.map(
      ({ slice, inner }, i) =>
        `memoryB[${plus(part * colsOfSubgroups, slice)}][${inner}] = wordB${i}_${part};`,
    ),
  ]);
  const fetchAll = (how: 'let ' | 'var ' | '') =>
    fetches.map(({ name, value }) => `${how}${name} = ${value};`).join('\n');
  const multiplyAll = unroll(bk / config.K, 0, k => multiply(k * config.K));
  // Past the end the last step is fetched again, and not used.
  const advance = 'now = min(now + 1, first + STEPS - 1);';
  const fetched = prefetch
    ? { before: `var now = first;\n${fetchAll('var ')}`, first: '', last: `${advance}\n${fetchAll('')}` }
    : { before: '', first: `let now = first + step;\n${fetchAll('let ')}`, last: '' };
  const oneStep = `${paragraph(indent(fetched.first, 2), 2)}// Nobody reads the step before any more.
  workgroupBarrier();
  ${indent(stores.join('\n'), 2)}
  workgroupBarrier();
  ${paragraph(indent(fetched.last, 2), 2)}${indent(multiplyAll, 2)}`;
  const loop = flush
    ? `for (var flush = 0u; flush < FLUSHES; flush++) {
  for (var i = 0u; i < ${flush}; i++) {
    let step = flush * ${flush} + i;
    ${indent(oneStep, 2)}
  }
  // Into f32 registers, before the matrix units have truncated too much.
  ${indent(
    drain(true, rows => eachTotal(rows, (total, i) => `${total} += ${takeTotal}(slot, ${i});`)),
    2,
  )}
  ${unroll(rowsOf, 2, i => unroll(colsOf, 0, j => `sum${i}_${j} = Result();`))}
}`
    : `for (var step = 0u; step < STEPS; step++) {
  ${oneStep}
}`;

  return /* wgsl */ `
${declareTile(tile)}
// Slices of A, one for each row of subgroups, and of B, one for each column of them.
var<workgroup> memoryA: array<array<Word, ${sliceA}>, ${slicesA}>;
var<workgroup> memoryB: array<array<Word, ${sliceB}>, ${slicesB}>;

${readStaged('staged', numbers, width)}
${flush && takeTotal !== 'staged' ? `\n${readStaged(takeTotal, numbers, totals)}\n` : ''}${flush ? `\n${putStaged(numbers, totals)}\n` : ''}
${beginMain(tile)}
  let subgroupRow = subgroup / ${colsOfSubgroups};
  let subgroupCol = subgroup % ${colsOfSubgroups};
  let slot = subgroup % ${slicesA};

  ${indent(declarePlaces(tile), 2)}
  ${unroll(rowsOf, 2, i => unroll(colsOf, 0, j => `var sum${i}_${j}: Result;`))}
  ${paragraph(flush ? unroll(rowsOf, 2, i => unroll(values / totals, 0, v => `var ${total(i, v)} = ${cells('Sum', totals)}();`)) : '', 2)}
  ${declareSteps(tile)}let first = tile.slice * STEPS;
  ${paragraph(indent(fetched.before, 2), 2)}${indent(loop, 2)}

  // The results, through the memory of the tiles, a row of matrices at a time.
  let row = tile.row + subgroupRow * ${sm};
  let col = tile.col + subgroupCol * ${sn};
  ${indent(
    drain(
      !flush,
      rows => `${flush ? `${eachTotal(rows, (total, i) => `putTotal(slot, ${i}, ${total});`)}\n` : ''}for (var v = 0u; v < ${(rows.length * values) / width}; v++) {
  let i = lane + v * ${lanes};
  ${storeOf(tile)}(tile.batch, ${plus(rows[0] * config.M, 'row')} + i / ${sn / width}, col + ${width === 1 ? `i % ${sn}` : `i % ${sn / width} * ${width}`}, staged(slot, i)${slicesK > 1 ? ', tile.slice' : ''});
}`,
    ),
    2,
  )}
}
`;
}

/** The parts of an operand, by number: the high one, and the low one where it is split. */
export const partsOf = ({ parts }: MatrixTile): readonly number[] => (parts === 1 ? [0] : [0, 1]);

/** WGSL: every product of a row of matrices and a column of them, of one K of the matrix unit, into `sum0_0` or `low0_0` and so on. */
export function multiplies(
  { sm, sn, config, parts, apart }: MatrixTile,
  left: (row: number, part: number) => string,
  right: (col: number, part: number) => string,
): string {
  const [high, low] = [0, 1];
  // The small products first: they lose less where the accumulator is still small.
  const products =
    parts === 1
      ? [[high, high]]
      : [
          [high, low],
          [low, high],
          [high, high],
        ];
  return products
    .flatMap(([p, q]) => {
      const sum = apart && p + q > 0 ? 'low' : 'sum';
      return Array.from({ length: sm / config.M }, (_, i) =>
        unroll(
          sn / config.N,
          0,
          j =>
            `${sum}${i}_${j} = subgroupMatrixMultiplyAccumulate(${left(i, p)}, ${right(j, q)}, ${sum}${i}_${j});`,
        ),
      );
    })
    .join('\n');
}

/** WGSL: the types of the matrices and the sizes of the tile. */
export function declareTile(tile: MatrixTile): string {
  const { config, bm, bn, bk, steps, flush, fixedSteps } = tile;
  const { M, N, K, componentType, resultComponentType } = config;
  return /* wgsl */ `alias Left = subgroup_matrix_left<${componentType}, ${K}, ${M}>;
alias Right = subgroup_matrix_right<${componentType}, ${N}, ${K}>;
alias Result = subgroup_matrix_result<${resultComponentType}, ${N}, ${M}>;

alias Word = ${wordType(tile)};
const WORD = ${wordElements(tile)}u;                // elements of A or B in a word
const BM = ${bm}u;
const BN = ${bn}u;
const BK = ${bk}u;
${
  fixedSteps
    ? `const STEPS = ${steps}u;             // of K, in each slice${tile.ways > 1 ? ' and way' : ''} of it
${
  flush
    ? `const FLUSHES = ${steps / flush}u;
`
    : ''
}`
    : ''
}`;
}

/** WGSL: the beginning of `main`, down to the tile of the workgroup. */
export const beginMain = (
  tile: MatrixTile,
): string => /* wgsl */ `@compute @workgroup_size(${threads(tile)})${tile.pinned ? ` @subgroup_size(${tile.lanes})` : ''}
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) ${tile.ways > 1 ? 'threadOfAll' : 'thread'}: u32,
  @builtin(subgroup_id) ${tile.ways > 1 ? 'subgroupOfAll' : 'subgroup'}: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let tile = tileOf(group, groups);
  if (!tile.valid) { return; }${tile.scaled ? `\n  giveScales(tile, ${tile.ways > 1 ? 'threadOfAll' : 'thread'});` : ''}`;

/** WGSL: the same where they are not written into the source. */
export const declareSteps = ({ fixedSteps, flush, ways }: MatrixTile): string =>
  fixedSteps
    ? ''
    : `let STEPS = params.depth / BK${ways > 1 ? ` / ${ways}` : ''};\n  ${flush ? `let FLUSHES = STEPS / ${flush};\n  ` : ''}`;

/** WGSL: the number, or the four, at place `i` of a subgroup's staging place, whose words hold 2 or 4. */
function readStaged(name: string, numbers: number, width: WidthC): string {
  const T = cells('Sum', width);
  const bits =
    width === 1
      ? `memoryA[slot][i / ${numbers}][i % ${numbers}]`
      : numbers === 4
        ? 'memoryA[slot][i]'
        : 'vec4(memoryA[slot][2 * i], memoryA[slot][2 * i + 1])';
  return `fn ${name}(slot: u32, i: u32) -> ${T} {
  return bitcast<${T}>(${bits});
}`;
}

/** WGSL: puts it there. */
function putStaged(numbers: number, width: WidthC): string {
  const T = cells('Sum', width);
  const bits = `bitcast<${cells('u32', width)}>(value)`;
  const put =
    width === 1
      ? [`memoryA[slot][i / ${numbers}][i % ${numbers}] = ${bits};`]
      : numbers === 4
        ? [`memoryA[slot][i] = ${bits};`]
        : [`let bits = ${bits};`, 'memoryA[slot][2 * i] = bits.xy;', 'memoryA[slot][2 * i + 1] = bits.zw;'];
  return `fn putTotal(slot: u32, i: u32, value: ${T}) {
  ${put.join('\n  ')}
}`;
}

/** WGSL that may be left out: itself and the beginning of the next line, or nothing. */
export const paragraph = (text: string, spaces = 0) => (text ? `${text}\n${' '.repeat(spaces)}` : '');

export const indent = (text: string, spaces: number) => text.split('\n').join(`\n${' '.repeat(spaces)}`);
