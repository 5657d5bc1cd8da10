/**
 * jax-js: NumPy and JAX for the browser, on a device of its own that it opens through `navigator.gpu`. It gives every
 * product a C of its own, which lives until the wait is over.
 */
import type * as Jax from '@jax-js/jax';
import type { Peer, PeerProblem, PeerProduct } from '../../src/bench/peer.ts';
import type { HostArray } from '../../src/device/buffers.ts';
import { fromHalves } from '../../src/float16.ts';
import { installed, versionOf } from './load.ts';
import { shapesOf } from './onnx-model.ts';

const TITLE = 'jax-js';

export function jax(): Peer {
  let library: typeof Jax;
  return {
    name: 'jax',
    title: TITLE,
    version: versionOf('@jax-js/jax'),
    robustness: true,
    rejects: ({ type }) =>
      type === 'f16' && !library.getWebGPUDevice().features.has('shader-f16')
        ? 'the device has no f16'
        : null,

    async open() {
      library = await installed(TITLE, ['@jax-js/jax'], import('@jax-js/jax'));
      const devices = await library.init('webgpu');
      if (!devices.includes('webgpu')) throw new Error(`${TITLE} finds no WebGPU here`);
      library.defaultDevice('webgpu');
    },

    async prepare(problem: PeerProblem, aData: HostArray, bData: HostArray): Promise<PeerProduct> {
      const { type } = problem;
      const { numpy } = library;
      const upload = async (data: HostArray, shape: number[], trans: boolean) => {
        const values = data instanceof Uint16Array ? fromHalves(data) : (data as Float32Array);
        const stored = numpy.array(values, { shape });
        const typed = type === 'f16' ? stored.astype('float16') : stored;
        await typed.blockUntilReady();
        return trans ? numpy.matrixTranspose(typed) : typed;
      };
      const shapes = shapesOf(problem);
      const a = await upload(aData, shapes.a, problem.transA);
      const b = await upload(bData, shapes.b, problem.transB);
      const product = () => numpy.matmul(a.ref, b.ref);
      let pending: Promise<void>[] = [];
      return {
        run(times) {
          for (let i = 0; i < times; i++) {
            const c = product();
            pending.push(c.blockUntilReady().then(() => c.dispose()));
          }
        },
        async wait() {
          const all = pending;
          pending = [];
          await Promise.all(all);
        },
        read: () => (type === 'f16' ? product().astype('float32') : product()).data(),
        destroy() {
          a.dispose();
          b.dispose();
        },
      };
    },

    close: () => library?.getWebGPUDevice().destroy(),
  };
}
