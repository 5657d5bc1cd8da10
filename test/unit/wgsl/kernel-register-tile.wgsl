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

struct LinesA { at: array<array<array<vec4<Sum>, 16>, 1>, 4>, padding: array<vec4<Sum>, 2> }
var<workgroup> panelA: array<LinesA, 4>;
var<workgroup> panelB: array<array<array<vec4<Sum>, 16>, 1>, 16>;

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
  let pitchA = params.lda / 4;
  var nextA = (params.offsetA + tile.batch * params.strideA) / 4 + (tile.row + thread % 64 / 4 * 4) * pitchA + thread % 4 + start / 4;
  let pitchB = params.ldb / 4;
  var nextB = (params.offsetB + tile.batch * params.strideB + tile.col) / 4 + (start + thread / 16) * pitchB + thread % 16;
  var wordA0 = a[nextA];
  var wordA1 = a[nextA + pitchA];
  var wordA2 = a[nextA + pitchA * 2];
  var wordA3 = a[nextA + pitchA * 3];
  var wordB0 = b[nextB];
  nextA += 4;
  nextB += 16 * pitchB;
  if (thread < 64) {
    panelA[thread % 4].at[0][0][thread / 4 % 16] = vec4(wordA0.x, wordA1.x, wordA2.x, wordA3.x);
    panelA[thread % 4].at[1][0][thread / 4 % 16] = vec4(wordA0.y, wordA1.y, wordA2.y, wordA3.y);
    panelA[thread % 4].at[2][0][thread / 4 % 16] = vec4(wordA0.z, wordA1.z, wordA2.z, wordA3.z);
    panelA[thread % 4].at[3][0][thread / 4 % 16] = vec4(wordA0.w, wordA1.w, wordA2.w, wordA3.w);
  }
  panelB[thread / 16][0][thread % 16] = wordB0;
  workgroupBarrier();
  wordA0 = a[nextA];
  wordA1 = a[nextA + pitchA];
  wordA2 = a[nextA + pitchA * 2];
  wordA3 = a[nextA + pitchA * 3];
  wordB0 = b[nextB];
  nextA += 4;
  nextB += 16 * pitchB;
  var evenA0 = panelA[0].at[0][0][y];
  var evenB0 = panelB[0][0][x];
  var oddA0: vec4<Sum>;
  var oddB0: vec4<Sum>;
  for (var base = start; base < end; base += 16) {
    // k = base
    oddA0 = panelA[0].at[1][0][y];
    oddB0 = panelB[1][0][x];
    sum0_0 += evenA0.x * evenB0;
    sum1_0 += evenA0.y * evenB0;
    sum2_0 += evenA0.z * evenB0;
    sum3_0 += evenA0.w * evenB0;
    // k = base + 1
    evenA0 = panelA[0].at[2][0][y];
    evenB0 = panelB[2][0][x];
    sum0_0 += oddA0.x * oddB0;
    sum1_0 += oddA0.y * oddB0;
    sum2_0 += oddA0.z * oddB0;
    sum3_0 += oddA0.w * oddB0;
    // k = base + 2
    oddA0 = panelA[0].at[3][0][y];
    oddB0 = panelB[3][0][x];
    sum0_0 += evenA0.x * evenB0;
    sum1_0 += evenA0.y * evenB0;
    sum2_0 += evenA0.z * evenB0;
    sum3_0 += evenA0.w * evenB0;
    // k = base + 3
    evenA0 = panelA[1].at[0][0][y];
    evenB0 = panelB[4][0][x];
    sum0_0 += oddA0.x * oddB0;
    sum1_0 += oddA0.y * oddB0;
    sum2_0 += oddA0.z * oddB0;
    sum3_0 += oddA0.w * oddB0;
    // k = base + 4
    oddA0 = panelA[1].at[1][0][y];
    oddB0 = panelB[5][0][x];
    sum0_0 += evenA0.x * evenB0;
    sum1_0 += evenA0.y * evenB0;
    sum2_0 += evenA0.z * evenB0;
    sum3_0 += evenA0.w * evenB0;
    // k = base + 5
    evenA0 = panelA[1].at[2][0][y];
    evenB0 = panelB[6][0][x];
    sum0_0 += oddA0.x * oddB0;
    sum1_0 += oddA0.y * oddB0;
    sum2_0 += oddA0.z * oddB0;
    sum3_0 += oddA0.w * oddB0;
    // k = base + 6
    oddA0 = panelA[1].at[3][0][y];
    oddB0 = panelB[7][0][x];
    sum0_0 += evenA0.x * evenB0;
    sum1_0 += evenA0.y * evenB0;
    sum2_0 += evenA0.z * evenB0;
    sum3_0 += evenA0.w * evenB0;
    // k = base + 7
    evenA0 = panelA[2].at[0][0][y];
    evenB0 = panelB[8][0][x];
    sum0_0 += oddA0.x * oddB0;
    sum1_0 += oddA0.y * oddB0;
    sum2_0 += oddA0.z * oddB0;
    sum3_0 += oddA0.w * oddB0;
    // k = base + 8
    oddA0 = panelA[2].at[1][0][y];
    oddB0 = panelB[9][0][x];
    sum0_0 += evenA0.x * evenB0;
    sum1_0 += evenA0.y * evenB0;
    sum2_0 += evenA0.z * evenB0;
    sum3_0 += evenA0.w * evenB0;
    // k = base + 9
    evenA0 = panelA[2].at[2][0][y];
    evenB0 = panelB[10][0][x];
    sum0_0 += oddA0.x * oddB0;
    sum1_0 += oddA0.y * oddB0;
    sum2_0 += oddA0.z * oddB0;
    sum3_0 += oddA0.w * oddB0;
    // k = base + 10
    oddA0 = panelA[2].at[3][0][y];
    oddB0 = panelB[11][0][x];
    sum0_0 += evenA0.x * evenB0;
    sum1_0 += evenA0.y * evenB0;
    sum2_0 += evenA0.z * evenB0;
    sum3_0 += evenA0.w * evenB0;
    // k = base + 11
    evenA0 = panelA[3].at[0][0][y];
    evenB0 = panelB[12][0][x];
    sum0_0 += oddA0.x * oddB0;
    sum1_0 += oddA0.y * oddB0;
    sum2_0 += oddA0.z * oddB0;
    sum3_0 += oddA0.w * oddB0;
    // k = base + 12
    oddA0 = panelA[3].at[1][0][y];
    oddB0 = panelB[13][0][x];
    sum0_0 += evenA0.x * evenB0;
    sum1_0 += evenA0.y * evenB0;
    sum2_0 += evenA0.z * evenB0;
    sum3_0 += evenA0.w * evenB0;
    // k = base + 13
    evenA0 = panelA[3].at[2][0][y];
    evenB0 = panelB[14][0][x];
    sum0_0 += oddA0.x * oddB0;
    sum1_0 += oddA0.y * oddB0;
    sum2_0 += oddA0.z * oddB0;
    sum3_0 += oddA0.w * oddB0;
    // k = base + 14
    oddA0 = panelA[3].at[3][0][y];
    oddB0 = panelB[15][0][x];
    sum0_0 += evenA0.x * evenB0;
    sum1_0 += evenA0.y * evenB0;
    sum2_0 += evenA0.z * evenB0;
    sum3_0 += evenA0.w * evenB0;
    workgroupBarrier();
    if (thread < 64) {
      panelA[thread % 4].at[0][0][thread / 4 % 16] = vec4(wordA0.x, wordA1.x, wordA2.x, wordA3.x);
      panelA[thread % 4].at[1][0][thread / 4 % 16] = vec4(wordA0.y, wordA1.y, wordA2.y, wordA3.y);
      panelA[thread % 4].at[2][0][thread / 4 % 16] = vec4(wordA0.z, wordA1.z, wordA2.z, wordA3.z);
      panelA[thread % 4].at[3][0][thread / 4 % 16] = vec4(wordA0.w, wordA1.w, wordA2.w, wordA3.w);
    }
    panelB[thread / 16][0][thread % 16] = wordB0;
    workgroupBarrier();
    wordA0 = a[nextA];
    wordA1 = a[nextA + pitchA];
    wordA2 = a[nextA + pitchA * 2];
    wordA3 = a[nextA + pitchA * 3];
    wordB0 = b[nextB];
    nextA += 4;
    nextB += 16 * pitchB;
    // k = base + 15
    evenA0 = panelA[0].at[0][0][y];
    evenB0 = panelB[0][0][x];
    sum0_0 += oddA0.x * oddB0;
    sum1_0 += oddA0.y * oddB0;
    sum2_0 += oddA0.z * oddB0;
    sum3_0 += oddA0.w * oddB0;
  }

  let row = tile.row + 4 * y;
  let col = tile.col + 4 * x;
  storeC(tile.batch, row, col, sum0_0);
  storeC(tile.batch, row + 1, col, sum1_0);
  storeC(tile.batch, row + 2, col, sum2_0);
  storeC(tile.batch, row + 3, col, sum3_0);
}
