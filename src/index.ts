/**
 * Matrix multiplication on WebGPU: `matmul` for typed arrays, `createGemm` for a device and buffers of your own.
 *
 * @module webgemm
 */
export type { Candidate, PassedOver, Suggestion } from './choose.ts';
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
export type { Shader } from './parts.ts';
export type { Plan, PlanOptions, RunOptions } from './plan.ts';
export type {
  Accuracy,
  Activation,
  InputType,
  Operand,
  Output,
  OutputType,
  Problem,
  ProblemOptions,
} from './problem.ts';
export { type MatrixConfig, type Profile, type ProfileLimits, profileOf, type Scalar } from './profile.ts';
export type { Binding, Pass, Program } from './program.ts';
export type { TuningSource } from './tuning/knowledge.ts';
export {
  readTuningRecord,
  type TunedProblem,
  type TuningAdapter,
  type TuningEntry,
  type TuningRecord,
} from './tuning/record.ts';
export type { Measured, SearchProgress, SearchResult, Tried } from './tuning/search.ts';
export { memoryStore, type TuningStore } from './tuning/store.ts';
export { indexedDBStore } from './tuning/store-indexeddb.ts';
export type { TuneOptions, TuneProgress, TuneResult } from './tuning/tune.ts';
