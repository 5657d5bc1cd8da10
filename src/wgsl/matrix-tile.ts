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
 * a time, so that each lane gets plain numbers.
 */
import type { MatrixConfig } from '../profile.ts';
import { SUBGROUP_MATRIX_ENABLE, SUBGROUP_SIZE_ENABLE } from './experimental.ts';
import { unroll } from './unroll.ts';

export interface MatrixTile {
  readonly config: MatrixConfig;
  readonly lanes: number;
  /** Whether the subgroup size has to be asked for. */
  readonly pinned: boolean;
  readonly bm: number;
  readonly bn: number;
  readonly bk: number;
  readonly sm: number;
  readonly sn: number;
  /** 1: plain. 2: A and B each lie as a high and a low part, and three products are summed (split-f32). */
  readonly parts: 1 | 2;
  /** Steps of K between two flushes of the accumulators into f32 registers; 0 for none before the end. */
  readonly flush: number;
  /** 1: fetch the next step's words into registers while the present one is multiplied. */
  readonly prefetch: number;
  readonly a: Source;
  readonly b: Source;
  /** The function that takes each finished sum: frame()'s `storeC`, or the kernel's own. */
  readonly store: string;
  /** Steps of K, in each slice of it. */
  readonly steps: number;
  /**
   * Whether the number of steps is written into the source: the loop needs no guard against running forever then. Not
   * for software GPUs, whose compilers write such a loop out, which takes them minutes.
   */
  readonly fixedSteps: boolean;
  /** Slices that K is cut into, each of `steps` steps; over 1, bare sums are stored (frame's `partial`). */
  readonly slices: number;
}

/**
 * How an operand lies in storage. `blocked`: a step's words of a tile lie in one piece, in the order in which the threads
 * fetch them, filled up with zeros (kernels/pack.ts). `rows`: in rows of `ld` words; distances between a thread's words
 * are constants then, too, which saves the registers for their addresses.
 */
export type Source =
  | { readonly kind: 'blocked' }
  | {
      readonly kind: 'rows';
      readonly ld: number;
      /** Whether the last tile reaches past the operand's last row (of A) or column (of B). */
      readonly ragged: boolean;
      /** Whether K ends within a step, so that what lies behind its end has to be replaced by zeros. */
      readonly guardK: boolean;
    };

const BYTES: Record<string, number> = { f32: 4, f16: 2, i8: 1, u8: 1 };

/** Bytes that are moved at once: 16, or 8 where a row of a matrix is no longer than that. */
export const wordBytes = ({ config }: MatrixTile): 8 | 16 => {
  const bytes = BYTES[config.componentType];
  return (config.N * bytes) % 16 === 0 && (config.K * bytes) % 16 === 0 ? 16 : 8;
};

/** The WGSL type of such a word. */
export const wordType = (tile: MatrixTile): 'vec4<u32>' | 'vec2<u32>' =>
  wordBytes(tile) === 16 ? 'vec4<u32>' : 'vec2<u32>';

/** Elements of an operand in a word. */
const wordElements = (tile: MatrixTile): number => wordBytes(tile) / BYTES[tile.config.componentType];

export const subgroups = ({ bm, bn, sm, sn }: MatrixTile): number => (bm / sm) * (bn / sn);
export const threads = (tile: MatrixTile): number => subgroups(tile) * tile.lanes;

/** Sizes in words. */
function layout(tile: MatrixTile) {
  const { bm, bn, bk, sm, sn, config, parts } = tile;
  const word = wordElements(tile);
  const strideA = bk / word + 1;
  const strideB = sn / word + 1;
  const numbers = wordBytes(tile) / 4;
  const staging = (config.M * sn) / numbers;
  return {
    ...{ word, numbers, strideA, strideB, staging },
    sliceA: Math.max(sm * strideA, staging),
    sliceB: bk * strideB,
    slicesA: (bm / sm) * parts,
    slicesB: (bn / sn) * parts,
  };
}

export const workgroupMemory = (tile: MatrixTile): number => {
  const { sliceA, slicesA, sliceB, slicesB } = layout(tile);
  return (sliceA * slicesA + sliceB * slicesB) * wordBytes(tile);
};

