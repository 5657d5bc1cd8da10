/**
 * Register tile: the f32 workhorse for large products on every device. Rung 9 of the ladder.
 *
 * Mapping: a workgroup makes a bm×bn tile of C, a thread tm×tn cells of it, in groups of 4×4 that lie as far apart as the
 * workgroup has threads along that side, so that neighbours read neighbouring vec4s of workgroup memory. Threads are laid over the tile
 * in blocks of 4×8: a subgroup of 32 reads 4 different vec4s of A and 8 of B, all others are broadcasts. K is taken in
 * steps of bk; both panels hold vec4s along the tile's side, so an operand that is stored along K is turned 4×4 in
 * registers on its way in. While a step is multiplied, the next one is fetched into registers. With `pack`, both operands
 * are first copied into the order in which the panels take them (pack.ts): nothing is turned, guarded or computed on the
 * way in, and K is written out, which pays for large products.
 *
 * 8×16 cells a thread read six vec4s for 128 multiply-adds. On an H200 that reached 48.7 TFLOP/s at 4096³ where the f32
 * units' own limit is 65.7 (docs/performance.md).
 */
import { GemmError } from '../errors.ts';
import { BYTES, isInteger, operations, type Problem } from '../problem.ts';
import { type Binding, ceilDiv, foldGrid, type Pass, type Program } from '../program.ts';
import { type FrameOptions, frame, tileOf, tilesOf } from '../wgsl/frame.ts';
import { type WidthC, widthStored } from '../wgsl/store.ts';
import { unroll } from '../wgsl/unroll.ts';
import { liesAlongK, widest, words } from '../wgsl/words.ts';
import { estimateMs, quickestFirst } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { needsF16, plainArithmetic } from './needs.ts';
import { pack } from './pack.ts';
import { partialBytes, reducePass } from './reduce.ts';
import { sliceBytes, slicesFor } from './slices.ts';

/** Tiles, and the share of the f32 units' rate that each reaches at 4096³ (an H200; docs/performance.md). */
const TILES = [
  { bm: 128, bn: 128, bk: 16, tm: 8, tn: 16, pack: 1, efficiency: 0.98 },
  { bm: 128, bn: 64, bk: 16, tm: 8, tn: 8, pack: 1, efficiency: 0.97 },
  { bm: 64, bn: 64, bk: 16, tm: 8, tn: 8, pack: 1, efficiency: 0.94 },
  { bm: 128, bn: 128, bk: 16, tm: 16, tn: 8, pack: 0, efficiency: 0.8 },
  { bm: 64, bn: 128, bk: 16, tm: 8, tn: 8, pack: 0, efficiency: 0.66 },
  { bm: 128, bn: 64, bk: 16, tm: 8, tn: 4, pack: 0, efficiency: 0.64 },
  { bm: 64, bn: 64, bk: 16, tm: 4, tn: 4, pack: 0, efficiency: 0.52 },
  { bm: 32, bn: 128, bk: 16, tm: 4, tn: 8, pack: 0, efficiency: 0.6 },
  { bm: 32, bn: 32, bk: 16, tm: 4, tn: 4, pack: 0, efficiency: 0.35 },
] as const;

/** K in whose time a tile, or a slice of one, is begun and its sums are stored. */
const START_AND_END = 64;

/** Cells a thread that a software GPU's compiler can take: it needs many seconds for straight-line code of 16×8. */
const SOFTWARE_CELLS = 16;

