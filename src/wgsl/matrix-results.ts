/**
 * How the results of wgsl/matrix-pipeline.ts leave their matrices, whose numbers nothing else can read: through workgroup
 * memory, a block of matrices in each of a subgroup's slices at a time.
 *
 * Blocks go through both buffers in turn, so that what one holds is taken while the next goes into the other, with one barrier for
 * each (docs/performance.md, log entries 34 and 46). At a flush, each lane adds its fours of a block to totals in registers; at the
 * end, blocks are stored.
 */
import { type MatrixTile, pipelineLayout, storeOf } from './matrix-layout.ts';
import { cells } from './store.ts';
import { over, plus, times } from './terms.ts';
import { lines, unroll } from './unroll.ts';

type Sums = 'sum' | 'low';

/** Pieces of WGSL. Sums are named `sum0_1` by the row and the column of their matrix in the subgroup's tile. */
export interface PipelineResults {
  /** Functions that the others call. */
  readonly functions: string;
  /** Where a lane's first four of a block lies, and its totals; for flushes. */
  readonly declareQuad: string;
  readonly declareTotals: string;
  /**
   * Adds sums, or what is summed apart, to the totals. Of the buffers, `first` has to be free before and is so behind it, the other
   * one from the next barrier on.
   */
  readonly flush: (name: Sums, first: 0 | 1) => string;
  /** Stores the results. */
  readonly finish: string;
}

/** Some blocks that are staged at once: their numbers, and the buffer that they go through. */
interface Turn {
  readonly first: number;
  readonly count: number;
  readonly buffer: 0 | 1;
}

export function pipelineResults(tile: MatrixTile): PipelineResults {
  const { config, lanes, sm, sn, flush, apart, ways, slices, width } = tile;
  const { M, N } = config;
  const { numbers, slicesAll, wide, rowStaged, spread, atOnce } = pipelineLayout(tile);
  const blocksOfRow = sn / N / wide;
  const blocks = (sm / M) * blocksOfRow;
  const turns = Array.from({ length: Math.ceil(blocks / atOnce) }, (_, i): Turn => {
    const first = i * atOnce;
    return { first, count: Math.min(atOnce, blocks - first), buffer: i % 2 === 0 ? 0 : 1 };
  });
  const rowOf = (index: string) => (spread ? `spread(${index})` : index);

  /** Sums into their blocks, or what is summed apart. */
  const stage = ({ first, count, buffer }: Turn, name: Sums = 'sum') =>
    unroll(count * wide, 0, i => {
      const [place, inBlock] = [Math.floor(i / wide), i % wide];
      const [row, col] = [Math.floor((first + place) / blocksOfRow), (first + place) % blocksOfRow];
      const sum = `${name}${row}_${col * wide + inBlock}`;
      return `subgroupMatrixStore<row_major>(&memory${buffer}[${plus(place, 'slot')}], ${(inBlock * N) / numbers}, ${sum}, ${rowStaged});`;
    });

  /** A lane's fours of some blocks: every 32nd, say, of all fours in a block. */
  const quadsOfRow = (wide * N) / 4;
  const ofLane = (M * quadsOfRow) / lanes;
  const eachTotal = ({ first, count, buffer }: Turn, line: (total: string, place: string) => string) =>
    unroll(count * ofLane, 0, i => {
      const [place, v] = [Math.floor(i / ofLane), i % ofLane];
      const below = v * (lanes / quadsOfRow) * rowStaged;
      return line(
        `total${first + place}_${v}`,
        `memory${buffer}[${plus(place, 'slot')}][${plus(below, 'quad')}]`,
      );
    });

  /** Blocks out of workgroup memory: neighbouring lanes store neighbouring cells, or fours of them. */
  const unitsOfRow = (wide * N) / width;
  const units = M * unitsOfRow;
  const unitIn = (buffer: 0 | 1, slice: string) => {
    const word = (at: string) => `memory${buffer}[${slice}][row * ${rowStaged} + ${at}]`;
    if (width === 1) return `bitcast<Sum>(${word(`unit / ${numbers}`)}[unit % ${numbers}])`;
    const four = numbers === 4 ? word('unit') : `vec4(${word('unit * 2')}, ${word('unit * 2 + 1')})`;
    return `bitcast<vec4<Sum>>(${four})`;
  };
  const storeBlocks = ({ first, count, buffer }: Turn) => {
    const stores = (count * units) / lanes;
    const several = count > 1;
    const sums =
      ways > 1 ? Array.from({ length: ways }, (_, w) => plus(w * slicesAll, 'firstSlot')) : ['slot'];
    const [row, col] = several
      ? [
          `firstRow + ${over('block', blocksOfRow)} * ${M}`,
          blocksOfRow > 1 ? `firstCol + block % ${blocksOfRow} * ${wide * N}` : 'firstCol',
        ]
      : [
          plus(Math.floor(first / blocksOfRow) * M, 'firstRow'),
          plus((first % blocksOfRow) * wide * N, 'firstCol'),
        ];
    const body = [
      `let i = lane + ${ways > 1 ? `(v * ${ways} + way)` : 'v'} * ${lanes};`,
      stores % ways > 0 ? `if (i >= ${count * units}) { break; }` : '',
      several ? `let place = i / ${units};\nlet block = ${plus(first, 'place')};` : '',
      `let row = ${rowOf(`${several ? `i % ${units}` : 'i'} / ${unitsOfRow}`)};`,
      `let unit = i % ${unitsOfRow};`,
      `let sum = ${sums.map(slot => unitIn(buffer, several ? `${slot} + place` : slot)).join(' + ')};`,
      `${storeOf(tile)}(tile.batch, ${row} + row, ${col} + unit${times(width)}, sum${slices > 1 ? ', tile.slice' : ''});`,
    ].filter(Boolean);
    return `for (var v = 0u; v < ${Math.ceil(stores / ways)}; v++) {
  ${lines(body, 2)}
}`;
  };

  const totals = flush > 0 || apart;
  const flushOf = (name: Sums, first: 0 | 1) => {
    const inTurn = turns.map((turn, i): Turn => ({ ...turn, buffer: (first + i) % 2 === 0 ? 0 : 1 }));
    const adds = inTurn.map(turn =>
      eachTotal(turn, (total, place) => `${total} += bitcast<vec4<Sum>>(${place});`),
    );
    return [
      ...inTurn.flatMap((turn, i) => [stage(turn, name), ...adds.slice(i - 1, i), 'workgroupBarrier();']),
      ...adds.slice(-1),
      ...(inTurn.length % 2 === 1 ? ['workgroupBarrier();'] : []),
    ].join('\n');
  };

  return {
    functions: spread ? SPREAD : '',
    declareQuad: `let quad = ${rowOf(`lane / ${quadsOfRow}`)} * ${rowStaged} + lane % ${quadsOfRow};`,
    declareTotals: totals
      ? eachTotal({ first: 0, count: blocks, buffer: 0 }, total => `var ${total} = ${cells('Sum', 4)}();`)
      : '',
    flush: flushOf,
    finish: turns
      .map(turn => {
        const staged = totals
          ? eachTotal(turn, (total, place) => `${place} = bitcast<vec4<u32>>(${total});`)
          : stage(turn);
        return `${staged}\nworkgroupBarrier();\n${storeBlocks(turn)}`;
      })
      .join('\n'),
  };
}

const SPREAD = /* wgsl */ `
// Rows of staged results in the order 0, 2, 1, 3: what eight lanes read at once lies in different banks.
fn spread(row: u32) -> u32 { return row / 4 * 4 + row % 2 * 2 + row / 2 % 2; }
`;
