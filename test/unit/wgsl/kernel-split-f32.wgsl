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
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f32>>;

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

struct Lines {
  lines: u32, length: u32, copies: u32,
  ld: u32, offset: u32, stride: u32,
  first: u32,                        // scale
  steps: u32,                        // of K that its blocks reach over, where it is split
  groups: u32,                       // workgroups that split it
}

alias Cells = vec4<f32>;

@group(0) @binding(4) var<uniform> linesA: Lines;
@group(0) @binding(5) var<uniform> linesB: Lines;
@group(0) @binding(6) var<storage, read> scales: array<f32>;
@group(0) @binding(7) var<storage, read> originalA: array<f32>;
@group(0) @binding(8) var<storage, read> originalB: array<f32>;

fn scaleOf(lines: Lines, batch: u32, line: u32) -> f32 {
  return scales[lines.first + min(batch, lines.copies - 1) * lines.lines + line];
}

// 1 / scale, exactly; 0 for a marked line.
fn inverse(scale: f32) -> f32 { return select(bitcast<f32>((254u << 23) - bitcast<u32>(scale)), 0.0, scale == 0.0); }

fn plainSum(batch: u32, row: u32, col: u32) -> f32 {
  let fromA = linesA.offset + batch * linesA.stride + row * linesA.ld;
  let fromB = linesB.offset + batch * linesB.stride + col * 1;
  var sum = 0.0;
  // NaN stays NaN: where all is, as in a training that has diverged, little is added up.
  for (var start = 0u; start < params.k && (bitcast<u32>(sum) & 0x7fffffffu) <= 0x7f800000u; start += 32) {
    for (var k = start; k < min(start + 32, params.k); k++) {
      sum += originalA[fromA + k * 1] * originalB[fromB + k * linesB.ld];
    }
  }
  return sum;
}

// Of the tile's rows and columns; those past the edge repeat the last ones.
var<workgroup> unscaleA: array<f32, 64>;
var<workgroup> unscaleB: array<Cells, 16>;

fn giveScales(tile: Tile, thread: u32) {
  for (var i = thread; i < 64; i += 128) {
    unscaleA[i] = inverse(scaleOf(linesA, tile.batch, min(tile.row + i, params.m - 1)));
  }
  for (var i = thread; i < 16; i += 128) {
    let col = tile.col + i * 4;
    unscaleB[i] = Cells(
      inverse(scaleOf(linesB, tile.batch, min(col, params.n - 1))),
      inverse(scaleOf(linesB, tile.batch, min(col + 1, params.n - 1))),
      inverse(scaleOf(linesB, tile.batch, min(col + 2, params.n - 1))),
      inverse(scaleOf(linesB, tile.batch, min(col + 3, params.n - 1))),
    );
  }
}

fn storeScaled(batch: u32, row: u32, col: u32, sum: Cells) {
  let one = Cells(unscaleA[row % 64]);
  let other = unscaleB[col % 64 / 4];
  // The smaller factor first: the other way round, the product could overflow on its way.
  var value = sum * min(one, other) * max(one, other);
  let marked = (one == Cells()) | (other == Cells());
  if (any(marked) && row < params.m && col < params.n) {
    for (var j = 0u; j < 4; j++) {
      if (marked[j]) { value[j] = plainSum(batch, row, col + j); }
    }
  }
  storeC(batch, row, col, value);
}

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Result = subgroup_matrix_result<f32, 16, 16>;

alias Word = vec4<u32>;
const WORD = 8u;                // elements of A or B in a word
const BM = 64u;
const BN = 64u;
const BK = 16u;
const STEPS = 36u;             // of K, in each slice of it
const FLUSHES = 6u;

// Slices of A, one for each row of subgroups, and of B, one for each column of them.
var<workgroup> memoryA: array<array<Word, 128>, 4>;
var<workgroup> memoryB: array<array<Word, 96>, 4>;

fn staged(slot: u32, i: u32) -> vec4<Sum> {
  return bitcast<vec4<Sum>>(memoryA[slot][i]);
}