export const registerTile: Kernel = {
  name: 'register-tile',
  idea: 'large tiles of sums in registers, panels in workgroup memory',
  rejects: needsF16,
  arithmetic: plainArithmetic,
  candidates(problem, profile) {
    const most = profile.software ? SOFTWARE_CELLS : Number.POSITIVE_INFINITY;
    const tiles = TILES.filter(
      ({ tm, tn, pack }) => tm * tn <= most && !(pack && isInteger(problem.a.type)),
    ).flatMap(({ efficiency: _, ...tile }) => {
      const threads = tilesOf(problem, tile.bm, tile.bn) * threadsOf(tile);
      return slicesFor(problem, threads).map(slices => ({ ...tile, slices }));
    });
    return quickestFirst(tiles, params => this.estimate(problem, profile, params));
  },
  space(problem, profile) {
    return this.candidates(problem, profile)
      .flatMap(tile => (tile.pack ? [tile] : [8, 16, 32].map(bk => ({ ...tile, bk }))))
      .flatMap(tile => [1, 2, 4, 8, 16].map(slices => ({ ...tile, slices })));
  },
  estimate(problem, _, { bm, bn, bk, tm, tn, slices, pack: packs = 0 }) {
    const tiles = tilesOf(problem, bm, bn);
    const known = TILES.find(
      tile => tile.bm === bm && tile.bn === bn && tile.tm === tm && tile.pack === packs,
    );
    const elements = problem.batch * problem.k * (problem.m + problem.n);
    const own = BYTES[problem.a.type];
    return estimateMs({
      operations: 2 * tiles * bm * bn * (problem.k + START_AND_END * slices),
      unit: 'fma',
      efficiency: known?.efficiency ?? 0.5,
      bytes: operations(problem) * (1 / bm + 1 / bn) * 0.5 * (packs ? BYTES.f32 : own),
      prepared: (packs ? elements * (own + BYTES.f32) : 0) + sliceBytes(problem, slices),
      steps: ceilDiv(problem.k, bk * slices),
      threads: tiles * slices * ((bm / tm) * (bn / tn)),
      dispatches: (packs ? 3 : 1) + (slices > 1 ? 1 : 0),
    });
  },
  build(problem, _, params): Program {
    const { bm, bn, slices } = params;
    checkFit(problem, params);
    const operands = params.pack ? packedOperands(problem, params) : operandsAsTheyLie(problem, params);
    const source = tileSource(operands.a, operands.b, widthStored(problem, params.slices), params);
    return {
      passes: [
        ...operands.passes,
        {
          label: 'register-tile',
          wgsl: [operands.wgsl, tileOf(bm, bn), source].join(''),
          bindings: operands.bindings,
          workgroups: foldGrid(tilesOf(problem, bm, bn) * slices),
          threads: threadsOf(params),
          workgroupMemory: operands.a.bytes + operands.b.bytes,
        },
        ...(slices > 1 ? [reducePass(problem, slices)] : []),
      ],
      uniforms: operands.uniforms,
      scratch: { ...operands.scratch, ...(slices > 1 ? { partial: partialBytes(problem, slices) } : {}) },
    };
  },
};

/** @throws GemmError `invalid-argument` where threads and cells do not go together */
function checkFit({ a }: Problem, { bm, bn, bk, tm, tn, pack: packs }: Params): void {
  const fits = tm % 4 === 0 && tn % 4 === 0 && bk % 4 === 0 && bm % tm === 0 && bn % tn === 0;
  if (!fits || (bm / tm) % 4 !== 0 || (bn / tn) % 8 !== 0) {
    throw new GemmError(
      'invalid-argument',
      `register-tile: a ${bm}×${bn}×${bk} tile with ${tm}×${tn} cells a thread`,
      'Cells come in fours, and threads in blocks of 4×8.',
    );
  }
  if (packs && isInteger(a.type)) {
    throw new GemmError('invalid-argument', `register-tile packs f32 and f16, not ${a.type}`);
  }
}

const threadsOf = ({ bm, bn, tm, tn }: Params) => (bm / tm) * (bn / tn);

interface Panel {
  readonly declaration: string;
  readonly bytes: number;
  /** WGSL: what is the same for every step. */
  readonly start: string;
  /** WGSL: fetches the words of the step at `base` into variables, each \`name = value\`. */
  readonly fetches: readonly { readonly name: string; readonly value: string }[];
  /** WGSL: stores them into the panel. */
  readonly stores: string;
}

