/**
 * Subgroup matrix: the product on the GPU's matrix units, f16 (or f32, or 8-bit integers) in, f32 (or i32) sums.
 *
 * wgsl/matrix-tile.ts has the mapping. Operands are read as they lie, transposed or not; those that are not whole 16-byte words of
 * the units' type (odd strides, mixed types) are packed first.
 */
import { GemmError } from '../errors.ts';
import type { Arithmetic } from '../measure/tolerance.ts';
import { BYTES, isInteger, type Problem } from '../problem.ts';
import { type MatrixConfig, type Profile, subgroupSizeFor } from '../profile.ts';
import { ceilDiv, foldGrid, type Program, roundUp } from '../program.ts';
import { SUBGROUP_MATRIX_FEATURE } from '../wgsl/experimental.ts';
import { frame, tileOf, tilesOf } from '../wgsl/frame.ts';
import {
  gridThreads,
  MANY_CELLS,
  type MatrixTile,
  misfit,
  type Source,
  stepsOfK,
  stepsTogether,
  threads,
  wholeTiles,
  wordBytes,
  wordElements,
  wordType,
  workgroupMemory,
} from '../wgsl/matrix-layout.ts';
import { matrixMain } from '../wgsl/matrix-main.ts';
import { matrixEnable } from '../wgsl/matrix-tile.ts';
import { estimateMs, quickestFirst } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { asItLies, makeTile, stagesOf } from './matrix-params.ts';
import { needsF16 } from './needs.ts';
import { type Packed, type PackedType, pack } from './pack.ts';
import { partialBytes, reducePass } from './reduce.ts';
import { sliceBytes, slicesFor } from './slices.ts';

