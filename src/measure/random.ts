/**
 * Reproducible random numbers (xoshiro128**, Blackman and Vigna 2018, seeded with splitmix32). Matrices are always
 * random: zeros and ones hide wrong indexing, and a GPU multiplies zeros faster.
 */
export function random(seed: number): () => number {
  let s = seed >>> 0;
  const splitmix = () => {
    s = (s + 0x9e3779b9) >>> 0;
    let z = s;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let [a, b, c, d] = [splitmix(), splitmix(), splitmix(), splitmix()];
  const rotate = (x: number, k: number) => (x << k) | (x >>> (32 - k));
  return () => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = rotate(d, 11);
    return result / 2 ** 32;
  };
}

/** `length` numbers spread evenly over [-1, 1). */
export function randomMatrix(length: number, seed: number): Float32Array<ArrayBuffer> {
  const next = random(seed);
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) values[i] = next() * 2 - 1;
  return values;
}
