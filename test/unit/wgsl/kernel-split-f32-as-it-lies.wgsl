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

alias Cells = vec4<f32>;

fn plainSum(batch: u32, row: u32, col: u32) -> f32 {
  let fromA = indexA(batch, row, 0);
  let fromB = indexB(batch, 0, col);
  var sum = 0.0;
  for (var k = 0u; k < params.k; k++) {
    sum += bitcast<f32>(a[(fromA + k) / 4][(fromA + k) % 4]) * bitcast<f32>(b[(fromB + k * params.ldb) / 4][(fromB + k * params.ldb) % 4]);
  }
  return sum;
}

// What the elements that were left out contribute to a cell, if its row and column are not marked.
fn ofLarge(batch: u32, row: u32, col: u32) -> f32 {
  let fromA = indexA(batch, row, 0);
  let fromB = indexB(batch, 0, col);
  let count = min(atomicLoad(&larges), 64u);
  var sum = 0.0;
  var first = 0u;
  loop {
    var k = 0xffffffffu;
    for (var i = 0u; i < count; i++) {
      let own = large[i].x == row % BM || large[i].x == BM + col % BN;
      if (own && large[i].y >= first) { k = min(k, large[i].y); }
    }
    if (k == 0xffffffffu) { break; }
    sum += bitcast<f32>(a[(fromA + k) / 4][(fromA + k) % 4]) * bitcast<f32>(b[(fromB + k * params.ldb) / 4][(fromB + k * params.ldb) % 4]);
    first = k + 1;
  }
  return sum;
}

// 1 / scale, exactly.
fn inverse(scale: Cells) -> Cells { return bitcast<Cells>((254u << 23) - bitcast<vec4<u32>>(scale)); }

