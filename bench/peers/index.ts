/** The peers by name, each loaded when it is asked for. */
import type { Peer } from '../../src/bench/peer.ts';

export const PEERS: Readonly<Record<string, () => Promise<Peer>>> = {
  tensorflow: async () => (await import('./tensorflow.ts')).tensorflow(),
  'onnx-web': async () => (await import('./onnx-web.ts')).onnxWeb(),
  'onnx-node': async () => (await import('./onnx-node.ts')).onnxNode(),
  jax: async () => (await import('./jax.ts')).jax(),
};
