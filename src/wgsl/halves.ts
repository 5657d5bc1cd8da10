/** WGSL: four f32 as two f16 parts each, a high one of 11 bits and what is left of them. */

/**
 * The high part is the f32 rounded to the 11 bits of an f16, with integers: through f32(f16(x)) drivers' compilers fold the rounding
 * away, and the low part with it (docs/performance.md, log entry 40).
 */
export const HALVES = /* wgsl */ `struct Halves { high: vec2<u32>, low: vec2<u32> }

fn halves(x: vec4f) -> Halves {
  let high = bitcast<vec4f>((bitcast<vec4<u32>>(x) + vec4(0x1000u)) & vec4(0xffffe000u));
  let low = x - high;
  return Halves(
    vec2(pack2x16float(high.xy), pack2x16float(high.zw)),
    vec2(pack2x16float(low.xy), pack2x16float(low.zw)),
  );
}
`;
