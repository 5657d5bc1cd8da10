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
@group(0) @binding(3) var<storage, read_write> c: array<f16>;

fn indexA(batch: u32, row: u32, k: u32) -> u32 {
  return params.offsetA + batch * params.strideA + row * params.lda + k;
}

fn indexB(batch: u32, k: u32, col: u32) -> u32 {
  return params.offsetB + batch * params.strideB + k * params.ldb + col;
}


fn storeC(batch: u32, row: u32, col: u32, sum: Sum) {
  if (row < params.m && col < params.n) {
    let index = params.offsetC + batch * params.strideC + row * params.ldc + col;
    var value = sum;
    c[index] = f16(value);
  }
}

struct Tile { valid: bool, batch: u32, slice: u32, row: u32, col: u32 }

fn tileOf(group: vec3u, groups: vec3u) -> Tile {
  let tilesM = params.m / 64;
  let tilesN = params.n / 64;
  let tiles = tilesM * tilesN;
  var index = group.y * groups.x + group.x;
  let valid = index < tiles * params.batch * params.slices;
  if (!valid) {
    index -= tiles * params.batch * params.slices;
    // Tiles of few columns from top to bottom, then those of few rows.
    let down = (params.m + 63) / 64;
    let few = down + tilesN;
    let product = index / few;
    index %= few;
    return Tile(
      product < params.batch * params.slices, product % params.batch, product / params.batch,
      select(tilesM * 64, index * 64, index < down), select((index - down) * 64, tilesN * 64, index < down),
    );
  }
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
const BK = 16u;
const STEPS = 32u;             // of K, in each slice of it

// Two buffers of slices of A and, behind them, of B.
var<workgroup> memory0: array<array<Word, 96>, 4>;
var<workgroup> memory1: array<array<Word, 96>, 4>;


fn numbers(halves: vec2<u32>) -> vec4f { return vec4f(unpack2x16float(halves.x), unpack2x16float(halves.y)); }

fn productOf(x0: Word, y0: Word) -> f32 {
  return dot(numbers(x0.xy), numbers(y0.xy))
    + dot(numbers(x0.zw), numbers(y0.zw));
}

// A line's sums with each of the few, from the threads that have words of it.
fn sumsOf(line: u32) -> vec4f {
  let at = line / 8 * 16 + line % 8;
  var sums = vec4f();
  sums += bitcast<vec4f>(memory0[at / 96][at % 96]);
  sums += bitcast<vec4f>(memory0[(at + 8) / 96][(at + 8) % 96]);
  return sums;
}

// Rows of staged results in the order 0, 2, 1, 3: what eight lanes read at once lies in different banks.
fn spread(row: u32) -> u32 { return row / 4 * 4 + row % 2 * 2 + row / 2 % 2; }

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
  let sliceA = subgroup / 2;
  let sliceB = subgroup % 2;
  let slot = subgroup;

  // Along K, this thread fetches word atK of its line and of every 64th line below. Eight neighbouring threads
  // take eight lines, so that their stores fall into different banks.
  let line = thread / 16 * 8 + thread % 8;
  let atK = thread / 8 % 2;
  let blockA0 = (params.offsetA + tile.batch * params.strideA) / WORD + tile.row / BM * 4096 + thread;
  let blockB0 = (params.offsetB + tile.batch * params.strideB) / WORD + tile.col / BN * 4096 + thread;
  var sum0_0: Result;
  var sum0_1: Result;
  var sum1_0: Result;
  var sum1_1: Result;
  let first = tile.slice * STEPS;
  var now: u32;
  if (tile.col + BN > params.n) {
    // Few columns. Where the words of the first of them lie:
    let firstFew0 = blockB0 - thread + atK * 8;
    var own0 = vec4f();
    for (var round = 0u; round < 3; round++) {
      now = first + round * 10;
      let word0_00 = a[blockA0 + now * 128];
      let few0_00 = b[firstFew0 + now * 128];
      let few0_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 1;
      let word1_00 = a[blockA0 + now * 128];
      let few1_00 = b[firstFew0 + now * 128];
      let few1_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 2;
      let word2_00 = a[blockA0 + now * 128];
      let few2_00 = b[firstFew0 + now * 128];
      let few2_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 3;
      let word3_00 = a[blockA0 + now * 128];
      let few3_00 = b[firstFew0 + now * 128];
      let few3_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 4;
      let word4_00 = a[blockA0 + now * 128];
      let few4_00 = b[firstFew0 + now * 128];
      let few4_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 5;
      let word5_00 = a[blockA0 + now * 128];
      let few5_00 = b[firstFew0 + now * 128];
      let few5_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 6;
      let word6_00 = a[blockA0 + now * 128];
      let few6_00 = b[firstFew0 + now * 128];
      let few6_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 7;
      let word7_00 = a[blockA0 + now * 128];
      let few7_00 = b[firstFew0 + now * 128];
      let few7_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 8;
      let word8_00 = a[blockA0 + now * 128];
      let few8_00 = b[firstFew0 + now * 128];
      let few8_10 = b[firstFew0 + now * 128 + 1];
      now = first + round * 10 + 9;
      let word9_00 = a[blockA0 + now * 128];
      let few9_00 = b[firstFew0 + now * 128];
      let few9_10 = b[firstFew0 + now * 128 + 1];
      own0[0] += productOf(word0_00, few0_00);
      own0[1] += productOf(word0_00, few0_10);
      own0[0] += productOf(word1_00, few1_00);
      own0[1] += productOf(word1_00, few1_10);
      own0[0] += productOf(word2_00, few2_00);
      own0[1] += productOf(word2_00, few2_10);
      own0[0] += productOf(word3_00, few3_00);
      own0[1] += productOf(word3_00, few3_10);
      own0[0] += productOf(word4_00, few4_00);
      own0[1] += productOf(word4_00, few4_10);
      own0[0] += productOf(word5_00, few5_00);
      own0[1] += productOf(word5_00, few5_10);
      own0[0] += productOf(word6_00, few6_00);
      own0[1] += productOf(word6_00, few6_10);
      own0[0] += productOf(word7_00, few7_00);
      own0[1] += productOf(word7_00, few7_10);
      own0[0] += productOf(word8_00, few8_00);
      own0[1] += productOf(word8_00, few8_10);
      own0[0] += productOf(word9_00, few9_00);
      own0[1] += productOf(word9_00, few9_10);
    }
    now = first + 30;
    let word0_00 = a[blockA0 + now * 128];
    let few0_00 = b[firstFew0 + now * 128];
    let few0_10 = b[firstFew0 + now * 128 + 1];
    own0[0] += productOf(word0_00, few0_00);
    own0[1] += productOf(word0_00, few0_10);
    now = first + 30 + 1;
    let word1_00 = a[blockA0 + now * 128];
    let few1_00 = b[firstFew0 + now * 128];
    let few1_10 = b[firstFew0 + now * 128 + 1];
    own0[0] += productOf(word1_00, few1_00);
    own0[1] += productOf(word1_00, few1_10);
    memory0[thread / 96][thread % 96] = bitcast<vec4<u32>>(own0);
    workgroupBarrier();
    for (var line = thread; line < 64; line += 128) {
      let sums = sumsOf(line);
      storeC(tile.batch, tile.row + line, tile.col, sums[0]);
      storeC(tile.batch, tile.row + line, tile.col + 1, sums[1]);
    }
    return;
  }
  if (tile.row + BM > params.m) {
    // Few rows. Where the words of the first of them lie:
    let firstFew0 = blockA0 - thread + atK * 8;
    var own0 = vec4f();
    for (var round = 0u; round < 3; round++) {
      now = first + round * 10;
      let word0_00 = b[blockB0 + now * 128];
      let few0_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 1;
      let word1_00 = b[blockB0 + now * 128];
      let few1_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 2;
      let word2_00 = b[blockB0 + now * 128];
      let few2_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 3;
      let word3_00 = b[blockB0 + now * 128];
      let few3_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 4;
      let word4_00 = b[blockB0 + now * 128];
      let few4_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 5;
      let word5_00 = b[blockB0 + now * 128];
      let few5_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 6;
      let word6_00 = b[blockB0 + now * 128];
      let few6_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 7;
      let word7_00 = b[blockB0 + now * 128];
      let few7_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 8;
      let word8_00 = b[blockB0 + now * 128];
      let few8_00 = a[firstFew0 + now * 128];
      now = first + round * 10 + 9;
      let word9_00 = b[blockB0 + now * 128];
      let few9_00 = a[firstFew0 + now * 128];
      own0[0] += productOf(word0_00, few0_00);
      own0[0] += productOf(word1_00, few1_00);
      own0[0] += productOf(word2_00, few2_00);
      own0[0] += productOf(word3_00, few3_00);
      own0[0] += productOf(word4_00, few4_00);
      own0[0] += productOf(word5_00, few5_00);
      own0[0] += productOf(word6_00, few6_00);
      own0[0] += productOf(word7_00, few7_00);
      own0[0] += productOf(word8_00, few8_00);
      own0[0] += productOf(word9_00, few9_00);
    }
    now = first + 30;
    let word0_00 = b[blockB0 + now * 128];
    let few0_00 = a[firstFew0 + now * 128];
    own0[0] += productOf(word0_00, few0_00);
    now = first + 30 + 1;
    let word1_00 = b[blockB0 + now * 128];
    let few1_00 = a[firstFew0 + now * 128];
    own0[0] += productOf(word1_00, few1_00);
    memory0[thread / 96][thread % 96] = bitcast<vec4<u32>>(own0);
    workgroupBarrier();
    for (var line = thread; line < 64; line += 128) {
      let sums = sumsOf(line);
      storeC(tile.batch, tile.row, tile.col + line, sums[0]);
    }
    return;
  }
  now = first + STEPS - 2;
  var wordA0_0_0 = a[blockA0 + now * 128];
  var wordB0_0_0 = b[blockB0 + now * 128];
  now = first + STEPS - 1;
  var wordA0_0_1 = a[blockA0 + now * 128];
  var wordB0_0_1 = b[blockB0 + now * 128];
  memory0[(line) / 32][(line) % 32 * 3 + atK] = wordA0_0_0;
  memory0[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordB0_0_0;
  memory1[(line) / 32][(line) % 32 * 3 + atK] = wordA0_0_1;
  memory1[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordB0_0_1;
  now = first + 0;
  wordA0_0_0 = a[blockA0 + now * 128];
  wordB0_0_0 = b[blockB0 + now * 128];
  now = first + 1;
  wordA0_0_1 = a[blockA0 + now * 128];
  wordB0_0_1 = b[blockB0 + now * 128];
  workgroupBarrier();
  var evenA00: Left;
  var evenA10: Left;
  var evenB00: Right;
  var evenB10: Right;
  evenA00 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 0, 3);
  evenA10 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 48, 3);
  evenB00 = subgroupMatrixLoad<Right, col_major>(&memory0[sliceB + 2], 0, 3);
  evenB10 = subgroupMatrixLoad<Right, col_major>(&memory0[sliceB + 2], 48, 3);
  var oddA00: Left;
  var oddA10: Left;
  var oddB00: Right;
  var oddB10: Right;
  workgroupBarrier();
  for (var turn = 0u; turn < STEPS / 2; turn++) {
    let step = turn * 2;
    // Step 0; the next into matrices, the one after it into workgroup memory. Past the end the last is fetched, and not used.
    sum0_0 = subgroupMatrixMultiplyAccumulate(evenA00, evenB00, sum0_0);
    sum0_1 = subgroupMatrixMultiplyAccumulate(evenA00, evenB10, sum0_1);
    sum1_0 = subgroupMatrixMultiplyAccumulate(evenA10, evenB00, sum1_0);
    sum1_1 = subgroupMatrixMultiplyAccumulate(evenA10, evenB10, sum1_1);
    oddA00 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA], 0, 3);
    oddA10 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA], 48, 3);
    oddB00 = subgroupMatrixLoad<Right, col_major>(&memory1[sliceB + 2], 0, 3);
    oddB10 = subgroupMatrixLoad<Right, col_major>(&memory1[sliceB + 2], 48, 3);
    memory0[(line) / 32][(line) % 32 * 3 + atK] = wordA0_0_0;
    memory0[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordB0_0_0;
    now = first + min(step + 2, STEPS - 1);
    wordA0_0_0 = a[blockA0 + now * 128];
    wordB0_0_0 = b[blockB0 + now * 128];
    workgroupBarrier();
    // Step 1; the next into matrices, the one after it into workgroup memory. Past the end the last is fetched, and not used.
    sum0_0 = subgroupMatrixMultiplyAccumulate(oddA00, oddB00, sum0_0);
    sum0_1 = subgroupMatrixMultiplyAccumulate(oddA00, oddB10, sum0_1);
    sum1_0 = subgroupMatrixMultiplyAccumulate(oddA10, oddB00, sum1_0);
    sum1_1 = subgroupMatrixMultiplyAccumulate(oddA10, oddB10, sum1_1);
    evenA00 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 0, 3);
    evenA10 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 48, 3);
    evenB00 = subgroupMatrixLoad<Right, col_major>(&memory0[sliceB + 2], 0, 3);
    evenB10 = subgroupMatrixLoad<Right, col_major>(&memory0[sliceB + 2], 48, 3);
    memory1[(line) / 32][(line) % 32 * 3 + atK] = wordA0_0_1;
    memory1[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordB0_0_1;
    now = first + min(step + 3, STEPS - 1);
    wordA0_0_1 = a[blockA0 + now * 128];
    wordB0_0_1 = b[blockB0 + now * 128];
    workgroupBarrier();
  }

  // The results, through both buffers in turn.
  let firstRow = tile.row + subgroup / 2 * 32;
  let firstCol = tile.col + subgroup % 2 * 32;
  subgroupMatrixStore<row_major>(&memory0[slot], 0, sum0_0, 6);
  workgroupBarrier();
  for (var v = 0u; v < 8; v++) {
    let i = lane + v * 32;
    let row = spread(i / 16);
    let unit = i % 16;
    let sum = bitcast<Sum>(memory0[slot][row * 6 + unit / 4][unit % 4]);
    storeC(tile.batch, firstRow + row, firstCol + unit, sum);
  }
  subgroupMatrixStore<row_major>(&memory1[slot], 0, sum0_1, 6);
  workgroupBarrier();
  for (var v = 0u; v < 8; v++) {
    let i = lane + v * 32;
    let row = spread(i / 16);
    let unit = i % 16;
    let sum = bitcast<Sum>(memory1[slot][row * 6 + unit / 4][unit % 4]);
    storeC(tile.batch, firstRow + row, firstCol + 16 + unit, sum);
  }
  subgroupMatrixStore<row_major>(&memory0[slot], 0, sum1_0, 6);
  workgroupBarrier();
  for (var v = 0u; v < 8; v++) {
    let i = lane + v * 32;
    let row = spread(i / 16);
    let unit = i % 16;
    let sum = bitcast<Sum>(memory0[slot][row * 6 + unit / 4][unit % 4]);
    storeC(tile.batch, firstRow + 16 + row, firstCol + unit, sum);
  }
  subgroupMatrixStore<row_major>(&memory1[slot], 0, sum1_1, 6);
  workgroupBarrier();
  for (var v = 0u; v < 8; v++) {
    let i = lane + v * 32;
    let row = spread(i / 16);
    let unit = i % 16;
    let sum = bitcast<Sum>(memory1[slot][row * 6 + unit / 4][unit % 4]);
    storeC(tile.batch, firstRow + 16 + row, firstCol + 16 + unit, sum);
  }
}
