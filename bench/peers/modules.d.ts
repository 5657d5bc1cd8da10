/**
 * The parts of the peers' interfaces that the bench uses. Their packages are installed in bench/ alone: with these, the
 * types are checked also where they are not there.
 */
declare module '@tensorflow/tfjs-core' {
  export interface Tensor {
    data(): Promise<Float32Array>;
    dispose(): void;
  }
  export interface TensorFlow {
    registerBackend(name: string, factory: () => object): boolean;
    removeBackend(name: string): void;
    findBackendFactory(name: string): (() => object) | null;
    setBackend(name: string): Promise<boolean>;
    tensor(values: Float32Array, shape: number[]): Tensor;
    matMul(a: Tensor, b: Tensor, transA: boolean, transB: boolean): Tensor;
  }
  const tf: TensorFlow;
  export = tf;
}

declare module '@tensorflow/tfjs-backend-webgpu' {
  export interface Backend {
    ensureCommandEncoderReady(): void;
    endComputePassEncoder(): void;
    submitQueue(): void;
  }
  const webgpu: { WebGPUBackend: new (device: GPUDevice, info?: GPUAdapterInfo) => Backend };
  export = webgpu;
}

declare module 'onnxruntime-web/webgpu' {
  export interface Tensor {
    dispose(): void;
  }
  export interface Session {
    run(feeds: Record<string, Tensor>, fetches?: Record<string, Tensor>): Promise<Record<string, Tensor>>;
    release(): Promise<void>;
  }
  export const env: {
    wasm: { numThreads: number; wasmPaths?: string | { mjs?: string; wasm?: string } };
  };
  export const InferenceSession: {
    create(model: Uint8Array, options: object): Promise<Session>;
  };
  export const Tensor: {
    fromGpuBuffer(buffer: GPUBuffer, options: { dataType: string; dims: readonly number[] }): Tensor;
  };
}

declare module 'onnxruntime-node' {
  export interface OrtTensor {
    readonly data: Float32Array | Uint16Array;
    dispose(): void;
  }
  export interface OrtSession {
    run(feeds: Record<string, OrtTensor>): Promise<Record<string, OrtTensor>>;
    release(): Promise<void>;
  }
  const ort: {
    InferenceSession: { create(model: Uint8Array, options: object): Promise<OrtSession> };
    Tensor: new (type: string, data: Float32Array | Uint16Array, shape: readonly number[]) => OrtTensor;
  };
  export = ort;
}

declare module '@jax-js/jax' {
  export interface Array {
    /** The array itself, with one more owner: every operation takes one. */
    readonly ref: Array;
    astype(type: string): Array;
    data(): Promise<Float32Array>;
    blockUntilReady(): Promise<Array>;
    dispose(): void;
  }
  export function init(device: 'webgpu'): Promise<string[]>;
  export function defaultDevice(device: 'webgpu'): string;
  export function getWebGPUDevice(): GPUDevice;
  export const numpy: {
    array(values: Float32Array, options: { shape: number[] }): Array;
    matmul(a: Array, b: Array): Array;
    matrixTranspose(a: Array): Array;
  };
}