fn storeScaled(batch: u32, row: u32, col: u32, sum: Cells) {
  if (row >= params.m || col >= params.n) { return; }
  let scaleA = Cells(scaleOfLine(row % BM));
  let scaleB = Cells(
    scaleOfLine(col % BN + 64), scaleOfLine((col + 1) % BN + 64),
    scaleOfLine((col + 2) % BN + 64), scaleOfLine((col + 3) % BN + 64),
  );
  // The smaller factor first: the other way round, the product could overflow on its way.
  let one = inverse(scaleA);
  let other = inverse(scaleB);
  var value = sum * min(one, other) * max(one, other);
  if (atomicLoad(&larges) > 0) {
    for (var j = 0u; j < 4; j++) { value[j] += ofLarge(batch, row, col + j); }
  }
  let marked = (scaleA == Cells()) | (scaleB == Cells());
  if (any(marked)) {
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

// Two buffers of slices of A and, behind them, of B.
var<workgroup> memory0: array<array<Word, 96>, 8>;
var<workgroup> memory1: array<array<Word, 96>, 8>;

struct Halves { high: vec2<u32>, low: vec2<u32> }

fn halves(x: vec4f) -> Halves {
  let high = bitcast<vec4f>((bitcast<vec4<u32>>(x) + vec4(0x1000u)) & vec4(0xffffe000u));
  let low = x - high;
  return Halves(
    vec2(pack2x16float(high.xy), pack2x16float(high.zw)),
    vec2(pack2x16float(low.xy), pack2x16float(low.zw)),
  );
}

struct Eight { x: vec4f, y: vec4f }
struct Parts { high: vec4<u32>, low: vec4<u32> }

fn split(word: Eight) -> Parts {
  let first = halves(word.x);
  let second = halves(word.y);
  return Parts(vec4(first.high, second.high), vec4(first.low, second.low));
}

// What is known of each row of A in the tile and, behind them, of each column of B: the largest magnitude in the first steps,
// later with HAS_LARGE; if it is 0, GUESSED with the largest one behind them, times the guessed scale; or MARKED.
var<workgroup> known: array<atomic<u32>, 128>;
const HAS_LARGE = 1u;
const GUESSED = 0x80000000u;
const MARKED = 0xffffffffu;
const GUESS = 0x1p9f;

// Elements too large for their line's scale, as many as there is room for: the line, and K.
var<workgroup> large: array<vec2<u32>, 64>;
var<workgroup> larges: atomic<u32>;
const TOO_LARGE = 0x47000000u;         // 2^15
const INFINITE = 0x7f800000u;

// Bits of magnitudes compare like the magnitudes, infinity and NaN above all numbers.
fn magnitude(x: vec4<u32>) -> vec4<u32> { return x & vec4(0x7fffffffu); }
fn largest(x: vec4<u32>) -> u32 { return max(max(x.x, x.y), max(x.z, x.w)); }

fn lookAt(line: u32, most: u32) { atomicMax(&known[line], most & ~HAS_LARGE); }

fn lookAtFour(first: u32, most: vec4<u32>) {
  for (var i = 0u; i < 4; i++) { lookAt(first + i, most[i]); }
}

fn isGuessed(line: u32) -> bool { return atomicLoad(&known[line]) == 0; }

fn anyGuessed(first: u32) -> bool {
  var any = false;
  for (var i = 0u; i < 8; i++) { any |= isGuessed(first + i); }
  return any;
}

fn scaleFor(most: u32) -> f32 {
  // 2^(7 - e) for a largest element of 2^e and more; not so large that its inverse were a subnormal number.
  let scale = bitcast<f32>(min(261 - (most >> 23), 253u) << 23);
  return select(select(scale, 1.0, most == 0), 0.0, most >= 0x7f800000u);
}

// 0 for a marked line.
fn scaleOfLine(line: u32) -> f32 {
  let most = atomicLoad(&known[line]);
  if (most > 0 && most < GUESSED) {
    let unserved = (most & HAS_LARGE) > 0 && atomicLoad(&larges) > 64;
    return select(scaleFor(most), 0.0, unserved);
  }
  let served = most == 0 || most == GUESSED || (most != MARKED && most - GUESSED >= bitcast<u32>(1.0));
  return select(0.0, GUESS, served);
}

fn scalesOfFour(first: u32) -> vec4f {
  return vec4f(scaleOfLine(first), scaleOfLine(first + 1), scaleOfLine(first + 2), scaleOfLine(first + 3));
}

// Whether one of the elements may be too large, or is none.
fn isLarge(word: Eight) -> bool {
  let both = abs(word.x) + abs(word.y);
  return bitcast<u32>(both.x + both.y + both.z + both.w) >= TOO_LARGE;
}

// 0 in place of elements that are too large.
fn withoutLarge(word: Eight) -> Eight {
  let fitX = magnitude(bitcast<vec4<u32>>(word.x)) < vec4(TOO_LARGE);
  let fitY = magnitude(bitcast<vec4<u32>>(word.y)) < vec4(TOO_LARGE);
  return Eight(select(vec4f(), word.x, fitX), select(vec4f(), word.y, fitY));
}

// Notes an element if it is too large or, where its line's scale is guessed, that it is there.
fn note(x: f32, line: u32, k: u32) {
  let most = bitcast<u32>(x) & 0x7fffffff;
  let fits = most < TOO_LARGE;
  let before = atomicLoad(&known[line]);
  if (before == 0 || before >= GUESSED) {
    atomicMax(&known[line], select(MARKED, GUESSED | most, fits));
  } else if (!fits && before < INFINITE) {
    atomicOr(&known[line], HAS_LARGE);
    let place = atomicAdd(&larges, 1);
    if (place < 64) { large[place] = vec2(line, k); }
  }
}

// Of a line, eight elements along K.
fn noteAlong(word: Eight, line: u32, k: u32) {
  for (var i = 0u; i < 4; i++) {
    note(word.x[i], line, k + i);
    note(word.y[i], line, k + 4 + i);
  }
}

// Of eight lines, an element each.
fn noteAcross(word: Eight, line: u32, k: u32) {
  for (var i = 0u; i < 4; i++) {
    note(word.x[i], line + i, k);
    note(word.y[i], line + 4 + i, k);
  }
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
  let slot = subgroup * 2;
  let quad = spread(lane / 4) * 6 + lane % 4;

  // Along K, this thread fetches word atK of its line and of every 64th line below. Eight neighbouring threads
  // take eight lines, so that their stores fall into different banks.
  let line = thread / 16 * 8 + thread % 8;
  let atK = thread / 8 % 2;
  let fromA = (params.offsetA + tile.batch * params.strideA) / 4 + atK * 2 + (tile.row + line) * 128;
  // Of B, it fetches column atB of words, in row rowB and every 16th row below.
  let rowB = thread / 8;
  let atB = thread % 8;
  let columnB = atB / 4;
  let toB = rowB * 5 + atB % 4;
  let colB = tile.col / WORD + atB;
  let fromB = (params.offsetB + tile.batch * params.strideB) / 4 + rowB * 128 + colB * 2;
  var sum0_0: Result;
  var sum0_1: Result;
  var sum1_0: Result;
  var sum1_1: Result;
  var total0_0 = vec4<Sum>();
  var total0_1 = vec4<Sum>();
  var total1_0 = vec4<Sum>();
  var total1_1 = vec4<Sum>();
  var total2_0 = vec4<Sum>();
  var total2_1 = vec4<Sum>();
  var total3_0 = vec4<Sum>();
  var total3_1 = vec4<Sum>();
  let first = tile.slice * STEPS;
  var now: u32;
  now = first + STEPS - 2;
  let wordA0_0_last = select(Word(), a[fromA + now * 4], now * 2 + atK < params.k / 8);
  let wordB0_0_last = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
  let wordA0_1_last = select(Word(), a[fromA + 1 + now * 4], now * 2 + atK < params.k / 8);
  let wordB0_1_last = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
  now = first + STEPS - 1;
  let wordA0_0_end = select(Word(), a[fromA + now * 4], now * 2 + atK < params.k / 8);
  let wordB0_0_end = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
  let wordA0_1_end = select(Word(), a[fromA + 1 + now * 4], now * 2 + atK < params.k / 8);
  let wordB0_1_end = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
  now = first + 0;
  var wordA0_0_0 = select(Word(), a[fromA + now * 4], now * 2 + atK < params.k / 8);
  var wordB0_0_0 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
  var wordA0_1_0 = select(Word(), a[fromA + 1 + now * 4], now * 2 + atK < params.k / 8);
  var wordB0_1_0 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
  now = first + 1;
  var wordA0_0_1 = select(Word(), a[fromA + now * 4], now * 2 + atK < params.k / 8);
  var wordB0_0_1 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
  var wordA0_1_1 = select(Word(), a[fromA + 1 + now * 4], now * 2 + atK < params.k / 8);
  var wordB0_1_1 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
  var mostA0 = magnitude(wordA0_0_last);
  mostA0 = max(mostA0, magnitude(wordA0_1_last));
  mostA0 = max(mostA0, magnitude(wordA0_0_end));
  mostA0 = max(mostA0, magnitude(wordA0_1_end));
  mostA0 = max(mostA0, magnitude(wordA0_0_0));
  mostA0 = max(mostA0, magnitude(wordA0_1_0));
  mostA0 = max(mostA0, magnitude(wordA0_0_1));
  mostA0 = max(mostA0, magnitude(wordA0_1_1));
  lookAt(line, largest(mostA0));
  var mostB0 = magnitude(wordB0_0_last);
  mostB0 = max(mostB0, magnitude(wordB0_0_end));
  mostB0 = max(mostB0, magnitude(wordB0_0_0));
  mostB0 = max(mostB0, magnitude(wordB0_0_1));
  lookAtFour(atB * WORD + 64, mostB0);
  var mostB1 = magnitude(wordB0_1_last);
  mostB1 = max(mostB1, magnitude(wordB0_1_end));
  mostB1 = max(mostB1, magnitude(wordB0_1_0));
  mostB1 = max(mostB1, magnitude(wordB0_1_1));
  lookAtFour(atB * WORD + 4 + 64, mostB1);
  workgroupBarrier();
  let scaleA0 = vec4(scaleOfLine(line));
  var strangeA = isGuessed(line);
  let scaleB0 = scalesOfFour(atB * WORD + 64);
  let scaleB1 = scalesOfFour(atB * WORD + 4 + 64);
  var strangeB = anyGuessed(atB * WORD + 64);
  workgroupBarrier();
  {
    var scaledA0 = Eight(bitcast<vec4f>(wordA0_0_last) * scaleA0, bitcast<vec4f>(wordA0_1_last) * scaleA0);
    if (isLarge(scaledA0)) { scaledA0 = withoutLarge(scaledA0); strangeA = true; }
    let wordA0 = split(scaledA0);
    memory0[(line) / 32][(line) % 32 * 3 + atK] = wordA0.high;
    var scaledB0 = Eight(bitcast<vec4f>(wordB0_0_last) * scaleB0, bitcast<vec4f>(wordB0_1_last) * scaleB1);
    if (isLarge(scaledB0)) { scaledB0 = withoutLarge(scaledB0); strangeB = true; }
    let wordB0 = split(scaledB0);
    memory0[columnB + 4][toB] = wordB0.high;
    memory0[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordA0.low;
    memory0[columnB + 6][toB] = wordB0.low;
  }
  {
    var scaledA0 = Eight(bitcast<vec4f>(wordA0_0_end) * scaleA0, bitcast<vec4f>(wordA0_1_end) * scaleA0);
    if (isLarge(scaledA0)) { scaledA0 = withoutLarge(scaledA0); strangeA = true; }
    let wordA0 = split(scaledA0);
    memory1[(line) / 32][(line) % 32 * 3 + atK] = wordA0.high;
    var scaledB0 = Eight(bitcast<vec4f>(wordB0_0_end) * scaleB0, bitcast<vec4f>(wordB0_1_end) * scaleB1);
    if (isLarge(scaledB0)) { scaledB0 = withoutLarge(scaledB0); strangeB = true; }
    let wordB0 = split(scaledB0);
    memory1[columnB + 4][toB] = wordB0.high;
    memory1[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordA0.low;
    memory1[columnB + 6][toB] = wordB0.low;
  }
  workgroupBarrier();
  var evenA00: Left;
  var evenA10: Left;
  var evenB00: Right;
  var evenB10: Right;
  var evenA01: Left;
  var evenA11: Left;
  var evenB01: Right;
  var evenB11: Right;
  evenA00 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 0, 3);
  evenA10 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 48, 3);
  evenB00 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 4], 0, 5);
  evenB10 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 4], 2, 5);
  evenA01 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA + 2], 0, 3);
  evenA11 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA + 2], 48, 3);
  evenB01 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 6], 0, 5);
  evenB11 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 6], 2, 5);
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
      oddA00 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA], 0, 3);
      oddA10 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA], 48, 3);
      oddB00 = subgroupMatrixLoad<Right, row_major>(&memory1[sliceB + 4], 0, 5);
      oddB10 = subgroupMatrixLoad<Right, row_major>(&memory1[sliceB + 4], 2, 5);
      oddA01 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA + 2], 0, 3);
      oddA11 = subgroupMatrixLoad<Left, row_major>(&memory1[sliceA + 2], 48, 3);
      oddB01 = subgroupMatrixLoad<Right, row_major>(&memory1[sliceB + 6], 0, 5);
      oddB11 = subgroupMatrixLoad<Right, row_major>(&memory1[sliceB + 6], 2, 5);
      {
        var scaledA0 = Eight(bitcast<vec4f>(wordA0_0_0) * scaleA0, bitcast<vec4f>(wordA0_1_0) * scaleA0);
        if (isLarge(scaledA0)) { scaledA0 = withoutLarge(scaledA0); strangeA = true; }
        let wordA0 = split(scaledA0);
        memory0[(line) / 32][(line) % 32 * 3 + atK] = wordA0.high;
        var scaledB0 = Eight(bitcast<vec4f>(wordB0_0_0) * scaleB0, bitcast<vec4f>(wordB0_1_0) * scaleB1);
        if (isLarge(scaledB0)) { scaledB0 = withoutLarge(scaledB0); strangeB = true; }
        let wordB0 = split(scaledB0);
        memory0[columnB + 4][toB] = wordB0.high;
        memory0[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordA0.low;
        memory0[columnB + 6][toB] = wordB0.low;
      }
      now = first + min(step + 2, STEPS - 1);
      wordA0_0_0 = select(Word(), a[fromA + now * 4], now * 2 + atK < params.k / 8);
      wordB0_0_0 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
      wordA0_1_0 = select(Word(), a[fromA + 1 + now * 4], now * 2 + atK < params.k / 8);
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
      evenA00 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 0, 3);
      evenA10 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA], 48, 3);
      evenB00 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 4], 0, 5);
      evenB10 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 4], 2, 5);
      evenA01 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA + 2], 0, 3);
      evenA11 = subgroupMatrixLoad<Left, row_major>(&memory0[sliceA + 2], 48, 3);
      evenB01 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 6], 0, 5);
      evenB11 = subgroupMatrixLoad<Right, row_major>(&memory0[sliceB + 6], 2, 5);
      {
        var scaledA0 = Eight(bitcast<vec4f>(wordA0_0_1) * scaleA0, bitcast<vec4f>(wordA0_1_1) * scaleA0);
        if (isLarge(scaledA0)) { scaledA0 = withoutLarge(scaledA0); strangeA = true; }
        let wordA0 = split(scaledA0);
        memory1[(line) / 32][(line) % 32 * 3 + atK] = wordA0.high;
        var scaledB0 = Eight(bitcast<vec4f>(wordB0_0_1) * scaleB0, bitcast<vec4f>(wordB0_1_1) * scaleB1);
        if (isLarge(scaledB0)) { scaledB0 = withoutLarge(scaledB0); strangeB = true; }
        let wordB0 = split(scaledB0);
        memory1[columnB + 4][toB] = wordB0.high;
        memory1[(line) / 32 + 2][(line) % 32 * 3 + atK] = wordA0.low;
        memory1[columnB + 6][toB] = wordB0.low;
      }
      now = first + min(step + 3, STEPS - 1);
      wordA0_0_1 = select(Word(), a[fromA + now * 4], now * 2 + atK < params.k / 8);
      wordB0_0_1 = select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k);
      wordA0_1_1 = select(Word(), a[fromA + 1 + now * 4], now * 2 + atK < params.k / 8);
      wordB0_1_1 = select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k);
      workgroupBarrier();
    }
    // Into f32 registers, before the matrix units have truncated too much.
    subgroupMatrixStore<row_major>(&memory0[slot], 0, sum0_0, 6);
    subgroupMatrixStore<row_major>(&memory0[slot + 1], 0, sum0_1, 6);
    workgroupBarrier();
    total0_0 += bitcast<vec4<Sum>>(memory0[slot][quad]);
    total0_1 += bitcast<vec4<Sum>>(memory0[slot][quad + 48]);
    total1_0 += bitcast<vec4<Sum>>(memory0[slot + 1][quad]);
    total1_1 += bitcast<vec4<Sum>>(memory0[slot + 1][quad + 48]);
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&memory0[slot], 0, sum1_0, 6);
    subgroupMatrixStore<row_major>(&memory0[slot + 1], 0, sum1_1, 6);
    workgroupBarrier();
    total2_0 += bitcast<vec4<Sum>>(memory0[slot][quad]);
    total2_1 += bitcast<vec4<Sum>>(memory0[slot][quad + 48]);
    total3_0 += bitcast<vec4<Sum>>(memory0[slot + 1][quad]);
    total3_1 += bitcast<vec4<Sum>>(memory0[slot + 1][quad + 48]);
    sum0_0 = Result();
    sum0_1 = Result();
    sum1_0 = Result();
    sum1_1 = Result();
    workgroupBarrier();
  }

  // The results, through both buffers in turn.
  let firstRow = tile.row + subgroup / 2 * 32;
  let firstCol = tile.col + subgroup % 2 * 32;
  // What was left out of A is looked for.
  if (strangeA) {
    for (now = first; now < first + STEPS; now++) {
      noteAlong(Eight(bitcast<vec4f>(select(Word(), a[fromA + now * 4], now * 2 + atK < params.k / 8)) * scaleA0, bitcast<vec4f>(select(Word(), a[fromA + 1 + now * 4], now * 2 + atK < params.k / 8)) * scaleA0), line, now * BK + atK * WORD);
    }
  }
  // What was left out of B is looked for.
  if (strangeB) {
    for (now = first; now < first + STEPS; now++) {
      noteAcross(Eight(bitcast<vec4f>(select(Word(), b[fromB + now * 2048], now * BK + rowB < params.k)) * scaleB0, bitcast<vec4f>(select(Word(), b[fromB + 1 + now * 2048], now * BK + rowB < params.k)) * scaleB1), atB * WORD + 64, now * BK + rowB);
    }
  }
  memory0[slot][quad] = bitcast<vec4<u32>>(total0_0);
  memory0[slot][quad + 48] = bitcast<vec4<u32>>(total0_1);
  memory0[slot + 1][quad] = bitcast<vec4<u32>>(total1_0);
  memory0[slot + 1][quad + 48] = bitcast<vec4<u32>>(total1_1);
  workgroupBarrier();
  for (var v = 0u; v < 4; v++) {
    let i = lane + v * 32;
    let place = i / 64;
    let block = place;
    let row = spread(i % 64 / 4);
    let unit = i % 4;
    let sum = bitcast<vec4<Sum>>(memory0[slot + place][row * 6 + unit]);
    storeScaled(tile.batch, firstRow + block / 2 * 16 + row, firstCol + block % 2 * 16 + unit * 4, sum);
  }
  memory1[slot][quad] = bitcast<vec4<u32>>(total2_0);
  memory1[slot][quad + 48] = bitcast<vec4<u32>>(total2_1);
  memory1[slot + 1][quad] = bitcast<vec4<u32>>(total3_0);
  memory1[slot + 1][quad + 48] = bitcast<vec4<u32>>(total3_1);
  workgroupBarrier();
  for (var v = 0u; v < 4; v++) {
    let i = lane + v * 32;
    let place = i / 64;
    let block = place + 2;
    let row = spread(i % 64 / 4);
    let unit = i % 4;
    let sum = bitcast<vec4<Sum>>(memory1[slot + place][row * 6 + unit]);
    storeScaled(tile.batch, firstRow + block / 2 * 16 + row, firstCol + block % 2 * 16 + unit * 4, sum);
  }
}
