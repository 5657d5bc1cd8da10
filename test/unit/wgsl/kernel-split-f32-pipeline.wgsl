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

struct Halves { high: vec2<u32>, low: vec2<u32> }

fn halves(x: vec4f) -> Halves {
  let high = bitcast<vec4f>((bitcast<vec4<u32>>(x) + vec4(0x1000u)) & vec4(0xffffe000u));
  let low = x - high;
  return Halves(
    vec2(pack2x16float(high.xy), pack2x16float(high.zw)),
    vec2(pack2x16float(low.xy), pack2x16float(low.zw)),
  );
}

// Of four columns; those past the edge repeat the last one.
fn scalesOfB(batch: u32, col: u32) -> vec4f {
  let last = params.n - 1;
  return vec4f(
    scaleOf(linesB, batch, min(col, last)), scaleOf(linesB, batch, min(col + 1, last)),
    scaleOf(linesB, batch, min(col + 2, last)), scaleOf(linesB, batch, min(col + 3, last)),
  );
}

struct Parts { high: vec4<u32>, low: vec4<u32> }

fn splitWords(x: vec4<u32>, y: vec4<u32>, scaleX: vec4f, scaleY: vec4f) -> Parts {
  let first = halves(bitcast<vec4f>(x) * scaleX);
  let second = halves(bitcast<vec4f>(y) * scaleY);
  return Parts(vec4(first.high, second.high), vec4(first.low, second.low));
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

// Two buffers of slices of A and, behind them, of B.
var<workgroup> memory0: array<array<Word, 160>, 4>;
var<workgroup> memory1: array<array<Word, 160>, 4>;

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
  let sliceA = subgroup / 2;
  let sliceB = subgroup % 2;
  let slot = subgroup;
  let quad = lane / 8 * 10 + lane % 8;

  // Along K, this thread fetches word atK of its line and of every 64th line below. Eight neighbouring threads
  // take eight lines, so that their stores fall into different banks.
  let line = thread / 16 * 8 + thread % 8;
  let atK = thread / 8 % 2;
  let blockA0 = (params.offsetA + tile.batch * params.strideA) / WORD + tile.row / BM * 4608 + thread;
  let blockA1 = (params.offsetA + params.partA + tile.batch * params.strideA) / WORD + tile.row / BM * 4608 + thread;
  // Of B, it fetches column atB of words, in row rowB and every 16th row below.
  let rowB = thread / 8;
  let atB = thread % 8;
  let columnB = atB / 4;
  let toB = rowB * 9 + atB % 4;
  let colB = tile.col / WORD + atB;
  let fromB = (params.offsetB + tile.batch * params.strideB) / 4 + rowB * 128 + colB * 2;
  let scaleB0 = scalesOfB(tile.batch, colB * WORD);
  let scaleB1 = scalesOfB(tile.batch, colB * WORD + 4);
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
  var now: u32;
  now = first + STEPS - 2;
  var wordA0_0_0 = a[blockA0 + now * 128];
  var wordB0_0_0 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
  var wordA0_1_0 = a[blockA1 + now * 128];
  var wordB0_1_0 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
  now = first + STEPS - 1;
  var wordA0_0_1 = a[blockA0 + now * 128];
  var wordB0_0_1 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
  var wordA0_1_1 = a[blockA1 + now * 128];
  var wordB0_1_1 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
  {
    memory0[(line) / 32][(line) % 32 * 5 + atK] = wordA0_0_0;
    let wordB0 = splitWords(wordB0_0_0, wordB0_1_0, scaleB0, scaleB1);
    memory0[columnB + 2][toB] = wordB0.high;
    memory0[(line) / 32][(line) % 32 * 5 + atK + 2] = wordA0_1_0;
    memory0[columnB + 2][toB + 4] = wordB0.low;
  }
  {
    memory1[(line) / 32][(line) % 32 * 5 + atK] = wordA0_0_1;
    let wordB0 = splitWords(wordB0_0_1, wordB0_1_1, scaleB0, scaleB1);
    memory1[columnB + 2][toB] = wordB0.high;
    memory1[(line) / 32][(line) % 32 * 5 + atK + 2] = wordA0_1_1;
    memory1[columnB + 2][toB + 4] = wordB0.low;
  }
  now = first + 0;
  wordA0_0_0 = a[blockA0 + now * 128];
  wordB0_0_0 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
  wordA0_1_0 = a[blockA1 + now * 128];
  wordB0_1_0 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
  now = first + 1;
  wordA0_0_1 = a[blockA0 + now * 128];
  wordB0_0_1 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
  wordA0_1_1 = a[blockA1 + now * 128];
  wordB0_1_1 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
  workgroupBarrier();
  var evenA00: Left;
  var evenA10: Left;
  var evenB00: Right;
  var evenB10: Right;
  var evenA01: Left;
  var evenA11: Left;
  var evenB01: Right;
  var evenB11: Right;
  evenA00 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 0, 5);
  evenA10 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 80, 5);
  evenB00 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 2], 0, 9);
  evenB10 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 2], 2, 9);
  evenA01 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 2, 5);
  evenA11 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 82, 5);
  evenB01 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 2], 4, 9);
  evenB11 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 2], 6, 9);
  var oddA00: Left;
  var oddA10: Left;
  var oddB00: Right;
  var oddB10: Right;
  var oddA01: Left;
  var oddA11: Left;
  var oddB01: Right;
  var oddB11: Right;
  workgroupBarrier();
  for (var flush = 0u; flush < FLUSHES; flush++) {
    for (var turn = 0u; turn < 3; turn++) {
      let step = flush * 6 + turn * 2;
      // Step 0; the next into matrices, the one after it into workgroup memory. Past the end the last is fetched, and not used.
      sum0_0 = subgroupMatrixMultiplyAccumulate(evenA00, evenB01, sum0_0);
      sum0_1 = subgroupMatrixMultiplyAccumulate(evenA00, evenB11, sum0_1);
      sum1_0 = subgroupMatrixMultiplyAccumulate(evenA10, evenB01, sum1_0);
      sum1_1 = subgroupMatrixMultiplyAccumulate(evenA10, evenB11, sum1_1);
      sum0_0 = subgroupMatrixMultiplyAccumulate(evenA01, evenB00, sum0_0);
      sum0_1 = subgroupMatrixMultiplyAccumulate(evenA01, evenB10, sum0_1);
      sum1_0 = subgroupMatrixMultiplyAccumulate(evenA11, evenB00, sum1_0);
      sum1_1 = subgroupMatrixMultiplyAccumulate(evenA11, evenB10, sum1_1);
      sum0_0 = subgroupMatrixMultiplyAccumulate(evenA00, evenB00, sum0_0);
      sum0_1 = subgroupMatrixMultiplyAccumulate(evenA00, evenB10, sum0_1);
      sum1_0 = subgroupMatrixMultiplyAccumulate(evenA10, evenB00, sum1_0);
      sum1_1 = subgroupMatrixMultiplyAccumulate(evenA10, evenB10, sum1_1);
      oddA00 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA], 0, 5);
      oddA10 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA], 80, 5);
      oddB00 = subgroupMatrixLoad<Right, row_major>(&memory1[sliceB + 2], 0, 9);
      oddB10 = subgroupMatrixLoad<Right, row_major>(&memory1[sliceB + 2], 2, 9);
      oddA01 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA], 2, 5);
      oddA11 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA], 82, 5);
      oddB01 = subgroupMatrixLoad<Right, row_major>(&memory1[sliceB + 2], 4, 9);
      oddB11 = subgroupMatrixLoad<Right, row_major>(&memory1[sliceB + 2], 6, 9);
      {
        memory0[(line) / 32][(line) % 32 * 5 + atK] = wordA0_0_0;
        let wordB0 = splitWords(wordB0_0_0, wordB0_1_0, scaleB0, scaleB1);
        memory0[columnB + 2][toB] = wordB0.high;
        memory0[(line) / 32][(line) % 32 * 5 + atK + 2] = wordA0_1_0;
        memory0[columnB + 2][toB + 4] = wordB0.low;
      }
      now = first + min(step + 2, STEPS - 1);
      wordA0_0_0 = a[blockA0 + now * 128];
      wordB0_0_0 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
      wordA0_1_0 = a[blockA1 + now * 128];
      wordB0_1_0 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
      workgroupBarrier();
      // Step 1; the next into matrices, the one after it into workgroup memory. Past the end the last is fetched, and not used.
      sum0_0 = subgroupMatrixMultiplyAccumulate(oddA00, oddB01, sum0_0);
      sum0_1 = subgroupMatrixMultiplyAccumulate(oddA00, oddB11, sum0_1);
      sum1_0 = subgroupMatrixMultiplyAccumulate(oddA10, oddB01, sum1_0);
      sum1_1 = subgroupMatrixMultiplyAccumulate(oddA10, oddB11, sum1_1);
      sum0_0 = subgroupMatrixMultiplyAccumulate(oddA01, oddB00, sum0_0);
      sum0_1 = subgroupMatrixMultiplyAccumulate(oddA01, oddB10, sum0_1);
      sum1_0 = subgroupMatrixMultiplyAccumulate(oddA11, oddB00, sum1_0);
      sum1_1 = subgroupMatrixMultiplyAccumulate(oddA11, oddB10, sum1_1);
      sum0_0 = subgroupMatrixMultiplyAccumulate(oddA00, oddB00, sum0_0);
      sum0_1 = subgroupMatrixMultiplyAccumulate(oddA00, oddB10, sum0_1);
      sum1_0 = subgroupMatrixMultiplyAccumulate(oddA10, oddB00, sum1_0);
      sum1_1 = subgroupMatrixMultiplyAccumulate(oddA10, oddB10, sum1_1);
      evenA00 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 0, 5);
      evenA10 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 80, 5);
      evenB00 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 2], 0, 9);
      evenB10 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 2], 2, 9);
      evenA01 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 2, 5);
      evenA11 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 82, 5);
      evenB01 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 2], 4, 9);
      evenB11 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 2], 6, 9);
      if (turn == 2) {
        // Into f32 registers, before the matrix units have truncated too much.
        subgroupMatrixStore<row_major>(&memory1[slot], 0, sum0_0, 10);
        subgroupMatrixStore<row_major>(&memory1[slot], 4, sum0_1, 10);
        workgroupBarrier();
        subgroupMatrixStore<row_major>(&memory0[slot], 0, sum1_0, 10);
        subgroupMatrixStore<row_major>(&memory0[slot], 4, sum1_1, 10);
        total0_0 += bitcast<vec4<Sum>>(memory1[slot][quad]);
        total0_1 += bitcast<vec4<Sum>>(memory1[slot][quad + 40]);
        total0_2 += bitcast<vec4<Sum>>(memory1[slot][quad + 80]);
        total0_3 += bitcast<vec4<Sum>>(memory1[slot][quad + 120]);
        workgroupBarrier();
        total1_0 += bitcast<vec4<Sum>>(memory0[slot][quad]);
        total1_1 += bitcast<vec4<Sum>>(memory0[slot][quad + 40]);
        total1_2 += bitcast<vec4<Sum>>(memory0[slot][quad + 80]);
        total1_3 += bitcast<vec4<Sum>>(memory0[slot][quad + 120]);
        sum0_0 = Result();
        sum0_1 = Result();
        sum1_0 = Result();
        sum1_1 = Result();
      }
      {
        memory1[(line) / 32][(line) % 32 * 5 + atK] = wordA0_0_1;
        let wordB0 = splitWords(wordB0_0_1, wordB0_1_1, scaleB0, scaleB1);
        memory1[columnB + 2][toB] = wordB0.high;
        memory1[(line) / 32][(line) % 32 * 5 + atK + 2] = wordA0_1_1;
        memory1[columnB + 2][toB + 4] = wordB0.low;
      }
      now = first + min(step + 3, STEPS - 1);
      wordA0_0_1 = a[blockA0 + now * 128];
      wordB0_0_1 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
      wordA0_1_1 = a[blockA1 + now * 128];
      wordB0_1_1 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
      workgroupBarrier();
    }
  }

  // The results, through both buffers in turn.
  let firstRow = tile.row + subgroup / 2 * 32;
  let firstCol = tile.col + subgroup % 2 * 32;
  memory0[slot][quad] = bitcast<vec4<u32>>(total0_0);
  memory0[slot][quad + 40] = bitcast<vec4<u32>>(total0_1);
  memory0[slot][quad + 80] = bitcast<vec4<u32>>(total0_2);
  memory0[slot][quad + 120] = bitcast<vec4<u32>>(total0_3);
  workgroupBarrier();
  for (var v = 0u; v < 4; v++) {
    let i = lane + v * 32;
    let row = i / 8;
    let unit = i % 8;
    let sum = bitcast<vec4<Sum>>(memory0[slot][row * 10 + unit]);
    storeScaled(tile.batch, firstRow + row, firstCol + unit * 4, sum);
  }
  memory1[slot][quad] = bitcast<vec4<u32>>(total1_0);
  memory1[slot][quad + 40] = bitcast<vec4<u32>>(total1_1);
  memory1[slot][quad + 80] = bitcast<vec4<u32>>(total1_2);
  memory1[slot][quad + 120] = bitcast<vec4<u32>>(total1_3);
  workgroupBarrier();
  for (var v = 0u; v < 4; v++) {
    let i = lane + v * 32;
    let row = i / 8;
    let unit = i % 8;
    let sum = bitcast<vec4<Sum>>(memory1[slot][row * 10 + unit]);
    storeScaled(tile.batch, firstRow + 16 + row, firstCol + unit * 4, sum);
  }
}
