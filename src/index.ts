/** webgemm: matrix multiplication on WebGPU. */
export type { Candidate, PassedOver } from './choose.ts';
export { requestDevice } from './device/request.ts';
export { GEMM_ERROR_CODES, GemmError, type GemmErrorCode } from './errors.ts';
export type { Explanation } from './explain.ts';
export { fromHalves, toHalves } from './float16.ts';
export { createGemm, type Gemm, type GemmOptions } from './gemm.ts';
export type { HostInput, HostOptions, Matrix, OptionsFor, Product, Shaped } from './host.ts';
export { KERNELS } from './kernels/index.ts';
export type { Kernel, Params } from './kernels/kernel.ts';
export { closeDefault, matmul } from './matmul.ts';
export type { BufferView, PlanBuffers } from './operands.ts';
export type { Plan, PlanOptions, RunOptions } from './plan.ts';
export type { Accuracy, Activation, InputType, OutputType, Problem, ProblemOptions } from './problem.ts';
export { type Profile, type ProfileLimits, profileOf } from './profile.ts';
export type { Pass, Program } from './program.ts';