export const subgroupMatrix: Kernel = {
  name: 'subgroup-matrix',
  idea: "the subgroup's matrix units, K through workgroup memory",
  rejects(problem, profile) {
    const reason = needsF16(problem, profile);
    if (reason) return reason;
    if (!profile.features.includes(SUBGROUP_MATRIX_FEATURE))
      return `the device has no \`${SUBGROUP_MATRIX_FEATURE}\``;
    const subgroup = subgroupSizeFor(profile);
    if ('missing' in subgroup) return subgroup.missing;
    if (problem.k === 0) return 'k is 0: there is nothing to multiply';
    const type = inputType(problem, profile);
    if (type === null)
      return `no matrices for ${problem.a.type} times ${problem.b.type} with results that lose nothing`;
    return null;
  },
  candidates(problem, profile) {
    const most = profile.software ? SOFTWARE_CELLS : Number.POSITIVE_INFINITY;
    // A tile of 16 rows is for that few.
    const worthwhile = ({ bm, sm, sn }: (typeof TILES)[number]) =>
      sm * sn <= most && (bm > 16 || problem.m <= 16);
    const tiles = TILES.filter(worthwhile).map(({ efficiency: _, ...tile }) => ({ ...tile, still: 0 }));
    const fitting = (config: number, K: number) => {
      const seen = new Set<string>();
      return tiles
        .map(tile => ({ ...tile, bk: tile.stages === 2 ? K : tile.bk, slices: 1, config }))
        .filter(params => {
          const tile = tileFor(problem, profile, params);
          // What has to be packed anyway makes the same program of different parameters.
          const { pack: _, ...sizes } = params;
          const program = JSON.stringify([sizes, tile.a.kind, tile.b.kind]);
          if (misfit(tile) !== null || seen.has(program)) return false;
          seen.add(program);
          return true;
        });
    };
    // Smaller matrices were slower wherever there are larger ones (docs/performance.md, log entry 17).
    const largest = configsFor(problem, profile).reduce<ReturnType<typeof fitting>>(
      (found, { K }, config) => (found.length > 0 ? found : fitting(config, K)),
      [],
    );
    const sliced = largest.flatMap(params => {
      const tile = tileFor(problem, profile, params);
      return slicesFor(problem, gridThreads(problem, tile)).map(slices => ({ ...params, slices }));
    });
    return quickestFirst(sliced, params => this.estimate(problem, profile, params));
  },
  space(problem, profile) {
    return (
      this.candidates(problem, profile)
        .flatMap((tile): Params[] => (tile.stages === 2 ? [tile] : [16, 32, 64].map(bk => ({ ...tile, bk }))))
        // With few rows or columns more than whole tiles, packing both may pay: plain sums take care of those then.
        .flatMap(tile => (gainsFew(problem, profile, tile) ? [tile, { ...tile, pack: BOTH }] : [tile]))
        .flatMap(tile => [1, 2, 4, 8].map((slices): Params => ({ ...tile, slices })))
        .flatMap(tile =>
          (tile.stages === 2 ? [1, 2, 4] : [0, 1]).map((prefetch): Params => ({ ...tile, prefetch })),
        )
        .flatMap(tile => (tile.stages === 2 && tile.pack === BOTH ? [tile, { ...tile, still: 1 }] : [tile]))
        .filter(params => misfit(tileFor(problem, profile, params)) === null)
    );
  },
  arithmetic({ a, b, accuracy }): Arithmetic {
    if (isInteger(a.type)) return 'exact';
    return accuracy === 'f16' && (a.type === 'f32' || b.type === 'f32') ? 'narrowed' : 'matrix-f32';
  },
  estimate(problem, profile, params) {
    const tile = tileFor(problem, profile, params);
    const packs = packedOf(tile);
    const { m, n, k, batch, a, b } = problem;
    const tiles = wholeTiles(problem, tile);
    const known = TILES.find(
      ({ bm, bn, stages, pack, ways }) =>
        bm === tile.bm &&
        bn === tile.bn &&
        stages === tile.stages &&
        pack === params.pack &&
        ways === tile.ways,
    );
    const bytesOf = { a: m * k * BYTES[a.type], b: k * n * BYTES[b.type] };
    const packed = packs.reduce((sum, name) => sum + 2 * bytesOf[name], 0);
    const integers = isInteger(a.type);
    return estimateMs({
      operations: (integers ? 1 : 2) * tiles * tile.bm * tile.bn * (k + START_AND_END * params.slices),
      unit: 'matrix',
      efficiency: (known?.efficiency ?? 0.3) * asTheyLie(tile),
      // Of the tiles' traffic half is taken to come from the L2 cache, but each operand comes from memory once.
      bytes: Math.max(
        0.5 * tiles * (tile.bm + tile.bn) * k * BYTES[a.type],
        READING * batch * (bytesOf.a + bytesOf.b),
      ),
      prepared: batch * packed + sliceBytes(problem, params.slices),
      steps: ceilDiv(k, tile.bk * params.slices * tile.ways),
      pipelined: tile.stages === 2,
      threads: gridThreads(problem, tile) * params.slices,
      dispatches: 1 + Math.min(packs.length, 1) + (params.slices > 1 ? 1 : 0),
    });
  },
  build(problem, profile, params): Program {
    const tile = tileFor(problem, profile, params);
    const reason = misfit(tile);
    if (reason) throw new GemmError('invalid-argument', `subgroup-matrix: ${reason}`);
    const { passes, operands, ...packed } = packFor(problem, tile);
    const {
      wgsl,
      bindings,
      params: uniforms,
    } = frame(
      { ...problem, ...operands },
      {
        access: wordType(tile),
        enable: matrixEnable(tile),
        step: tile.bk * tile.together * tile.ways,
        buffers: { a: operands.a ? 'packedA' : 'a', b: operands.b ? 'packedB' : 'b' },
        writable: params.still === 1 && Boolean(operands.a && operands.b),
        slices: params.slices,
        vectorC: tile.width,
        store: params.slices > 1 ? 'partial' : 'finished',
      },
    );
    return {
      passes: [
        ...passes,
        {
          label: 'subgroup-matrix',
          wgsl: wgsl + tileOf(tile.bm, tile.bn, tile.few) + matrixMain(tile),
          bindings,
          workgroups: foldGrid(tilesOf(problem, tile.bm, tile.bn) * params.slices),
          threads: threads(tile),
          workgroupMemory: workgroupMemory(tile),
        },
        ...(params.slices > 1 ? [reducePass(problem, params.slices)] : []),
      ],
      uniforms: { params: uniforms, ...packed.uniforms },
      scratch: {
        ...(params.slices > 1 ? { partial: partialBytes(problem, params.slices) } : {}),
        ...packed.scratch,
      },
    };
  },
};

