/** ONNX Runtime for the web with its WebGPU provider, on our device: A, B and C are buffers that we hand in. */
import type * as OnnxRuntime from 'onnxruntime-web/webgpu';
import type { Peer, PeerGpu, PeerProblem, PeerProduct } from '../../src/bench/peer.ts';
import { createBuffer, type HostArray, readBuffer, uploadBuffer } from '../../src/device/buffers.ts';
import { fromHalves } from '../../src/float16.ts';
import { installed, versionOf } from './load.ts';
import { productModel, shapesOf } from './onnx-model.ts';

const TITLE = 'ONNX Runtime web';
const TYPES = { f32: 'float32', f16: 'float16' } as const;

export interface OnnxWebOptions {
  /** Where its WebAssembly lies: a folder's address, or an address for each file. Beside its script, if left out. */
  readonly wasmPaths?: string | { readonly mjs?: string; readonly wasm?: string };
}

export function onnxWeb({ wasmPaths }: OnnxWebOptions = {}): Peer {
  let ort: typeof OnnxRuntime;
  let device: GPUDevice;
  return {
    name: 'onnx-web',
    title: TITLE,
    version: versionOf('onnxruntime-web'),
    robustness: true,
    rejects({ type, batch, transA, transB }) {
      if (type === 'f16' && !device.features.has('shader-f16')) return 'the device has no f16';
      return batch > 1 && (transA || transB) ? 'its Gemm takes no batches' : null;
    },

    async open(gpu: PeerGpu) {
      device = gpu.device;
      ort = await installed(TITLE, ['onnxruntime-web'], import('onnxruntime-web/webgpu'));
      ort.env.wasm.numThreads = 1;
      if (wasmPaths !== undefined) ort.env.wasm.wasmPaths = wasmPaths;
    },

    async prepare(problem: PeerProblem, aData: HostArray, bData: HostArray): Promise<PeerProduct> {
      const { m, n, batch, type } = problem;
      const shapes = shapesOf(problem);
      const session = await ort.InferenceSession.create(productModel(problem), {
        executionProviders: [{ name: 'webgpu', device }],
        preferredOutputLocation: 'gpu-buffer',
      });
      const bytes = Math.ceil((m * n * batch * (type === 'f16' ? 2 : 4)) / 16) * 16;
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
      const buffers = [
        await uploadBuffer(device, 'A', aData),
        await uploadBuffer(device, 'B', bData),
        await createBuffer(device, 'C', bytes, usage),
      ];
      const [a, b, c] = buffers.map((buffer, i) =>
        ort.Tensor.fromGpuBuffer(buffer, {
          dataType: TYPES[type],
          dims: [shapes.a, shapes.b, shapes.c][i],
        }),
      );
      const run = async (times: number) => {
        for (let i = 0; i < times; i++) await session.run({ a, b }, { c });
      };
      await run(1);
      return {
        run,
        wait: () => device.queue.onSubmittedWorkDone(),
        async read() {
          await run(1);
          const found = await readBuffer(device, buffers[2]);
          const cells = m * n * batch;
          return type === 'f16'
            ? fromHalves(new Uint16Array(found, 0, cells))
            : new Float32Array(found, 0, cells);
        },
        async destroy() {
          await session.release();
          for (const buffer of buffers) buffer.destroy();
        },
      };
    },

    close() {},
  };
}
