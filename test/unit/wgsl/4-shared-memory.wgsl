
const TILE = 16u;
// True where the shape is not a multiple of the tile: then loads and the store are guarded.
const EDGES = true;

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

var<workgroup> tileA: array<array<f32, TILE>, TILE>;
var<workgroup> tileB: array<array<f32, TILE>, TILE>;

fn loadA(row: u32, k: u32) -> f32 {
  let inside = !EDGES | ((row < shape.m) & (k < shape.k));
  return select(0.0, a[row * shape.k + k], inside);
}

fn loadB(k: u32, col: u32) -> f32 {
  let inside = !EDGES | ((k < shape.k) & (col < shape.n));
  return select(0.0, b[k * shape.n + col], inside);
}

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.y * TILE + local.y;
  let col = group.x * TILE + local.x;
  var sum = 0.0;
  for (var start = 0u; start < shape.k; start += TILE) {
    tileA[local.y][local.x] = loadA(row, start + local.x);
    tileB[local.y][local.x] = loadB(start + local.y, col);
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      sum += tileA[local.y][k] * tileB[k][local.x];
    }
    workgroupBarrier();
  }
  if (EDGES && (row >= shape.m || col >= shape.n)) { return; }
  c[row * shape.n + col] = sum;
}