/**
 * Tiles in cells, and the share of the matrix units' rate that each reaches at 4096³ (an H200; docs/performance.md), packing
 * left out. Operands as they lie are read as fast as packed, but for what `asTheyLie` says.
 */
const TILES = [
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 64, stages: 2, prefetch: 4, pack: 2, ways: 1, efficiency: 0.89 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 64, stages: 2, prefetch: 4, pack: 3, ways: 1, efficiency: 0.89 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 64, stages: 2, prefetch: 4, pack: 1, ways: 1, efficiency: 0.89 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 64, stages: 2, prefetch: 4, pack: 0, ways: 1, efficiency: 0.89 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 64, stages: 2, prefetch: 2, pack: 0, ways: 1, efficiency: 0.88 },
  { bm: 128, bn: 128, bk: 16, sm: 64, sn: 64, stages: 2, prefetch: 2, pack: 0, ways: 2, efficiency: 0.83 },
  { bm: 64, bn: 128, bk: 16, sm: 32, sn: 64, stages: 2, prefetch: 2, pack: 0, ways: 1, efficiency: 0.66 },
  { bm: 64, bn: 128, bk: 16, sm: 32, sn: 64, stages: 2, prefetch: 2, pack: 0, ways: 2, efficiency: 0.5 },
  { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, pack: 0, ways: 1, efficiency: 0.4 },
  { bm: 64, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, pack: 0, ways: 2, efficiency: 0.35 },
  { bm: 32, bn: 128, bk: 16, sm: 32, sn: 64, stages: 2, prefetch: 2, pack: 0, ways: 1, efficiency: 0.3 },
  { bm: 32, bn: 128, bk: 16, sm: 32, sn: 64, stages: 2, prefetch: 2, pack: 0, ways: 2, efficiency: 0.3 },
  { bm: 32, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, pack: 0, ways: 2, efficiency: 0.26 },
  { bm: 32, bn: 64, bk: 16, sm: 32, sn: 32, stages: 2, prefetch: 2, pack: 0, ways: 4, efficiency: 0.26 },
  { bm: 16, bn: 32, bk: 16, sm: 16, sn: 32, stages: 2, prefetch: 2, pack: 0, ways: 4, efficiency: 0.2 },
  { bm: 32, bn: 32, bk: 16, sm: 16, sn: 32, stages: 2, prefetch: 2, pack: 0, ways: 4, efficiency: 0.2 },
  { bm: 128, bn: 128, bk: 32, sm: 64, sn: 64, stages: 1, prefetch: 0, pack: 1, ways: 1, efficiency: 0.66 },
  { bm: 128, bn: 128, bk: 32, sm: 64, sn: 64, stages: 1, prefetch: 0, pack: 0, ways: 1, efficiency: 0.55 },
  { bm: 64, bn: 128, bk: 32, sm: 32, sn: 64, stages: 1, prefetch: 0, pack: 0, ways: 1, efficiency: 0.38 },
  { bm: 64, bn: 64, bk: 32, sm: 32, sn: 32, stages: 1, prefetch: 0, pack: 0, ways: 1, efficiency: 0.27 },
  { bm: 32, bn: 128, bk: 32, sm: 32, sn: 32, stages: 1, prefetch: 0, pack: 0, ways: 1, efficiency: 0.25 },
  { bm: 32, bn: 32, bk: 32, sm: 16, sn: 16, stages: 1, prefetch: 0, pack: 0, ways: 1, efficiency: 0.15 },
] as const;

/** What `pack` says: which operands are packed though they could be read as they lie. With both, `still` is frame's `writable`. */
const [BOTH, ONLY_A, ONLY_B] = [1, 2, 3];

const isPacked = ({ pack }: Params, name: 'a' | 'b'): boolean =>
  pack === BOTH || pack === (name === 'a' ? ONLY_A : ONLY_B);

/** Whether plain sums would make last tiles if both operands were packed, and don't as it is. */
const gainsFew = (problem: Problem, profile: Profile, params: Params): boolean => {
  const [asItIs, packed] = [params, { ...params, pack: BOTH }].map(it => tileFor(problem, profile, it).few);
  return asItIs.rows + asItIs.cols === 0 && packed.rows + packed.cols > 0;
};

