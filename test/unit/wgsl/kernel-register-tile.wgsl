alias Sum = f32;

struct Params {
  m: u32, n: u32, k: u32, batch: u32,
  lda: u32, ldb: u32, ldc: u32, slices: u32,
  offsetA: u32, offsetB: u32, offsetC: u32, depth: u32,
  strideA: u32, strideB: u32, strideC: u32, partA: u32,
  partB: u32, alpha: Sum, beta: Sum, clipMin: f32, clipMax: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f32>>;

fn indexA(batch: u32, row: u32, k: u32) -> u32 {
  return params.offsetA + batch * params.strideA + row * params.lda + k;
}

fn indexB(batch: u32, k: u32, col: u32) -> u32 {
  return params.offsetB + batch * params.strideB + k * params.ldb + col;
}

fn elementA(index: u32) -> Sum { return Sum(a[index / 4][index % 4]); }
fn elementB(index: u32) -> Sum { return Sum(b[index / 4][index % 4]); }

// An element of A or B, or 0 outside of it.
fn loadA(batch: u32, row: u32, k: u32) -> Sum {
  return select(Sum(), elementA(indexA(batch, row, k)), (row < params.m) & (k < params.k));
}

fn loadB(batch: u32, k: u32, col: u32) -> Sum {
  return select(Sum(), elementB(indexB(batch, k, col)), (k < params.k) & (col < params.n));
}

fn storeC(batch: u32, row: u32, col: u32, sum: vec4<Sum>) {
  if (row < params.m && col < params.n) {
    let index = params.offsetC + batch * params.strideC + row * params.ldc + col;
    var value = sum;
    c[index / 4] = vec4<f32>(value);
  }
}

alias WordA = vec4<f32>;

// 4 elements of A that lie side by side, 0 outside of it.
fn wordA(batch: u32, row: u32, k: u32) -> WordA {
  return select(WordA(), a[indexA(batch, row, k) / 4], (row < params.m) & (k < params.k));
}

fn partA0(word: WordA) -> vec4<Sum> { return vec4<Sum>(word); }

alias WordB = vec4<f32>;

// 4 elements of B that lie side by side, 0 outside of it.
fn wordB(batch: u32, k: u32, col: u32) -> WordB {
  return select(WordB(), b[indexB(batch, k, col) / 4], (k < params.k) & (col < params.n));
}

fn partB0(word: WordB) -> vec4<Sum> { return vec4<Sum>(word); }

struct Tile { valid: bool, batch: u32, slice: u32, row: u32, col: u32 }

fn tileOf(group: vec3u, groups: vec3u) -> Tile {
  let tilesM = (params.m + 63) / 64;
  let tilesN = (params.n + 63) / 64;
  let tiles = tilesM * tilesN;
  var index = group.y * groups.x + group.x;
  let valid = index < tiles * params.batch * params.slices;
  let product = index / tiles;
  index %= tiles;
  let band = index / (8 * tilesN);
  let bandRows = min(8, tilesM - band * 8);
  index -= band * 8 * tilesN;
  return Tile(
    valid, product % params.batch, product / params.batch,
    (band * 8 + index % bandRows) * 64, index / bandRows * 64,
  );
}

var<workgroup> panelA: array<array<vec4<Sum>, 17>, 16>;
var<workgroup> panelB: array<array<vec4<Sum>, 16>, 16>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = tileOf(group, groups);
  if (!tile.valid) { return; }
  // Blocks of 4×8 threads, side by side.
  let block = thread / 32;
  let y = block / 2 * 4 + thread % 32 / 8;
  let x = block % 2 * 8 + thread % 8;
  var sum0_0 = vec4<Sum>();
  var sum1_0 = vec4<Sum>();
  var sum2_0 = vec4<Sum>();
  var sum3_0 = vec4<Sum>();

  let start = tile.slice * params.depth;
  let end = min(start + params.depth, params.k);
  var base = start;
  var wordA0_0 = wordA(tile.batch, tile.row + (thread + 0) / 4 * 4 + 0, base + (thread + 0) % 4 * 4);
  var wordA0_1 = wordA(tile.batch, tile.row + (thread + 0) / 4 * 4 + 1, base + (thread + 0) % 4 * 4);
  var wordA0_2 = wordA(tile.batch, tile.row + (thread + 0) / 4 * 4 + 2, base + (thread + 0) % 4 * 4);
  var wordA0_3 = wordA(tile.batch, tile.row + (thread + 0) / 4 * 4 + 3, base + (thread + 0) % 4 * 4);
  var wordB0 = wordB(tile.batch, base + (thread + 0) / 16, tile.col + (thread + 0) % 16 * 4);
  while (base < end) {
    workgroupBarrier();
    if (thread + 0 < 64) {
      panelA[(thread + 0) % 4 * 4 + 0][(thread + 0) / 4] = vec4(partA0(wordA0_0).x, partA0(wordA0_1).x, partA0(wordA0_2).x, partA0(wordA0_3).x);
      panelA[(thread + 0) % 4 * 4 + 1][(thread + 0) / 4] = vec4(partA0(wordA0_0).y, partA0(wordA0_1).y, partA0(wordA0_2).y, partA0(wordA0_3).y);
      panelA[(thread + 0) % 4 * 4 + 2][(thread + 0) / 4] = vec4(partA0(wordA0_0).z, partA0(wordA0_1).z, partA0(wordA0_2).z, partA0(wordA0_3).z);
      panelA[(thread + 0) % 4 * 4 + 3][(thread + 0) / 4] = vec4(partA0(wordA0_0).w, partA0(wordA0_1).w, partA0(wordA0_2).w, partA0(wordA0_3).w);
    }
    panelB[(thread + 0) / 16][(thread + 0) % 16] = partB0(wordB0);
    workgroupBarrier();
    base += 16;
    wordA0_0 = wordA(tile.batch, tile.row + (thread + 0) / 4 * 4 + 0, base + (thread + 0) % 4 * 4);
    wordA0_1 = wordA(tile.batch, tile.row + (thread + 0) / 4 * 4 + 1, base + (thread + 0) % 4 * 4);
    wordA0_2 = wordA(tile.batch, tile.row + (thread + 0) / 4 * 4 + 2, base + (thread + 0) % 4 * 4);
    wordA0_3 = wordA(tile.batch, tile.row + (thread + 0) / 4 * 4 + 3, base + (thread + 0) % 4 * 4);
    wordB0 = wordB(tile.batch, base + (thread + 0) / 16, tile.col + (thread + 0) % 16 * 4);
    for (var k = 0u; k < 16; k++) {
      let a0 = panelA[k][0 + y];
      let b0 = panelB[k][0 + x];
      sum0_0 += a0.x * b0;
      sum1_0 += a0.y * b0;
      sum2_0 += a0.z * b0;
      sum3_0 += a0.w * b0;
    }
  }

  storeC(tile.batch, tile.row + 0 + 4 * y, tile.col + 0 + 4 * x, sum0_0);
  storeC(tile.batch, tile.row + 1 + 4 * y, tile.col + 0 + 4 * x, sum1_0);
  storeC(tile.batch, tile.row + 2 + 4 * y, tile.col + 0 + 4 * x, sum2_0);
  storeC(tile.batch, tile.row + 3 + 4 * y, tile.col + 0 + 4 * x, sum3_0);
}
