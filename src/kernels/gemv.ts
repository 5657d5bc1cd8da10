/**
 * GEMV: few rows or few columns of C, up to 8. The large operand is read once, in words of 16 bytes with several loads
 * under way in each thread, and every word serves all of the few rows: memory bandwidth is the only bound.
 *
 * "Few" is the short side of C (rows where B is the large operand, columns where A is), "wide" the long one. A workgroup
 * of 256 threads makes all few and some wide cells, over all of K or over one slice of it.
 *
 * - Large operand stored along K: `lanes` threads share ROWS wide cells. They walk along K side by side, each reads a
 *   word of every one of its rows at a time, and the lanes' sums meet in workgroup memory.
 * - Stored across K: 256/lanes threads stand side by side, each owns the wide cells of one word; the lanes take turns of
 *   4 or 8 along K, and their sums meet in workgroup memory. Of eight few lines, a workgroup reads so much of K at a time into
 *   workgroup memory: its threads would load more of them than of the large operand (docs/performance.md, log entry 47).
 */
import { BYTES, copiesOf, operations, type Problem } from '../problem.ts';
import { ceilDiv, foldGrid, type Program } from '../program.ts';
import { frame, tileOf } from '../wgsl/frame.ts';
import { plus } from '../wgsl/terms.ts';
import { lines, unroll } from '../wgsl/unroll.ts';
import type { Width } from '../wgsl/vectors.ts';
import { liesAlongK, widest, words } from '../wgsl/words.ts';
import { estimateMs } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { needsF16, plainArithmetic } from './needs.ts';
import { partialBytes, reducePass } from './reduce.ts';

const THREADS = 256;
const MOST_FEW = 8;
/** Words along K that a thread reads before it multiplies, of a large operand along K. */
const UNROLL = 2;
/** K that is staged at a time, of MOST_FEW lines: a multiple of what the lanes take in a turn. */
const STAGED = 256;
/** Of the time that cost.ts takes for a byte from memory: it does hardly anything but read (4 TB/s on an H200). */
const READING = 0.75;
/** Threads that keep a large device's memory busy. */
const BUSY = 2 ** 18;

/** How a problem lies before the kernel; everything that its code depends on. */
interface Shape {
  readonly few: number;
  readonly wide: number;
  readonly large: 'A' | 'B';
  readonly alongK: boolean;
  /** The few cells that the code makes: 1, 2, 4 or 8. */
  readonly cells: number;
  /** Wide cells of a group of lanes, where the large operand lies along K. */
  readonly rows: number;
  /** Words that a thread reads before it multiplies where the large operand lies across K: a multiple of 4. */
  readonly reads: number;
  /** Elements in a word of the large operand, and how the frame declares both of them. */
  readonly width: number;
  readonly vectors: { readonly vectorA: Width; readonly vectorB: Width };
}

function shapeOf(problem: Problem): Shape {
  const { m, n } = problem;
  const large = m <= n ? 'B' : 'A';
  const small = m <= n ? 'A' : 'B';
  const [few, wide] = m <= n ? [m, n] : [n, m];
  const cells = [1, 2, 4].find(count => few <= count) ?? MOST_FEW;
  const wordWidth = widest(problem, large, 8);
  // The few operand is read 4 elements along K at a time.
  const fewWidth = liesAlongK(problem, small) ? widest(problem, small, 4) : 1;
  return {
    ...{ few, wide, large, cells },
    alongK: liesAlongK(problem, large),
    rows: Math.min(4, 16 / cells),
    // More of 16-byte words of f32, of which a thread makes fewer cells, were slower.
    reads: cells === 1 && wordWidth === 8 ? 8 : 4,
    width: Math.max(4, wordWidth),
    vectors:
      large === 'A' ? { vectorA: wordWidth, vectorB: fewWidth } : { vectorA: fewWidth, vectorB: wordWidth },
  };
}

/** Whether the few lines go through workgroup memory. */
const isStaged = ({ alongK, cells }: Shape): boolean => !alongK && cells === MOST_FEW;