/** Why these sizes do not go together, or null: every thread fetches the same number of words, eight rows at a time. */
export function misfit(tile: MatrixTile): string | null {
  const { bm, bn, bk, sm, sn, config } = tile;
  const word = wordElements(tile);
  const T = threads(tile);
  const [wordsA, wordsB] = [bk / word, bn / word];
  const fits =
    [bm / sm, bn / sn, sm / config.M, sn / config.N, bk / config.K, (sn / word) % 1 === 0 ? 1 : 0.5].every(
      Number.isInteger,
    ) &&
    T % (8 * wordsA) === 0 &&
    T % wordsB === 0 &&
    (bm * wordsA) % T === 0 &&
    (bk * wordsB) % T === 0;
  return fits
    ? null
    : `${bm}×${bn}×${bk} with ${sm}×${sn} a subgroup does not divide evenly among ${T} threads`;
}

export const matrixEnable = ({ config, pinned }: MatrixTile): string[] => [
  ...(config.componentType === 'f16' ? ['enable f16;'] : []),
  SUBGROUP_MATRIX_ENABLE,
  'enable subgroups;',
  ...(pinned ? [SUBGROUP_SIZE_ENABLE] : []),
];

/** WGSL: declarations and `main`, to follow a frame with \`words\` access and \`tileOf(bm, bn)\`. */
export function matrixTile(tile: MatrixTile): string {
  const {
    config,
    lanes,
    pinned,
    bm,
    bn,
    bk,
    sm,
    sn,
    parts,
    flush,
    prefetch,
    slices: slicesK,
    steps,
    store,
    fixedSteps,
  } = tile;
  const { word, numbers, strideA, strideB, staging, sliceA, sliceB, slicesA, slicesB } = layout(tile);
  const [rowsOf, colsOf] = [sm / config.M, sn / config.N];
  const [rowsOfSubgroups, colsOfSubgroups] = [bm / sm, bn / sn];
  const [high, low] = [0, 1];
  const inA = (part: number) => plus(part * rowsOfSubgroups, 'subgroupRow');
  const inB = (part: number) => plus(part * colsOfSubgroups, 'subgroupCol');
  const T = threads(tile);
  const values = (config.M * sn) / lanes;
  const partNames = parts === 1 ? [high] : [high, low];

  /** Multiply-accumulates of one K of the matrix unit. */
  const multiply = (k: number) => {
    const left = (i: number, part: number) => `a${i}${part}`;
    const right = (j: number, part: number) => `b${j}${part}`;
    const lines: string[] = [];
    for (const part of partNames) {
      for (let i = 0; i < rowsOf; i++) {
        const offset = i * config.M * strideA + k / word;
        lines.push(
          `let ${left(i, part)} = subgroupMatrixLoad<Left, row_major>(&memoryA[${inA(part)}], ${offset}, ${strideA});`,
        );
      }
      for (let j = 0; j < colsOf; j++) {
        const offset = k * strideB + (j * config.N) / word;
        lines.push(
          `let ${right(j, part)} = subgroupMatrixLoad<Right, row_major>(&memoryB[${inB(part)}], ${offset}, ${strideB});`,
        );
      }
    }
    // The small products first: they lose less where the accumulator is still small.
    const products =
      parts === 1
        ? [[high, high]]
        : [
            [high, low],
            [low, high],
            [high, high],
          ];
    for (const [p, q] of products) {
      for (let i = 0; i < rowsOf; i++) {
        for (let j = 0; j < colsOf; j++) {
          lines.push(
            `sum${i}_${j} = subgroupMatrixMultiplyAccumulate(${left(i, p)}, ${right(j, q)}, sum${i}_${j});`,
          );
        }
      }
    }
    return `{\n  ${lines.join('\n  ')}\n}`;
  };

  /**
   * Results into this subgroup's staging place, as many rows of matrices at a time as fit, and out of it number by number;
   * with more subgroups than places, in rounds.
   */
  const rounds = Math.ceil(subgroups(tile) / slicesA);
  const rowsAtOnce = Math.min(rowsOf, Math.floor(sliceA / staging));
  const drain = (take: (rows: readonly number[]) => string) =>
    unroll(rounds * Math.ceil(rowsOf / rowsAtOnce), 0, step => {
      const round = step % rounds;
      const first = Math.floor(step / rounds) * rowsAtOnce;
      const rows = Array.from({ length: Math.min(rowsAtOnce, rowsOf - first) }, (_, i) => first + i);
      const mine = (body: string) =>
        rounds === 1 ? body : `if (subgroup / ${slicesA} == ${round}) {\n  ${indent(body, 2)}\n}`;
      const store = (i: number, j: number) =>
        `subgroupMatrixStore<row_major>(&memoryA[slot], ${(i - first) * staging + (j * config.N) / numbers}, sum${i}_${j}, ${sn / numbers});`;
      return `workgroupBarrier();
${mine(rows.map(i => unroll(colsOf, 0, j => store(i, j))).join('\n'))}
workgroupBarrier();
${mine(take(rows))}`;
    });
  const eachValue = (rows: readonly number[], line: (total: string, e: string) => string) =>
    rows
      .flatMap((i, at) =>
        Array.from({ length: values }, (_, v) => line(total(i, v), `lane + ${(at * values + v) * lanes}`)),
      )
      .join('\n');
  const total = (i: number, value: number) => `total${i}_${value}`;
  const A = placesA(tile);
  const B = placesB(tile);
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
  const flushing = flush
    ? `if (step % ${flush} == ${flush - 1} && step + 1 < STEPS) {
  ${indent(
    drain(rows => eachValue(rows, (total, e) => `${total} += staged(slot, ${e});`)),
    2,
  )}
  ${unroll(rowsOf, 2, i => unroll(colsOf, 0, j => `sum${i}_${j} = Result();`))}
}`
    : '';
  // Past the end the last step is fetched again, and not used.
  const advance = 'now = min(now + 1, first + STEPS - 1);';
  const loop = `${prefetch ? `var now = first;\n${fetchAll('var ')}\n` : ''}for (var step = 0u; step < STEPS; step++) {
  ${indent(prefetch ? '' : `let now = first + step;\n${fetchAll('let ')}`, 2)}
  workgroupBarrier();
  ${indent(stores.join('\n'), 2)}
  workgroupBarrier();
  ${indent(prefetch ? `${advance}\n${fetchAll('')}` : '', 2)}
  ${indent(multiplyAll, 2)}
  ${indent(flushing, 2)}
}`;

  return /* wgsl */ `
alias Left = subgroup_matrix_left<${config.componentType}, ${config.K}, ${config.M}>;
alias Right = subgroup_matrix_right<${config.componentType}, ${config.N}, ${config.K}>;
alias Result = subgroup_matrix_result<${config.resultComponentType}, ${config.N}, ${config.M}>;

alias Word = ${wordType(tile)};
const WORD = ${word}u;                // elements of A or B in a word
const BM = ${bm}u;
const BN = ${bn}u;
const BK = ${bk}u;
${
  fixedSteps
    ? `const STEPS = ${steps}u;             // of K, in each slice of it
`
    : ''
}
// Slices of A, one for each row of subgroups, and of B, one for each column of them.
var<workgroup> memoryA: array<array<Word, ${sliceA}>, ${slicesA}>;
var<workgroup> memoryB: array<array<Word, ${sliceB}>, ${slicesB}>;

fn staged(slot: u32, e: u32) -> Sum {
  return bitcast<Sum>(memoryA[slot][e / ${numbers}][e % ${numbers}]);
}
${
  flush
    ? `
fn putStaged(slot: u32, e: u32, value: Sum) {
  memoryA[slot][e / ${numbers}][e % ${numbers}] = bitcast<u32>(value);
}
`
    : ''
}
@compute @workgroup_size(${T})${pinned ? ` @subgroup_size(${lanes})` : ''}
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let tile = tileOf(group, groups);
  if (!tile.valid) { return; }
  let subgroupRow = subgroup / ${colsOfSubgroups};
  let subgroupCol = subgroup % ${colsOfSubgroups};
  let slot = subgroup % ${slicesA};

  ${indent(declarePlaces(tile), 2)}
  ${unroll(rowsOf, 2, i => unroll(colsOf, 0, j => `var sum${i}_${j}: Result;`))}
  ${flush ? unroll(rowsOf, 2, i => unroll(values, 0, v => `var ${total(i, v)} = Sum();`)) : ''}

  ${fixedSteps ? '' : 'let STEPS = params.depth / BK;\n  '}let first = tile.slice * STEPS;
  ${indent(loop, 2)}

  let row = tile.row + subgroupRow * ${sm};
  let col = tile.col + subgroupCol * ${sn};
  ${indent(
    drain(
      rows => `${flush ? `${eachValue(rows, (total, e) => `putStaged(slot, ${e}, staged(slot, ${e}) + ${total});`)}\n` : ''}for (var v = 0u; v < ${rows.length * values}; v++) {
  let e = lane + v * ${lanes};
  ${store}(tile.batch, row + ${rows[0] * config.M} + e / ${sn}, col + e % ${sn}, staged(slot, e)${slicesK > 1 ? ', tile.slice' : ''});
}`,
    ),
    2,
  )}
}
`;
}