/**
 * Share of its speed that a tile keeps with operands as they lie: bytes of rows are turned one by one, and where a subgroup has many
 * cells, there are registers for two steps' words of lines only.
 */
function asTheyLie({ a, b, config, sm, sn }: MatrixTile): number {
  const bytes = isInteger(config.componentType as PackedType);
  return [a, b].reduce((share, { kind }) => {
    if (kind === 'rows' && bytes) return share * 0.4;
    return kind === 'lines' && sm * sn >= MANY_CELLS ? share * 0.84 : share;
  }, 1);
}

/** How much longer operands take from memory than in kernels that do nothing but read. */
const READING = 1.3;

/** K in whose time a tile is begun and its results are stored. */
const START_AND_END = 64;

/** Cells a subgroup that a software GPU's compiler can take. */
const SOFTWARE_CELLS = 16 * 16;

/** What the units have to multiply so that nothing is lost: the operands' own type, or the wider of two. */
function inputType({ a, b, accuracy }: Problem, profile: Profile): PackedType | null {
  const offered = (type: PackedType) => profile.matrixConfigs.some(config => suits(config, type));
  if (isInteger(a.type)) return a.type === b.type && offered(a.type) ? a.type : null;
  const half = a.type === 'f16' && b.type === 'f16';
  if ((half || accuracy === 'f16') && offered('f16')) return 'f16';
  return offered('f32') ? 'f32' : null;
}

/** Results must hold sums in 32 bits. u8 gives u32, whose bits are those of i32 below 2^31. */
const suits = ({ componentType, resultComponentType }: MatrixConfig, type: PackedType): boolean =>
  componentType === type && ['f32', 'i32', 'u32'].includes(resultComponentType);

/** The matrix shapes that serve, largest first. */
function configsFor(problem: Problem, profile: Profile): MatrixConfig[] {
  const type = inputType(problem, profile);
  if (type === null) return [];
  return profile.matrixConfigs
    .filter(config => suits(config, type))
    .sort((x, y) => y.M * y.N * y.K - x.M * x.N * x.K);
}

/** The tile, and how its operands come to it. */
export function tileFor(problem: Problem, profile: Profile, params: Params): MatrixTile {
  const config = configsFor(problem, profile)[params.config];
  if (!config) throw new RangeError('subgroup-matrix: rejected problems are not built');
  const { a, b, k } = problem;
  const { bm, bn, bk, sm, sn, prefetch, slices, ways = 1 } = params;
  const lined = (!isPacked(params, 'a') && !a.trans) || (!isPacked(params, 'b') && b.trans);
  const together = stepsTogether({ stages: stagesOf(params), prefetch, sm, sn, lined });
  const steps = roundUp(ceilDiv(ceilDiv(k, bk), slices * ways), together);
  const guardK = k !== stepsOfK({ steps, ways, slices }) * bk;
  const word = wordElements({ config });
  const source = (name: 'a' | 'b', cells: number): Source => {
    const packed = isPacked(params, name) || problem[name].type !== config.componentType;
    return (!packed && asItLies(name, problem, { piece: word, word, cells, guardK })) || { kind: 'blocked' };
  };
  return makeTile(problem, profile, params, {
    config,
    parts: 1,
    apart: false,
    together,
    steps,
    flush: 0,
    a: source('a', bm),
    b: source('b', bn),
    scaled: false,
  });
}

/** Which operands are packed. */
const packedOf = (tile: MatrixTile) => (['a', 'b'] as const).filter(name => tile[name].kind === 'blocked');

function packFor({ m, n, k, batch, a, b }: Problem, tile: MatrixTile): Packed {
  const { bm, bn, bk } = tile;
  const sides = {
    a: { name: 'a', operand: a, lines: m, block: [bm, bk] },
    b: { name: 'b', operand: b, lines: n, block: [bn, bk] },
  } as const;
  return pack(
    {
      ...{ length: k, batch, order: 'lines', wordBytes: wordBytes(tile) },
      ...{ type: tile.config.componentType as PackedType, steps: stepsOfK(tile) },
    },
    packedOf(tile).map(name => sides[name]),
  );
}