/** Wide cells that a workgroup makes. */
const wideTile = ({ alongK, rows, width }: Shape, lanes: number) =>
  (THREADS / lanes) * (alongK ? rows : width);

/** WGSL: both operands by their part, so that the two mains need not know which is which. */
function operands(problem: Problem, { large, vectors }: Shape, slices: number): string {
  const small = large === 'A' ? 'B' : 'A';
  const at = (name: 'A' | 'B', line: string) => (name === 'A' ? `batch, ${line}, k` : `batch, k, ${line}`);
  const [row, col] = large === 'A' ? ['wide', 'few'] : ['few', 'wide'];
  return /* wgsl */ `${words(problem, large, vectors[`vector${large}`]).wgsl}${words(problem, small, vectors[`vector${small}`], 'k').wgsl}
// A word of the large operand.
fn wordOf(batch: u32, wide: u32, k: u32) -> Word${large} { return word${large}(${at(large, 'wide')}); }

// Four elements of the other one along K.
fn fewOf(batch: u32, few: u32, k: u32) -> vec4<Sum> { return part${small}0(word${small}(${at(small, 'few')})); }

fn store(place: Tile, few: u32, wide: u32, sum: Sum) {
  storeC(place.batch, ${row}, ${col}, sum${slices > 1 ? ', place.slice' : ''});
}
`;
}

const start = ({ large }: Shape) => /* wgsl */ `@compute @workgroup_size(${THREADS})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let place = tileOf(group, groups);
  if (!place.valid) { return; }
  let batch = place.batch;
  let firstWide = place.${large === 'A' ? 'row' : 'col'};
  let start = place.slice * params.depth;
  let end = min(start + params.depth, params.k);`;

/** The large operand along K. */
const alongMain = (shape: Shape, lanes: number) => {
  const { cells, rows, width, large } = shape;
  const parts = width / 4;
  return /* wgsl */ `
const LANES = ${lanes}u;             // threads of a team: they share ROWS wide cells
const TEAMS = ${THREADS / lanes}u;
const FEW = ${cells}u;
const ROWS = ${rows}u;
const CELLS = ROWS * FEW;
const HELPERS = LANES / CELLS;

var<workgroup> sums: array<array<Sum, ${THREADS}>, CELLS>;

${start(shape)}
  let lane = thread % LANES;
  let wide = firstWide + thread / LANES * ROWS;
  ${unroll(rows, 2, r => unroll(cells, 0, f => `var sum${r}_${f} = vec4<Sum>();`))}

  for (var base = start; base < end; base += ${UNROLL * width} * LANES) {
    // Past the end of the slice, lanes read at the end of K, which gives 0.
    ${unroll(UNROLL, 4, u => `let at${u} = base + ${width} * (${u} * LANES + lane);\nlet k${u} = select(params.k, at${u}, at${u} < end);`)}
    ${unroll(UNROLL, 4, u => unroll(rows, 0, r => `let word${u}_${r} = wordOf(batch, wide + ${r}, k${u});`))}
    ${unroll(UNROLL * parts, 4, i => {
      const [u, p] = [Math.floor(i / parts), i % parts];
      const few = unroll(cells, 0, f => `let few${i}_${f} = fewOf(batch, ${f}, k${u} + ${4 * p});`);
      return `${few}\n${unroll(rows, 0, r => {
        const sum = unroll(cells, 0, f => `sum${r}_${f} += few${i}_${f} * part${i}_${r};`);
        return `let part${i}_${r} = part${large}${p}(word${u}_${r});\n${sum}`;
      })}`;
    })}
  }

  ${unroll(rows, 2, r => unroll(cells, 0, f => `sums[${r * cells + f}][thread] = sum${r}_${f}.x + sum${r}_${f}.y + sum${r}_${f}.z + sum${r}_${f}.w;`))}
  workgroupBarrier();
  // HELPERS threads add a share of a cell's lanes each, one of them adds the shares.
  let cell = thread / HELPERS % CELLS;
  let first = thread / LANES * LANES + thread % HELPERS;
  var share = Sum();
  for (var i = 0u; i < CELLS; i++) { share += sums[cell][first + i * HELPERS]; }
  workgroupBarrier();
  sums[0][thread] = share;
  workgroupBarrier();
  if (thread < TEAMS * CELLS) {
    var sum = Sum();
    for (var i = 0u; i < HELPERS; i++) { sum += sums[0][thread * HELPERS + i]; }
    store(place, thread % FEW, firstWide + thread / FEW, sum);
  }
}
`;
};