/** One operand's panel, filled from the operand as it lies: bk lines of vec4s along the side of the tile. */
function panel(problem: Problem, name: 'A' | 'B', side: number, { bk, ...params }: Params): Panel {
  const T = threadsOf({ bk, ...params });
  const turned = liesAlongK(problem, name);
  // A turned panel is written down its columns: a line longer by one vec4 puts those into different banks.
  const line = side / 4 + (turned ? 1 : 0);
  const word = (across: string, k: string) =>
    name === 'A'
      ? `wordA(tile.batch, tile.row + ${across}, ${k})`
      : `wordB(tile.batch, ${k}, tile.col + ${across})`;
  const at = (k: string, vector: string) => `panel${name}[${k}][${vector}]`;
  const units = turned ? (bk / 4) * (side / 4) : bk * (side / 4);
  const rounds = ceilDiv(units, T);
  const fetches: { name: string; value: string }[] = [];
  const stores: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const unit = `(thread + ${round * T})`;
    const wordName = (i: number) => `word${name}${round}${turned ? `_${i}` : ''}`;
    const idle = units % T === 0 ? null : `thread + ${round * T} < ${units}`;
    const store: string[] = [];
    if (turned) {
      const [k, vector] = [`${unit} % ${bk / 4} * 4`, `${unit} / ${bk / 4}`];
      for (let i = 0; i < 4; i++) {
        fetches.push({ name: wordName(i), value: word(`${vector} * 4 + ${i}`, `base + ${k}`) });
      }
      for (const [i, c] of ['x', 'y', 'z', 'w'].entries()) {
        const parts = [0, 1, 2, 3].map(j => `part${name}0(${wordName(j)}).${c}`);
        store.push(`${at(`${k} + ${i}`, vector)} = vec4(${parts.join(', ')});`);
      }
    } else {
      const [k, vector] = [`${unit} / ${side / 4}`, `${unit} % ${side / 4}`];
      fetches.push({ name: wordName(0), value: word(`${vector} * 4`, `base + ${k}`) });
      store.push(`${at(k, vector)} = part${name}0(${wordName(0)});`);
    }
    stores.push(idle ? `if (${idle}) {\n  ${store.join('\n  ')}\n}` : store.join('\n'));
  }
  return {
    declaration: `var<workgroup> panel${name}: array<array<vec4<Sum>, ${line}>, ${bk}>;`,
    bytes: bk * line * 16,
    start: '',
    fetches,
    stores: stores.join('\n'),
  };
}

/** How the kernel comes by its operands: the frame, their panels, and passes that run before. */
interface Operands {
  readonly wgsl: string;
  readonly bindings: readonly Binding[];
  readonly a: Panel;
  readonly b: Panel;
  readonly passes: readonly Pass[];
  readonly uniforms: Program['uniforms'];
  readonly scratch: Program['scratch'];
}

function frameOptions(problem: Problem, params: Params): FrameOptions {
  const { bk, slices } = params;
  const store = slices > 1 ? 'partial' : 'finished';
  return { slices, step: bk, store, vectorC: widthStored(problem, slices) };
}

function operandsAsTheyLie(problem: Problem, params: Params): Operands {
  const [vectorA, vectorB] = [widest(problem, 'A', 4), widest(problem, 'B', 4)];
  const {
    wgsl,
    bindings,
    params: uniforms,
  } = frame(problem, { ...frameOptions(problem, params), vectorA, vectorB });
  return {
    wgsl: [wgsl, words(problem, 'A', vectorA).wgsl, words(problem, 'B', vectorB).wgsl].join(''),
    bindings,
    a: panel(problem, 'A', params.bm, params),
    b: panel(problem, 'B', params.bn, params),
    passes: [],
    uniforms: { params: uniforms },
    scratch: {},
  };
}

function packedOperands(problem: Problem, params: Params): Operands {
  const { m, n, k, batch } = problem;
  const { bm, bn, bk, slices } = params;
  const steps = ceilDiv(ceilDiv(k, slices), bk) * slices;
  const kind = { order: 'steps', type: 'f32', wordBytes: 16 } as const;
  const a = pack({
    ...kind,
    name: 'a',
    operand: problem.a,
    batch,
    lines: m,
    length: k,
    block: [bm, bk],
    steps,
  });
  const b = pack({
    ...kind,
    name: 'b',
    operand: problem.b,
    batch,
    lines: n,
    length: k,
    block: [bn, bk],
    steps,
  });
  const {
    wgsl,
    bindings,
    params: uniforms,
  } = frame(
    { ...problem, a: a.operand, b: b.operand },
    { ...frameOptions(problem, params), access: 'vec4<f32>', buffers: { a: 'packedA', b: 'packedB' } },
  );
  return {
    ...{ wgsl, bindings, passes: [a.pass, b.pass] },
    a: packedPanel('A', bm, params),
    b: packedPanel('B', bn, params),
    uniforms: { params: uniforms, ...a.uniforms, ...b.uniforms },
    scratch: { ...a.scratch, ...b.scratch },
  };
}

