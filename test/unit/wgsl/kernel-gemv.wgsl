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
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

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

fn storeC(batch: u32, row: u32, col: u32, sum: Sum) {
  if (row < params.m && col < params.n) {
    let index = params.offsetC + batch * params.strideC + row * params.ldc + col;
    var value = sum;
    c[index] = f32(value);
  }
}

struct Tile { valid: bool, batch: u32, slice: u32, row: u32, col: u32 }

fn tileOf(group: vec3u, groups: vec3u) -> Tile {
  let tilesM = (params.m + 0) / 1;
  let tilesN = (params.n + 127) / 128;
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
    (band * 8 + index % bandRows) * 1, index / bandRows * 128,
  );
}

alias WordB = vec4<f32>;

// 4 elements of B that lie side by side, 0 outside of it.
fn wordB(batch: u32, k: u32, col: u32) -> WordB {
  return select(WordB(), b[indexB(batch, k, col) / 4], (k < params.k) & (col < params.n));
}

fn partB0(word: WordB) -> vec4<Sum> { return vec4<Sum>(word); }

alias WordA = vec4<f32>;

// 4 elements of A that lie side by side, 0 outside of it.
fn wordA(batch: u32, row: u32, k: u32) -> WordA {
  return select(WordA(), a[indexA(batch, row, k) / 4], (row < params.m) & (k < params.k));
}

fn partA0(word: WordA) -> vec4<Sum> { return vec4<Sum>(word); }

// A word of the large operand.
fn wordOf(batch: u32, wide: u32, k: u32) -> WordB { return wordB(batch, k, wide); }

// Four elements of the other one along K.
fn fewOf(batch: u32, few: u32, k: u32) -> vec4<Sum> { return partA0(wordA(batch, few, k)); }

fn store(place: Tile, few: u32, wide: u32, sum: Sum) {
  storeC(place.batch, few, wide, sum);
}

const LANES = 8u;             // threads that share K
const ACROSS = 32u;            // threads that stand side by side
const FEW = 1u;
const WIDE = 128u;              // wide cells of the workgroup

var<workgroup> sums: array<array<vec4<Sum>, WIDE / 4>, LANES>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let place = tileOf(group, groups);
  if (!place.valid) { return; }
  let batch = place.batch;
  let firstWide = place.col;
  let start = place.slice * params.depth;
  let end = min(start + params.depth, params.k);
  let lane = thread / ACROSS;
  let x = thread % ACROSS;
  let wide = firstWide + x * 4;
  var sum0_0 = vec4<Sum>();

  for (var base = start; base < end; base += 4 * LANES) {
    // Past the end of the slice, lanes read at the end of K, which gives 0.
    let at = base + 4 * lane;
    let k = select(params.k, at, at < end);
    let word0 = wordOf(batch, wide, k + 0);
    let word1 = wordOf(batch, wide, k + 1);
    let word2 = wordOf(batch, wide, k + 2);
    let word3 = wordOf(batch, wide, k + 3);
    let few0_0 = fewOf(batch, 0, k);
    let part0_0 = partB0(word0);
    sum0_0 += few0_0[0] * part0_0;
    let part1_0 = partB0(word1);
    sum0_0 += few0_0[1] * part1_0;
    let part2_0 = partB0(word2);
    sum0_0 += few0_0[2] * part2_0;
    let part3_0 = partB0(word3);
    sum0_0 += few0_0[3] * part3_0;
  }

  var all = array(sum0_0);
  for (var few = 0u; few < FEW; few++) {
    sums[lane][x * 1 + 0] = all[few * 1 + 0];
    workgroupBarrier();
    if (thread < WIDE) {
      var sum = Sum();
      for (var i = 0u; i < LANES; i++) { sum += sums[i][thread / 4][thread % 4]; }
      store(place, few, firstWide + thread, sum);
    }
    workgroupBarrier();
  }
}