/** The large operand across K. */
const acrossMain = (shape: Shape, lanes: number) => {
  const { cells, width, large, reads } = shape;
  const parts = width / 4;
  const staged = isStaged(shape);
  const few = (f: number, q: number) =>
    staged ? `staged[${f}][${plus(q, '(at - chunk) / 4')}]` : `fewOf(batch, ${f}, ${plus(4 * q, 'k')})`;
  const loop = /* wgsl */ `for (var base = ${staged ? 'chunk' : 'start'}; base < ${staged ? `min(chunk + ${STAGED}, end)` : 'end'}; base += ${reads} * LANES) {
  // Past the end of the slice, lanes read at the end of K, which gives 0.
  let at = base + ${reads} * lane;
  let k = select(params.k, at, at < end);
  ${unroll(reads, 2, j => `let word${j} = wordOf(batch, wide, k + ${j});`)}
  ${unroll(reads / 4, 2, q => unroll(cells, 0, f => `let few${f}_${q} = ${few(f, q)};`))}
  ${unroll(reads * parts, 2, i => {
    const [j, p] = [Math.floor(i / parts), i % parts];
    const sum = unroll(cells, 0, f => `sum${f}_${p} += few${f}_${j >> 2}[${j % 4}] * part${j}_${p};`);
    return `let part${j}_${p} = part${large}${p}(word${j});\n${sum}`;
  })}
}`;
  const stagedLoop = /* wgsl */ `for (var chunk = start; chunk < end; chunk += ${STAGED}) {
  workgroupBarrier();
  for (var i = thread; i < FEW * ${STAGED / 4}; i += ${THREADS}) {
    let k = chunk + i % ${STAGED / 4} * 4;
    staged[i / ${STAGED / 4}][i % ${STAGED / 4}] = fewOf(batch, i / ${STAGED / 4}, select(params.k, k, k < end));
  }
  workgroupBarrier();
  ${lines([loop], 2)}
}`;
  return /* wgsl */ `
const LANES = ${lanes}u;             // threads that share K
const ACROSS = ${THREADS / lanes}u;            // threads that stand side by side
const FEW = ${cells}u;
const WIDE = ${(THREADS / lanes) * width}u;              // wide cells of the workgroup

var<workgroup> sums: array<array<vec4<Sum>, WIDE / 4>, LANES>;
${
  staged
    ? `var<workgroup> staged: array<array<vec4<Sum>, ${STAGED / 4}>, FEW>;
`
    : ''
}
${start(shape)}
  let lane = thread / ACROSS;
  let x = thread % ACROSS;
  let wide = firstWide + x * ${width};
  ${unroll(cells, 2, f => unroll(parts, 0, p => `var sum${f}_${p} = vec4<Sum>();`))}

  ${lines([staged ? stagedLoop : loop], 2)}

  var all = array(${sumNames(cells, parts).join(', ')});
  for (var few = 0u; few < FEW; few++) {
    ${unroll(parts, 4, p => `sums[lane][x * ${parts} + ${p}] = all[few * ${parts} + ${p}];`)}
    workgroupBarrier();
    if (thread < WIDE) {
      var sum = Sum();
      for (var i = 0u; i < LANES; i++) { sum += sums[i][thread / 4][thread % 4]; }
      store(place, few, firstWide + thread, sum);
    }
    workgroupBarrier();
  }
}
`;
};

const sumNames = (cells: number, parts: number) =>
  Array.from({ length: cells * parts }, (_, i) => `sum${Math.floor(i / parts)}_${i % parts}`);

