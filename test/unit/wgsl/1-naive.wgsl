
// The end of the loop is a constant, so that the compiler knows that it ends, and may unroll it.
const K = 128u;

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  let col = id.y;
  var sum = 0.0;
  for (var k = 0u; k < K; k++) {
    sum += a[row * K + k] * b[k * shape.n + col];
  }
  c[row * shape.n + col] = sum;
}