/** Where one of a thread's words is fetched from, and where in workgroup memory it goes, as WGSL. */
interface Place {
  readonly at: (part: number) => string;
  readonly slice: string | number;
  readonly inner: string;
}

const plus = (constant: number, rest: string | number) =>
  typeof rest === 'number' ? `${constant + rest}` : constant ? `${constant} + ${rest}` : rest;

/**
 * Of A, a thread fetches every ΔM-th row's word. Eight neighbouring threads take eight rows, so that their stores fall into
 * different banks.
 */
function placesA(tile: MatrixTile): Place[] {
  const { bm, bk, sm, a } = tile;
  const { word, strideA } = layout(tile);
  const words = bk / word;
  const T = threads(tile);
  const delta = T / words;
  return Array.from({ length: (bm * words) / T }, (_, i) => {
    const row = `rowA + ${i * delta}`;
    return {
      at: part =>
        a.kind === 'blocked'
          ? `a[blockA${part} + now * ${bm * words} + ${i * T}]`
          : rowsWord(
              'a',
              a,
              a.ragged
                ? `min(tile.row + ${row}, params.m - 1) * ${a.ld} + fromA`
                : `fromA + ${i * delta * a.ld}`,
              `now * ${words}`,
              `now * ${words} + atA < params.k / ${word}`,
            ),
      slice: sm % delta === 0 ? Math.floor((i * delta) / sm) : `(${row}) / ${sm}`,
      inner:
        sm % delta === 0 ? `toA + ${((i * delta) % sm) * strideA}` : `(${row}) % ${sm} * ${strideA} + atA`,
    };
  });
}

