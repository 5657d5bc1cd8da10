enable f16;
enable f16;
enable chromium_experimental_subgroup_matrix;
enable subgroups;

alias Sum = f32;

struct Params {
  m: u32, n: u32, k: u32, batch: u32,
  lda: u32, ldb: u32, ldc: u32, slices: u32,
  offsetA: u32, offsetB: u32, offsetC: u32, depth: u32,
  strideA: u32, strideB: u32, strideC: u32, partA: u32,
  partB: u32, alpha: Sum, beta: Sum, clipMin: f32, clipMax: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f16>>;

fn indexA(batch: u32, row: u32, k: u32) -> u32 {
  return params.offsetA + batch * params.strideA + row * params.lda + k;
}

fn indexB(batch: u32, k: u32, col: u32) -> u32 {
  return params.offsetB + batch * params.strideB + k * params.ldb + col;
}


fn storeC(batch: u32, row: u32, col: u32, sum: vec4<Sum>) {
  if (row < params.m && col < params.n) {
    let index = params.offsetC + batch * params.strideC + row * params.ldc + col;
    var value = sum;
    c[index / 4] = vec4<f16>(value);
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

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Result = subgroup_matrix_result<f32, 16, 16>;

alias Word = vec4<u32>;
const WORD = 8u;                // elements of A or B in a word
const BM = 64u;
const BN = 64u;
const BK = 32u;
const STEPS = 16u;             // of K, in each slice of it

// Slices of A, one for each row of subgroups, and of B, one for each column of them.
var<workgroup> memoryA: array<array<Word, 160>, 2>;
var<workgroup> memoryB: array<array<Word, 160>, 2>;

fn staged(slot: u32, i: u32) -> vec4<Sum> {
  return bitcast<vec4<Sum>>(memoryA[slot][i]);
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let tile = tileOf(group, groups);
  if (!tile.valid) { return; }
  let subgroupRow = subgroup / 2;
  let subgroupCol = subgroup % 2;
  let slot = subgroup % 2;

  // Along K, this thread fetches word atK of its line and of every 32th line below. Eight neighbouring threads
  // take eight lines, so that their stores fall into different banks.
  let line = thread / 32 * 8 + thread % 8;
  let atK = thread / 8 % 4;
  let toA = line % 32 * 5 + atK;
  let fromA = (params.offsetA + tile.batch * params.strideA) / WORD + atK + (tile.row + line) * 64;
  // Of B, it fetches column atB of words, in row rowB and every 16th row below.
  let rowB = thread / 8;
  let atB = thread % 8;
  let columnB = atB / 4;
  let toB = rowB * 5 + atB % 4;
  let colB = tile.col / WORD + atB;
  let fromB = (params.offsetB + tile.batch * params.strideB) / WORD + rowB * 64 + colB;
  var sum0_0: Result;
  var sum0_1: Result;
  var sum1_0: Result;
  var sum1_1: Result;
  
  let first = tile.slice * STEPS;
  for (var step = 0u; step < STEPS; step++) {
    let now = first + step;
    let wordA0_0 = a[fromA + now * 4];
    let wordA1_0 = a[fromA + 2048 + now * 4];
    let wordB0_0 = b[fromB + now * 2048];
    let wordB1_0 = b[fromB + 1024 + now * 2048];
    // Nobody reads the step before any more.
    workgroupBarrier();
    memoryA[0][toA] = wordA0_0;
    memoryA[1][toA] = wordA1_0;
    memoryB[columnB][toB] = wordB0_0;
    memoryB[columnB][toB + 80] = wordB1_0;
    workgroupBarrier();
    {
      let a00 = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroupRow], 0, 5);
      let a10 = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroupRow], 80, 5);
      let b00 = subgroupMatrixLoad<Right, row_major>(&memoryB[subgroupCol], 0, 5);
      let b10 = subgroupMatrixLoad<Right, row_major>(&memoryB[subgroupCol], 2, 5);
      sum0_0 = subgroupMatrixMultiplyAccumulate(a00, b00, sum0_0);
      sum0_1 = subgroupMatrixMultiplyAccumulate(a00, b10, sum0_1);
      sum1_0 = subgroupMatrixMultiplyAccumulate(a10, b00, sum1_0);
      sum1_1 = subgroupMatrixMultiplyAccumulate(a10, b10, sum1_1);
    }
    {
      let a00 = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroupRow], 2, 5);
      let a10 = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroupRow], 82, 5);
      let b00 = subgroupMatrixLoad<Right, row_major>(&memoryB[subgroupCol], 80, 5);
      let b10 = subgroupMatrixLoad<Right, row_major>(&memoryB[subgroupCol], 82, 5);
      sum0_0 = subgroupMatrixMultiplyAccumulate(a00, b00, sum0_0);
      sum0_1 = subgroupMatrixMultiplyAccumulate(a00, b10, sum0_1);
      sum1_0 = subgroupMatrixMultiplyAccumulate(a10, b00, sum1_0);
      sum1_1 = subgroupMatrixMultiplyAccumulate(a10, b10, sum1_1);
    }
  }

  // The results, through the memory of the tiles, a row of matrices at a time.
  let row = tile.row + subgroupRow * 32;
  let col = tile.col + subgroupCol * 32;
  workgroupBarrier();
  if (subgroup / 2 == 0) {
    subgroupMatrixStore<row_major>(&memoryA[slot], 0, sum0_0, 8);
    subgroupMatrixStore<row_major>(&memoryA[slot], 4, sum0_1, 8);
  }
  workgroupBarrier();
  if (subgroup / 2 == 0) {
    for (var v = 0u; v < 4; v++) {
      let i = lane + v * 32;
      storeC(tile.batch, row + i / 8, col + i % 8 * 4, staged(slot, i));
    }
  }
  workgroupBarrier();
  if (subgroup / 2 == 1) {
    subgroupMatrixStore<row_major>(&memoryA[slot], 0, sum0_0, 8);
    subgroupMatrixStore<row_major>(&memoryA[slot], 4, sum0_1, 8);
  }
  workgroupBarrier();
  if (subgroup / 2 == 1) {
    for (var v = 0u; v < 4; v++) {
      let i = lane + v * 32;
      storeC(tile.batch, row + i / 8, col + i % 8 * 4, staged(slot, i));
    }
  }
  workgroupBarrier();
  if (subgroup / 2 == 0) {
    subgroupMatrixStore<row_major>(&memoryA[slot], 0, sum1_0, 8);
    subgroupMatrixStore<row_major>(&memoryA[slot], 4, sum1_1, 8);
  }
  workgroupBarrier();
  if (subgroup / 2 == 0) {
    for (var v = 0u; v < 4; v++) {
      let i = lane + v * 32;
      storeC(tile.batch, row + 16 + i / 8, col + i % 8 * 4, staged(slot, i));
    }
  }
  workgroupBarrier();
  if (subgroup / 2 == 1) {
    subgroupMatrixStore<row_major>(&memoryA[slot], 0, sum1_0, 8);
    subgroupMatrixStore<row_major>(&memoryA[slot], 4, sum1_1, 8);
  }
  workgroupBarrier();
  if (subgroup / 2 == 1) {
    for (var v = 0u; v < 4; v++) {
      let i = lane + v * 32;
      storeC(tile.batch, row + 16 + i / 8, col + i % 8 * 4, staged(slot, i));
    }
  }
}
