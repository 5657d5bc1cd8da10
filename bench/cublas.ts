/** The vendor's library, timed elsewhere on the same machine: a line of JSON for each measurement. */
import { type BenchResult, blankResult } from '../src/bench/record.ts';

interface Line {
  /** `MxNxK`, with `xBATCH` and `:TN` and the like behind it where there is a batch or a transpose. */
  readonly shape: string;
  readonly dtype: 'f32' | 'tf32' | 'f16' | 'bf16';
  readonly ms: number;
  readonly tflops: number;
  readonly rel_err: number;
}

const BYTES = { f32: 4, tf32: 4, f16: 2, bf16: 2 } as const;

/** Lines that are no JSON are passed over. */
export function readCublas(text: string): readonly BenchResult[] {
  const lines = text.split('\n').filter(line => line.startsWith('{'));
  return lines.map(line => {
    const { shape, dtype, ms, rel_err } = JSON.parse(line) as Line;
    const [sizes, layout = 'NN'] = shape.split(':');
    const [m, n, k, batch = 1] = sizes.split('x').map(Number);
    const bytes = (m * k + k * n + m * n) * batch * BYTES[dtype];
    return {
      ...blankResult('cublas', `cublas-${dtype}`),
      ...{ dtype, shape: [m, n, k] as const, batch, ms, relErr: rel_err },
      ...{ transA: layout[0] === 'T', transB: layout[1] === 'T' },
      ...{ tflops: (2 * m * n * k * batch) / ms / 1e9, gbps: bytes / ms / 1e6 },
    };
  });
}
