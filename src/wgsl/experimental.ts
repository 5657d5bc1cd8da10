/**
 * The names of what is not in the WebGPU standard yet, in one place. When the standard's `subgroup-matrix` arrives,
 * this is the file that changes.
 *
 * Source: Dawn's docs/tint/extensions/chromium_experimental_subgroup_matrix.md and the gpuweb draft.
 */
export const SUBGROUP_MATRIX_FEATURE = 'chromium-experimental-subgroup-matrix';
export const SUBGROUP_MATRIX_ENABLE = 'enable chromium_experimental_subgroup_matrix;';

/** Fixes the subgroup size of a kernel where a device offers a range of them. */
export const SUBGROUP_SIZE_FEATURE = 'subgroup-size-control';
export const SUBGROUP_SIZE_ENABLE = 'enable subgroup_size_control;';
