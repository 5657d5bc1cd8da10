/**
 * A GPU in Node.
 *
 * @module webgemm/node
 */
export { type OpenGpu, type OpenOptions, openGpu, type Runtime } from './gpu.ts';
export { SOFTWARE_GPUS, type SoftwareGpu } from './software.ts';
export { fileStore } from './store-file.ts';
