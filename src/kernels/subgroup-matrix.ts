/**
 * Subgroup matrix: the product on the GPU's matrix units, f16 (or f32, or 8-bit integers) in, f32 (or i32) sums.
 *
 * wgsl/matrix-tile.ts has the mapping. Operands that are not rows of whole 16-byte words of the units' type (transposed,
 * odd strides, mixed types) are packed first.
 */
import type { Arithmetic } from '../measure/tolerance.ts';
import { BYTES, isInteger, type Operand, operations, type Problem } from '../problem.ts';
import { type MatrixConfig, type Profile, subgroupSizeFor } from '../profile.ts';
import { ceilDiv, foldGrid, type Program } from '../program.ts';
import { SUBGROUP_MATRIX_FEATURE } from '../wgsl/experimental.ts';
import { frame, tileOf, vectorizes } from '../wgsl/frame.ts';
import {
  type MatrixTile,
  matrixEnable,
  matrixTile,
  threads,
  wordType,
  workgroupMemory,
} from '../wgsl/matrix-tile.ts';
import { estimateMs } from './cost.ts';
import type { Kernel, Params } from './kernel.ts';
import { needsF16 } from './needs.ts';
import { type Packed, type PackedType, pack } from './pack.ts';

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
    const type = inputType(problem, profile);
    if (type === null)
      return `no matrices for ${problem.a.type} times ${problem.b.type} with results that lose nothing`;
    return null;
  },
  candidates(problem, profile) {
    return configsFor(problem, profile).flatMap((_, config) => TILES.map(tile => ({ ...tile, config })));
  },
  arithmetic: (problem): Arithmetic => (isInteger(problem.a.type) ? 'exact' : 'matrix-f32'),
  estimate: (problem, profile, params) => {
    const tile = tileFor(problem, profile, params);
    const tiles = ceilDiv(problem.m, tile.bm) * ceilDiv(problem.n, tile.bn) * problem.batch;
    return estimateMs({
      operations: 2 * tiles * tile.bm * tile.bn * problem.k,
      unit: isInteger(problem.a.type) ? 'dot' : 'matrix',
      efficiency: 0.7,
      bytes: operations(problem) * (1 / tile.bm + 1 / tile.bn) * BYTES[problem.a.type],
      threads: tiles * threads(tile),
      dispatches: 3,
    });
  },
  build(problem, profile, params): Program {
    const tile = tileFor(problem, profile, params);
    const type = tile.config.componentType as PackedType;
    const { m, n, k, batch } = problem;
    const pieces = [
      piece('a', problem.a, k, type, { rows: m, cols: k, alignRows: 1, alignCols: tile.bk }, batch),
      piece('b', problem.b, n, type, { rows: k, cols: n, alignRows: tile.bk, alignCols: 1 }, batch),
    ];
    const [a, b] = pieces.map(({ operand }) => operand);
    const guardK = k % tile.bk !== 0 && pieces.some(({ packed }) => !packed);
    const packs = pieces.flatMap(({ packed }) => packed ?? []);
    const {
      wgsl,
      bindings,
      params: uniforms,
    } = frame(
      { ...problem, a, b },
      {
        access: wordType(tile),
        enable: matrixEnable(tile),
        buffers: { a: pieces[0].packed ? 'packedA' : 'a', b: pieces[1].packed ? 'packedB' : 'b' },
      },
    );
    return {
      passes: [
        ...packs.map(({ pass }) => pass),
        {
          label: 'subgroup-matrix',
          wgsl: wgsl + tileOf(tile.bm, tile.bn) + matrixTile({ ...tile, guardK }),
          bindings,
          workgroups: foldGrid(ceilDiv(m, tile.bm) * ceilDiv(n, tile.bn) * batch),
          threads: threads(tile),
          workgroupMemory: workgroupMemory(tile),
        },
      ],
      uniforms: Object.assign({ params: uniforms }, ...packs.map(({ uniforms }) => uniforms)),
      scratch: Object.assign({}, ...packs.map(({ scratch }) => scratch)),
    };
  },
};

/** Tiles in cells; the best guess for a large device first, then smaller ones for small memory and small problems. */
const TILES: readonly Params[] = [
  { bm: 128, bn: 128, bk: 32, sm: 64, sn: 64, prefetch: 0 },
  { bm: 64, bn: 64, bk: 32, sm: 32, sn: 32, prefetch: 0 },
  { bm: 32, bn: 32, bk: 32, sm: 16, sn: 16, prefetch: 0 },
];

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

function tileFor(problem: Problem, profile: Profile, params: Params): MatrixTile {
  const config = configsFor(problem, profile)[params.config];
  const subgroup = subgroupSizeFor(profile);
  if (!config || 'missing' in subgroup)
    throw new RangeError('subgroup-matrix: rejected problems are not built');
  const { bm, bn, bk, sm, sn, prefetch } = params;
  return {
    ...{ config, lanes: subgroup.size, pinned: subgroup.pinned },
    ...{ bm, bn, bk, sm, sn, prefetch },
    ...{ parts: 1, flush: 0, guardK: false, partial: false },
  };
}

/** An operand as it lies, where the kernel can read it so, or packed. */
function piece(
  name: 'a' | 'b',
  operand: Operand,
  rowLength: number,
  type: PackedType,
  shape: { rows: number; cols: number; alignRows: number; alignCols: number },
  batch: number,
): { operand: Operand; packed: Packed | null } {
  const word = 16 / BYTES[operand.type];
  if (operand.type === type && !operand.trans && vectorizes(operand, rowLength, word))
    return { operand, packed: null };
  const packed = pack({ name, operand, batch, type, ...shape });
  return { operand: packed.operand, packed };
}
