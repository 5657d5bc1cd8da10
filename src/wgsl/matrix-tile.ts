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
  /** Whether K may end within a step, so that what lies behind its end has to be replaced by zeros. */
  readonly guardK: boolean;
  /** Whether K is cut into slices whose bare sums are stored (frame's `partial`). */
  readonly partial: boolean;
}

const BYTES: Record<string, number> = { f32: 4, f16: 2, i8: 1, u8: 1 };

/** Bytes that are moved at once: 16, or 8 where a row of a matrix is no longer than that. */
const wordBytes = ({ config }: MatrixTile): 8 | 16 => {
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
  const slice = Math.max(sm * strideA, bk * strideB, staging);
  const slices = (bm / sm + bn / sn) * parts;
  return { word, numbers, strideA, strideB, slice, slices };
}

export const workgroupMemory = (tile: MatrixTile): number => {
  const { slice, slices } = layout(tile);
  return slice * slices * wordBytes(tile);
};

export const matrixEnable = ({ config, pinned }: MatrixTile): string[] => [
  ...(config.componentType === 'f16' ? ['enable f16;'] : []),
  SUBGROUP_MATRIX_ENABLE,
  'enable subgroups;',
  ...(pinned ? [SUBGROUP_SIZE_ENABLE] : []),
];

