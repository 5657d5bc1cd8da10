/**
 * ONNX Runtime for Node with its WebGPU provider: a Dawn and a device of its own. It is told to access buffers
 * robustly, as a browser would; by itself it does not. Its tensors on the GPU can't be read or made by Node, so small
 * models bring A and B there, C back, and a corner of C, which is how one can wait for it.
 */
import type { OrtSession, OrtTensor } from 'onnxruntime-node';
import type { Peer, PeerGpu, PeerProblem, PeerProduct } from '../../src/bench/peer.ts';
import type { HostArray } from '../../src/device/buffers.ts';
import { fromHalves } from '../../src/float16.ts';
import { exported, installed, versionOf } from './load.ts';
import { cornerModel, identityModel, productModel, shapesOf } from './onnx-model.ts';

const TITLE = 'ONNX Runtime node';
const TYPES = { f32: 'float32', f16: 'float16' } as const;
const executionProviders = [{ name: 'webgpu', enableRobustness: true }];

export function onnxNode(): Peer {
  let ort: typeof import('onnxruntime-node');

  const open = (model: Uint8Array, output: 'gpu-buffer' | 'cpu') =>
    ort.InferenceSession.create(model, { executionProviders, preferredOutputLocation: output });

  return {
    name: 'onnx-node',
    title: TITLE,
    version: versionOf('onnxruntime-node'),
    robustness: true,
    rejects: ({ batch, transA, transB }) =>
      batch > 1 && (transA || transB) ? 'its Gemm takes no batches' : null,

    async open({ software }: PeerGpu) {
      if (software && !process.env.VK_DRIVER_FILES) {
        throw new Error(`${TITLE} can't be told to take this software GPU`);
      }
      ort = exported(await installed(TITLE, ['onnxruntime-node'], import('onnxruntime-node')));
      // So that it shows here, and not in the middle of the bench, whether there is a GPU for it.
      try {
        await (await open(identityModel('f32', [4]), 'cpu')).release();
      } catch (cause) {
        const { message } = cause as Error;
        const reason = /Failed to get a WebGPU adapter: [^\n]+/.exec(message)?.[0] ?? message.split('\n')[0];
        throw new Error(`${TITLE} can't use the GPU here: ${reason}`, { cause });
      }
    },

    async prepare(problem: PeerProblem, aData: HostArray, bData: HostArray): Promise<PeerProduct> {
      const { type } = problem;
      const shapes = shapesOf(problem);
      const sessions: OrtSession[] = [];
      const session = async (model: Uint8Array, output: 'gpu-buffer' | 'cpu') => {
        sessions.push(await open(model, output));
        return sessions.at(-1)!;
      };
      const product = await session(productModel(problem), 'gpu-buffer');
      const corner = await session(cornerModel(type, shapes.c), 'cpu');
      const whole = await session(identityModel(type, shapes.c), 'cpu');
      // A tensor on the GPU must not outlive the session that made it.
      const upload = async (shape: readonly number[], data: HostArray) => {
        const copy = await session(identityModel(type, shape), 'gpu-buffer');
        const x = new ort.Tensor(TYPES[type], data as Float32Array | Uint16Array, shape);
        return (await copy.run({ x })).y;
      };
      const a = await upload(shapes.a, aData);
      const b = await upload(shapes.b, bData);
      let c: OrtTensor | null = null;
      const run = async (times: number) => {
        for (let i = 0; i < times; i++) {
          c?.dispose();
          ({ c } = await product.run({ a, b }));
        }
      };
      return {
        run,
        wait: async () => (c ? await corner.run({ x: c }) : null),
        async read() {
          await run(1);
          const { data } = (await whole.run({ x: c! })).y;
          return type === 'f16'
            ? fromHalves(new Uint16Array(data.buffer, data.byteOffset, data.length))
            : (data as Float32Array);
        },
        async destroy() {
          for (const tensor of [a, b, c]) tensor?.dispose();
          for (const it of sessions) await it.release();
        },
      };
    },

    close() {},
  };
}