/** Of B, a thread fetches one column of words, every ΔK-th row of it. */
function placesB(tile: MatrixTile): Place[] {
  const { bn, bk, b } = tile;
  const { word, strideB } = layout(tile);
  const words = bn / word;
  const T = threads(tile);
  const delta = T / words;
  return Array.from({ length: (bk * words) / T }, (_, i) => ({
    at: part =>
      b.kind === 'blocked'
        ? `b[blockB${part} + now * ${bk * words} + ${i * T}]`
        : rowsWord(
            'b',
            b,
            `fromB + ${i * delta * b.ld}`,
            `now * ${bk * b.ld}`,
            `now * BK + rowB + ${i * delta} < params.k`,
          ),
    slice: 'sliceB',
    inner: `toB + ${i * delta * strideB}`,
  }));
}

const rowsWord = (
  array: string,
  { guardK }: { guardK: boolean },
  from: string,
  step: string,
  inside: string,
) => (guardK ? `select(Word(), ${array}[${from} + ${step}], ${inside})` : `${array}[${from} + ${step}]`);

/** What all of a thread's places have in common. */
function declarePlaces(tile: MatrixTile): string {
  const { bm, bn, bk, sn, a, b, parts, steps, slices } = tile;
  const { word, strideA, strideB } = layout(tile);
  const [wordsA, wordsB] = [bk / word, bn / word];
  const partNames = parts === 1 ? [0] : [0, 1];
  const block = (side: 'A' | 'B', part: number, tileIndex: string, size: number) =>
    `let block${side}${part} = (params.offset${side} + ${part} * params.part${side} + tile.batch * params.stride${side}) / WORD + ${tileIndex} * ${steps * slices * size} + thread;`;
  return [
    `let rowA = thread / ${8 * wordsA} * 8 + thread % 8;`,
    `let atA = thread / 8 % ${wordsA};`,
    `let toA = rowA % ${tile.sm} * ${strideA} + atA;`,
    ...(a.kind === 'blocked'
      ? partNames.map(part => block('A', part, `tile.row / BM`, bm * wordsA))
      : [
          `let fromA = (params.offsetA + tile.batch * params.strideA) / WORD + atA${a.ragged ? '' : ` + (tile.row + rowA) * ${a.ld}`};`,
        ]),
    `let rowB = thread / ${wordsB};`,
    `let atB = thread % ${wordsB};`,
    `let sliceB = atB / ${sn / word};`,
    `let toB = rowB * ${strideB} + atB % ${sn / word};`,
    ...(b.kind === 'blocked'
      ? partNames.map(part => block('B', part, `tile.col / BN`, bk * wordsB))
      : [
          `let colB = ${b.ragged ? '// Columns past the edge repeat the last ones: what they add up to is never stored.\n  min(tile.col / WORD + atB, params.n / WORD - 1)' : 'tile.col / WORD + atB'};`,
          `let fromB = (params.offsetB + tile.batch * params.strideB) / WORD + rowB * ${b.ld} + colB;`,
        ]),
  ].join('\n');
}

const indent = (text: string, spaces: number) => text.split('\n').join(`\n${' '.repeat(spaces)}`);
