/** IEEE half floats on the host, as bits in a Uint16Array: Node 20 and older browsers have no Float16Array. */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The half float nearest to `value` (ties to even), as bits. */
export function toHalf(value: number): number {
  float[0] = value;
  const f = bits[0];
  const sign = (f >>> 16) & 0x8000;
  const magnitude = f & 0x7fffffff;
  if (magnitude >= 0x7f800000) return sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // 65520 and more round to infinity
  if (magnitude < 0x33000001) return sign; // half of the smallest subnormal and less round to zero
  const exponent = magnitude >>> 23;
  // How many of the float's mantissa bits the half has no place for; subnormal halves lose one more each step down.
  const dropped = exponent < 113 ? 126 - exponent : 13;
  const mantissa = exponent < 113 ? (magnitude & 0x7fffff) | 0x800000 : magnitude - (112 << 23);
  const kept = mantissa >>> dropped;
  const rest = mantissa & ((1 << dropped) - 1);
  const half = 1 << (dropped - 1);
  return sign | (kept + (rest > half || (rest === half && kept & 1) ? 1 : 0));
}

/** The value of a half float given as bits; exact. */
export function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const mantissa = half & 0x3ff;
  if (exponent === 31) return mantissa ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent ? (1024 + mantissa) * 2 ** (exponent - 25) : mantissa * 2 ** -24);
}

/** Rounds every number to the nearest half float. */
export function toHalves(values: ArrayLike<number>): Uint16Array<ArrayBuffer> {
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) halves[i] = toHalf(values[i]);
  return halves;
}

let table: Float32Array | undefined;

/** The values of half floats given as bits; exact. */
export function fromHalves(halves: Uint16Array): Float32Array<ArrayBuffer> {
  table ??= Float32Array.from({ length: 65536 }, (_, half) => fromHalf(half));
  const values = new Float32Array(halves.length);
  for (let i = 0; i < values.length; i++) values[i] = table[halves[i]];
  return values;
}
