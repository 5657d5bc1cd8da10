/** What the peers need to find in Node that a page has by itself. */
import { setFlagsFromString } from 'node:v8';
import type { PeerGpu } from '../../src/bench/peer.ts';

/** Call it once, before the first peer is opened. */
export function makeRoomForPeers({ gpu, device }: PeerGpu): void {
  // With V8's optimizing compiler, ONNX Runtime's 26 MB of WebAssembly take over a minute to start.
  setFlagsFromString('--liftoff-only');
  setFlagsFromString('--wasm-lazy-compilation');
  const agent = globalThis.navigator?.userAgent ?? `Node.js/${process.versions.node}`;
  Object.defineProperty(globalThis, 'navigator', {
    value: { gpu, userAgent: agent, hardwareConcurrency: 1 },
    configurable: true,
    writable: true,
  });
  copySharedMemory(device.queue);
}

/** Node's Dawn refuses to write from shared memory, in which ONNX Runtime's WebAssembly keeps everything. */
function copySharedMemory(queue: GPUQueue): void {
  const write: GPUQueue['writeBuffer'] = queue.writeBuffer.bind(queue);
  const copying: typeof write = (buffer, offset, data, ...range) => {
    const view = ArrayBuffer.isView(data);
    const memory = view ? data.buffer : data;
    if (!(memory instanceof SharedArrayBuffer)) return write(buffer, offset, data, ...range) as undefined;
    const [from = 0, size] = range;
    const step = view && 'BYTES_PER_ELEMENT' in data ? (data.BYTES_PER_ELEMENT as number) : 1;
    const start = (view ? data.byteOffset : 0) + from * step;
    const bytes = size === undefined ? data.byteLength - from * step : size * step;
    write(buffer, offset, new Uint8Array(memory, start, bytes).slice());
  };
  queue.writeBuffer = copying;
}

/** Runs `work` with a timer ticking: what waits for Dawn alone does not keep Node from ending. */
export async function awake<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 100);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