fn putTotal(slot: u32, i: u32, value: vec4<Sum>) {
  memoryA[slot][i] = bitcast<vec4<u32>>(value);
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
  giveScales(tile, thread);
  let subgroupRow = subgroup / 2;
  let subgroupCol = subgroup % 2;
  let slot = subgroup % 4;

  // Along K, this thread fetches word atK of its line and of every 64th line below. Eight neighbouring threads
  // take eight lines, so that their stores fall into different banks.
  let line = thread / 16 * 8 + thread % 8;
  let atK = thread / 8 % 2;
  let blockA0 = (params.offsetA + tile.batch * params.strideA) / WORD + tile.row / BM * 4608 + thread;
  let blockA1 = (params.offsetA + params.partA + tile.batch * params.strideA) / WORD + tile.row / BM * 4608 + thread;
  let blockB0 = (params.offsetB + tile.batch * params.strideB) / WORD + tile.col / BN * 4608 + thread;
  let blockB1 = (params.offsetB + params.partB + tile.batch * params.strideB) / WORD + tile.col / BN * 4608 + thread;
  var sum0_0: Result;
  var sum0_1: Result;
  var sum1_0: Result;
  var sum1_1: Result;
  var total0_0 = vec4<Sum>();
  var total0_1 = vec4<Sum>();
  var total0_2 = vec4<Sum>();
  var total0_3 = vec4<Sum>();
  var total1_0 = vec4<Sum>();
  var total1_1 = vec4<Sum>();
  var total1_2 = vec4<Sum>();
  var total1_3 = vec4<Sum>();
  
  let first = tile.slice * STEPS;
  for (var flush = 0u; flush < FLUSHES; flush++) {
    for (var i = 0u; i < 6; i++) {
      let step = flush * 6 + i;
      let now = first + step;
      let wordA0_0 = a[blockA0 + now * 128];
      let wordB0_0 = b[blockB0 + now * 128];
      let wordA0_1 = a[blockA1 + now * 128];
      let wordB0_1 = b[blockB1 + now * 128];
      // Nobody reads the step before any more.
      workgroupBarrier();
      memoryA[(line) / 32][(line) % 32 * 3 + atK] = wordA0_0;
      memoryB[(line) / 32][(line) % 32 * 3 + atK] = wordB0_0;
      memoryA[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordA0_1;
      memoryB[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordB0_1;
      workgroupBarrier();
      {
        let a00 = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroupRow], 0, 3);
        let a10 = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroupRow], 48, 3);
        let b00 = subgroupMatrixLoad<Right, col_major>(&memoryB[subgroupCol], 0, 3);
        let b10 = subgroupMatrixLoad<Right, col_major>(&memoryB[subgroupCol], 48, 3);
        let a01 = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroupRow + 2], 0, 3);
        let a11 = subgroupMatrixLoad<Left, row_major>(&memoryA[subgroupRow + 2], 48, 3);
        let b01 = subgroupMatrixLoad<Right, col_major>(&memoryB[subgroupCol + 2], 0, 3);
        let b11 = subgroupMatrixLoad<Right, col_major>(&memoryB[subgroupCol + 2], 48, 3);
        sum0_0 = subgroupMatrixMultiplyAccumulate(a00, b01, sum0_0);
        sum0_1 = subgroupMatrixMultiplyAccumulate(a00, b11, sum0_1);
        sum1_0 = subgroupMatrixMultiplyAccumulate(a10, b01, sum1_0);
        sum1_1 = subgroupMatrixMultiplyAccumulate(a10, b11, sum1_1);
        sum0_0 = subgroupMatrixMultiplyAccumulate(a01, b00, sum0_0);
        sum0_1 = subgroupMatrixMultiplyAccumulate(a01, b10, sum0_1);
        sum1_0 = subgroupMatrixMultiplyAccumulate(a11, b00, sum1_0);
        sum1_1 = subgroupMatrixMultiplyAccumulate(a11, b10, sum1_1);
        sum0_0 = subgroupMatrixMultiplyAccumulate(a00, b00, sum0_0);
        sum0_1 = subgroupMatrixMultiplyAccumulate(a00, b10, sum0_1);
        sum1_0 = subgroupMatrixMultiplyAccumulate(a10, b00, sum1_0);
        sum1_1 = subgroupMatrixMultiplyAccumulate(a10, b10, sum1_1);
      }
    }
    // Into f32 registers, before the matrix units have truncated too much.
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&memoryA[slot], 0, sum0_0, 8);
    subgroupMatrixStore<row_major>(&memoryA[slot], 4, sum0_1, 8);
    workgroupBarrier();
    total0_0 += staged(slot, lane + 0);
    total0_1 += staged(slot, lane + 32);
    total0_2 += staged(slot, lane + 64);
    total0_3 += staged(slot, lane + 96);
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&memoryA[slot], 0, sum1_0, 8);
    subgroupMatrixStore<row_major>(&memoryA[slot], 4, sum1_1, 8);
    workgroupBarrier();
    total1_0 += staged(slot, lane + 0);
    total1_1 += staged(slot, lane + 32);
    total1_2 += staged(slot, lane + 64);
    total1_3 += staged(slot, lane + 96);
    sum0_0 = Result();
    sum0_1 = Result();
    sum1_0 = Result();
    sum1_1 = Result();
  }

  // The results, through the memory of the tiles, a row of matrices at a time.
  let row = tile.row + subgroupRow * 32;
  let col = tile.col + subgroupCol * 32;
  workgroupBarrier();
  putTotal(slot, lane + 0, total0_0);
  putTotal(slot, lane + 32, total0_1);
  putTotal(slot, lane + 64, total0_2);
  putTotal(slot, lane + 96, total0_3);
  for (var v = 0u; v < 4; v++) {
    let i = lane + v * 32;
    storeScaled(tile.batch, row + i / 8, col + i % 8 * 4, staged(slot, i));
  }
  workgroupBarrier();
  putTotal(slot, lane + 0, total1_0);
  putTotal(slot, lane + 32, total1_1);
  putTotal(slot, lane + 64, total1_2);
  putTotal(slot, lane + 96, total1_3);
  for (var v = 0u; v < 4; v++) {
    let i = lane + v * 32;
    storeScaled(tile.batch, row + 16 + i / 8, col + i % 8 * 4, staged(slot, i));
  }
}
