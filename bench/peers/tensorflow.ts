/**
 * TensorFlow.js with its WebGPU backend, on our device. It has no f16. As it does for everybody, it puts up to 15
 * products into a pass, each with a C of its own.
 */
import type { Backend } from '@tensorflow/tfjs-backend-webgpu';
import type { TensorFlow } from '@tensorflow/tfjs-core';
import type { Peer, PeerGpu, PeerProblem, PeerProduct } from '../../src/bench/peer.ts';
import type { HostArray } from '../../src/device/buffers.ts';
import { exported, installed, versionOf } from './load.ts';
import { shapesOf } from './onnx-model.ts';

const TITLE = 'TensorFlow.js';

export function tensorflow(): Peer {
  let tf: TensorFlow;
  let backend: Backend;
  let device: GPUDevice;
  return {
    name: 'tensorflow',
    title: TITLE,
    version: versionOf('@tensorflow/tfjs-backend-webgpu'),
    robustness: true,
    rejects: ({ type }) => (type === 'f16' ? 'it has no f16' : null),

    async open(gpu: PeerGpu) {
      device = gpu.device;
      const [core, webgpu] = await installed(
        TITLE,
        ['@tensorflow/tfjs-core', '@tensorflow/tfjs-backend-webgpu'],
        Promise.all([import('@tensorflow/tfjs-core'), import('@tensorflow/tfjs-backend-webgpu')]),
      );
      tf = exported(core);
      backend = new (exported(webgpu).WebGPUBackend)(device, device.adapterInfo);
      // Its kernels are registered for this name; in a page it may have registered a backend of its own under it.
      if (tf.findBackendFactory('webgpu')) tf.removeBackend('webgpu');
      tf.registerBackend('webgpu', () => backend);
      await tf.setBackend('webgpu');
    },

    async prepare(problem: PeerProblem, aData: HostArray, bData: HostArray): Promise<PeerProduct> {
      const shapes = shapesOf(problem);
      const a = tf.tensor(aData as Float32Array, shapes.a);
      const b = tf.tensor(bData as Float32Array, shapes.b);
      const product = () => tf.matMul(a, b, problem.transA, problem.transB);
      return {
        run(times) {
          for (let i = 0; i < times; i++) product().dispose();
        },
        wait() {
          backend.ensureCommandEncoderReady();
          backend.endComputePassEncoder();
          backend.submitQueue();
          return device.queue.onSubmittedWorkDone();
        },
        async read() {
          const c = product();
          const values = await c.data();
          c.dispose();
          return values;
        },
        destroy() {
          a.dispose();
          b.dispose();
        },
      };
    },

    close() {},
  };
}