/** One operand's panel, filled from blocks in just this order. */
function packedPanel(name: 'A' | 'B', side: number, params: Params): Panel {
  const T = threadsOf(params);
  const line = side / 4;
  const rounds = (params.bk * line) / T;
  const [array, start] = [name.toLowerCase(), name === 'A' ? 'tile.row' : 'tile.col'];
  const at = (round: number) => `(thread + ${round * T})`;
  return {
    declaration: `var<workgroup> panel${name}: array<array<vec4<Sum>, ${line}>, ${params.bk}>;`,
    bytes: params.bk * line * 16,
    start: `let block${name} = tile.batch * params.stride${name} / 4 + ${start} / ${side} * params.depth * params.slices * ${line} + thread;`,
    fetches: Array.from({ length: rounds }, (_, round) => ({
      name: `word${name}${round}`,
      value: `${array}[block${name} + base * ${line} + ${round * T}]`,
    })),
    stores: Array.from(
      { length: rounds },
      (_, round) => `panel${name}[${at(round)} / ${line}][${at(round)} % ${line}] = word${name}${round};`,
    ).join('\n'),
  };
}

function tileSource(a: Panel, b: Panel, width: WidthC, params: Params): string {
  const { bm, bn, bk, tm, tn, slices } = params;
  const [threadsM, threadsN] = [bm / tm, bn / tn];
  const [groupsM, groupsN] = [tm / 4, tn / 4];
  const fetches = [...a.fetches, ...b.fetches];
  const fetch = (how: 'var ' | '') => fetches.map(({ name, value }) => `${how}${name} = ${value};`);
  const sums = Array.from({ length: tm }, (_, i) =>
    Array.from({ length: groupsN }, (_, j) => `sum${i}_${j}`),
  );
  const slice = slices > 1 ? ', tile.slice' : '';
  const multiply = (
    k: number | string,
  ) => /* wgsl */ `${unroll(groupsM, 6, g => `let a${g} = panelA[${k}][${g * threadsM} + y];`)}
      ${unroll(groupsN, 6, h => `let b${h} = panelB[${k}][${h * threadsN} + x];`)}
      ${unroll(tm, 6, i => sums[i].map((sum, h) => `${sum} += a${i >> 2}.${'xyzw'[i % 4]} * b${h};`).join(' '))}`;
  const inner = params.pack
    ? Array.from({ length: bk }, (_, k) => `{\n      ${multiply(k)}\n    }`).join('\n    ')
    : `for (var k = 0u; k < ${bk}; k++) {\n      ${multiply('k')}\n    }`;
  const start = [a.start, b.start].filter(Boolean).join('\n  ');
  return /* wgsl */ `
${a.declaration}
${b.declaration}

@compute @workgroup_size(${threadsOf(params)})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = tileOf(group, groups);
  if (!tile.valid) { return; }
  // Blocks of 4×8 threads, side by side.
  let block = thread / 32;
  let y = block / ${threadsN / 8} * 4 + thread % 32 / 8;
  let x = block % ${threadsN / 8} * 8 + thread % 8;
  ${unroll(tm, 2, i => sums[i].map(sum => `var ${sum} = vec4<Sum>();`).join(' '))}

  ${start ? `${start}\n  ` : ''}let start = tile.slice * params.depth;
  let end = min(start + params.depth, params.k);
  var base = start;
  ${unroll(fetches.length, 2, i => fetch('var ')[i])}
  while (base < end) {
    workgroupBarrier();
    ${a.stores.split('\n').join('\n    ')}
    ${b.stores.split('\n').join('\n    ')}
    workgroupBarrier();
    base += ${bk};
    ${unroll(fetches.length, 4, i => fetch('')[i])}
    ${inner}
  }

  ${unroll(tm, 2, i =>
    sums[i]
      .flatMap((sum, h) => {
        const row = `tile.row + ${(i >> 2) * threadsM * 4 + (i % 4)} + 4 * y`;
        const col = (j: number) => `tile.col + ${h * threadsN * 4 + j} + 4 * x`;
        const parts = width === 4 ? [''] : ['.x', '.y', '.z', '.w'];
        return parts.map((part, j) => `storeC(tile.batch, ${row}, ${col(j)}, ${sum}${part}${slice});`);
      })
      .join('\n'),
  )}
}
`;
}