const powerOf2 = (least: number) => 2 ** Math.ceil(Math.log2(Math.max(1, least)));
const between = (least: number, value: number, most: number) => Math.max(least, Math.min(value, most));

const workgroups = (problem: Problem, { lanes, slices }: Params): number => {
  const shape = shapeOf(problem);
  return ceilDiv(shape.wide, wideTile(shape, lanes)) * problem.batch * slices;
};

export const gemv: Kernel = {
  name: 'gemv',
  idea: 'few rows or columns: the large operand is read once, as fast as memory gives it',
  rejects(problem, profile) {
    const { m, n } = problem;
    if (Math.min(m, n) > MOST_FEW) {
      return `C is ${m}×${n}, and it makes products of up to ${MOST_FEW} rows or columns`;
    }
    return needsF16(problem, profile);
  },
  arithmetic: plainArithmetic,
  /** As many lanes as it takes to fill a large device; where those are not enough, K is cut into slices as well. */
  candidates(problem) {
    const { k, batch } = problem;
    const shape = shapeOf(problem);
    const { alongK, wide, rows, cells, width } = shape;
    // Along K: no more lanes than there are words. Across: enough side by side for whole lines of the cache.
    const wanted = alongK ? powerOf2((BUSY * rows) / (wide * batch)) : 8;
    const most = alongK ? between(rows * cells, powerOf2(k / width), THREADS) : THREADS / 4;
    const least = alongK ? rows * cells : between(8, THREADS / powerOf2(wide / width), most);
    const first = alongK ? between(least, Math.max(32, wanted), most) : least;
    const lanesToTry = [first, 2 * first, 4 * first, first / 2, 8 * first].filter(
      it => it >= least && it <= most,
    );
    // A slice leaves every lane several steps to do.
    const stepsOfK = k / (alongK ? width : shape.reads);
    return lanesToTry.map(lanes => {
      const alone = workgroups(problem, { lanes, slices: 1 }) * THREADS;
      const slices = between(1, Math.min(Math.round(BUSY / alone), Math.floor(stepsOfK / (4 * lanes))), 256);
      return { lanes, slices };
    });
  },
  estimate(problem, _, params) {
    const { m, n, k, batch, a, b } = problem;
    const bytes = copiesOf(a, batch) * m * k * BYTES[a.type] + copiesOf(b, batch) * k * n * BYTES[b.type];
    return estimateMs({
      operations: operations(problem),
      unit: 'fma',
      // What 4 and 8 rows, which it is slow at, reach on an H200.
      efficiency: 0.22,
      bytes: READING * bytes + (params.slices > 1 ? 8 * params.slices * m * n * batch : 0),
      threads: workgroups(problem, params) * THREADS,
      dispatches: params.slices > 1 ? 2 : 1,
    });
  },
  build(problem, _, params): Program {
    const { lanes, slices } = params;
    const shape = shapeOf(problem);
    const { cells, alongK, large, rows, width } = shape;
    const split = slices > 1;
    const tile = wideTile(shape, lanes);
    const {
      wgsl,
      bindings,
      params: numbers,
    } = frame(problem, {
      ...shape.vectors,
      store: split ? 'partial' : 'finished',
      slices,
      step: alongK ? width : shape.reads,
    });
    const tiles = large === 'A' ? tileOf(tile, cells) : tileOf(cells, tile);
    const main = alongK ? alongMain(shape, lanes) : acrossMain(shape, lanes);
    return {
      passes: [
        {
          label: 'gemv',
          wgsl: wgsl + tiles + operands(problem, shape, slices) + main,
          bindings,
          workgroups: foldGrid(workgroups(problem, params)),
          threads: THREADS,
          workgroupMemory: alongK
            ? rows * cells * THREADS * 4
            : THREADS * width * 4 + (isStaged(shape) ? MOST_FEW * STAGED * 4 : 0),
        },
        ...(split ? [reducePass(problem, slices)] : []),
      ],
      uniforms: { params: numbers },
      scratch: split ? { partial: partialBytes(problem, slices) } : {},
    };
  },
};