/** WGSL: declarations and `main`, to follow a frame with \`words\` access and \`tileOf(bm, bn)\`. */
export function matrixTile(tile: MatrixTile): string {
  const { config, lanes, pinned, bm, bn, bk, sm, sn, parts, flush, prefetch, guardK, partial } = tile;
  const { word, numbers, strideA, strideB, slice, slices } = layout(tile);
  const [rowsOf, colsOf] = [sm / config.M, sn / config.N];
  const [slicesA, slicesB] = [bm / sm, bn / sn];
  const [high, low] = [0, 1];
  const sliceA = (part: number) => `${part * slicesA} + subgroupRow`;
  const sliceB = (part: number) => `${parts * slicesA + part * slicesB} + subgroupCol`;
  const T = threads(tile);
  const [loadsA, loadsB] = [(bm * bk) / word / T, (bk * bn) / word / T];
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
          `let ${left(i, part)} = subgroupMatrixLoad<Left, row_major>(&memory[${sliceA(part)}], ${offset}, ${strideA});`,
        );
      }
      for (let j = 0; j < colsOf; j++) {
        const offset = k * strideB + (j * config.N) / word;
        lines.push(
          `let ${right(j, part)} = subgroupMatrixLoad<Right, row_major>(&memory[${sliceB(part)}], ${offset}, ${strideB});`,
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

  /** Results of one row of matrices into this subgroup's staging place, for all subgroups in rounds. */
  const rounds = Math.ceil(subgroups(tile) / slices);
  const drain = (each: (i: number, value: number) => string) =>
    unroll(rounds, 0, round =>
      unroll(
        rowsOf,
        0,
        i => `workgroupBarrier();
if (subgroup / ${slices} == ${round}) {
  ${unroll(colsOf, 2, j => `subgroupMatrixStore<row_major>(&memory[slot], ${(j * config.N) / numbers}, sum${i}_${j}, ${sn / numbers});`)}
}
workgroupBarrier();
if (subgroup / ${slices} == ${round}) {
  ${unroll(values, 2, value => each(i, value))}
}`,
      ),
    );
  const staged = (value: number) => `staged(slot, lane + ${value * lanes})`;
  const total = (i: number, value: number) => `total${i}_${value}`;
  const fetch = (i: number, side: 'A' | 'B', part: number) =>
    `fetch${side}(tile, from${side}${i}, at${side}${i}, start, ${part}, params.k)`;
  const fetches = partNames.flatMap(part => [
    ...Array.from({ length: loadsA }, (_, i) => ({ name: `wordA${i}_${part}`, value: fetch(i, 'A', part) })),
    ...Array.from({ length: loadsB }, (_, i) => ({ name: `wordB${i}_${part}`, value: fetch(i, 'B', part) })),
  ]);
  const stores = partNames.flatMap(part => [
    ...Array.from(
      { length: loadsA },
      (_, i) => `memory[${part * slicesA} + toA${i}.x][toA${i}.y] = wordA${i}_${part};`,
    ),
    ...Array.from(
      { length: loadsB },
      (_, i) => `memory[${parts * slicesA + part * slicesB} + toB${i}.x][toB${i}.y] = wordB${i}_${part};`,
    ),
  ]);

  return /* wgsl */ `
alias Left = subgroup_matrix_left<${config.componentType}, ${config.K}, ${config.M}>;
alias Right = subgroup_matrix_right<${config.componentType}, ${config.N}, ${config.K}>;
alias Result = subgroup_matrix_result<${config.resultComponentType}, ${config.N}, ${config.M}>;

alias Word = ${wordType(tile)};
const WORD = ${word}u;                // elements of A or B in a word
const BM = ${bm}u;
const BN = ${bn}u;
const BK = ${bk}u;

// Slices of A, one for each row of subgroups, then slices of B, one for each column of them.
var<workgroup> memory: array<array<Word, ${slice}>, ${slices}>;

// Which word of a step's A or B a thread fetches: its row, and its place in the row. Eight neighbours take eight rows,
// so that their stores to workgroup memory fall into different banks.
fn placeA(v: u32) -> vec2u {
  let words = BK / WORD;
  return vec2u(v / (8 * words) * 8 + v % 8, v / 8 % words);
}

fn placeB(v: u32) -> vec2u {
  let words = BN / WORD;
  return vec2u(v / words, v % words);
}

fn fetchA(tile: Tile, row: u32, at: u32, start: u32, part: u32, k: u32) -> Word {
  let col = start + at * WORD;
  let word = a[(params.offsetA + part * params.partA + tile.batch * params.strideA + row * params.lda + col) / WORD];
  return ${guardK ? 'select(Word(), word, col < k)' : 'word'};
}

fn fetchB(tile: Tile, row: u32, col: u32, start: u32, part: u32, k: u32) -> Word {
  let word = b[(params.offsetB + part * params.partB + tile.batch * params.strideB + (start + row) * params.ldb + col) / WORD];
  return ${guardK ? 'select(Word(), word, start + row < k)' : 'word'};
}

fn staged(slot: u32, e: u32) -> Sum {
  return bitcast<Sum>(memory[slot][e / ${numbers}][e % ${numbers}]);
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
  let subgroupRow = subgroup / ${slicesB};
  let subgroupCol = subgroup % ${slicesB};
  let slot = subgroup % ${slices};

  // Rows and columns past the edge repeat the last one: what they add up to is never stored.
  ${unroll(
    loadsA,
    2,
    i => `let pA${i} = placeA(thread + ${i * T});
let fromA${i} = min(tile.row + pA${i}.x, params.m - 1);
let atA${i} = pA${i}.y;
let toA${i} = vec2u(pA${i}.x / ${sm}, pA${i}.x % ${sm} * ${strideA} + pA${i}.y);`,
  )}
  ${unroll(
    loadsB,
    2,
    i => `let pB${i} = placeB(thread + ${i * T});
let fromB${i} = pB${i}.x;
let atB${i} = min(tile.col + pB${i}.y * WORD, (params.n - 1) / WORD * WORD);
let toB${i} = vec2u(pB${i}.y / ${sn / word}, pB${i}.x * ${strideB} + pB${i}.y % ${sn / word});`,
  )}
  ${unroll(rowsOf, 2, i => unroll(colsOf, 0, j => `var sum${i}_${j}: Result;`))}
  ${flush ? unroll(rowsOf, 2, i => unroll(values, 0, v => `var ${total(i, v)} = Sum();`)) : ''}

  let first = tile.slice * params.depth;
  let last = min(params.k, first + params.depth);
  let steps = (last - first + BK - 1) / BK;
  ${prefetch ? `var start = first;\n  ${unroll(fetches.length, 2, f => `var ${fetches[f].name} = ${fetches[f].value};`)}` : ''}
  for (var step = 0u; step < steps; step++) {
    ${prefetch ? '' : `let start = first + step * BK;\n    ${unroll(fetches.length, 4, f => `let ${fetches[f].name} = ${fetches[f].value};`)}`}
    workgroupBarrier();
    ${unroll(stores.length, 4, s => stores[s])}
    workgroupBarrier();
    ${prefetch ? `start = select(start, start + BK, step + 1 < steps);\n    ${unroll(fetches.length, 4, f => `${fetches[f].name} = ${fetches[f].value};`)}` : ''}
    ${unroll(bk / config.K, 4, k => multiply(k * config.K))}
${
  flush
    ? `    if (step % ${flush} == ${flush - 1}) {
      ${indent(
        drain((i, v) => `${total(i, v)} += ${staged(v)};`),
        6,
      )}
      ${unroll(rowsOf, 6, i => unroll(colsOf, 0, j => `sum${i}_${j} = Result();`))}
    }`
    : ''
}
  }

  let row = tile.row + subgroupRow * ${sm};
  let col = tile.col + subgroupCol * ${sn};
  ${indent(
    drain((i, v) => {
      const value = flush ? `${total(i, v)} + ${staged(v)}` : staged(v);
      const e = `(lane + ${v * lanes})`;
      return `storeC(tile.batch, row + ${i * config.M} + ${e} / ${sn}, col + ${e} % ${sn}, ${value}${partial ? ', tile.slice' : ''});`;
    }),
    2,
  )}
}
`;
}

const indent = (text: string, spaces: number) => text.split('\n').join(`\n${' '.repeat(spaces)}`);
