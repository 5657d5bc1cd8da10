
enable chromium_experimental_subgroup_matrix;
enable subgroups;
enable f16;

alias Input = f16;
alias Output = f32;
// The matrices of the matrix unit. The type of a matrix names its columns before its rows.
const M = 16u;
const N = 16u;
const K = 16u;
alias Left = subgroup_matrix_left<Input, K, M>;
alias Right = subgroup_matrix_right<Input, N, K>;
alias Result = subgroup_matrix_result<Output, N, M>;

const THREADS = 128u;            // four subgroups of 32 lanes
const ROWS = 4 * M;              // the tile of C that a workgroup makes
const COLS = 4 * N;
const STEP = 32u;                // of K, through workgroup memory
// True where the shape is not a multiple of the tile: then loads and stores are guarded.
const EDGES = true;

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<Input>;
@group(0) @binding(2) var<storage, read> b: array<Input>;
@group(0) @binding(3) var<storage, read_write> c: array<Output>;

var<workgroup> tileA: array<Input, ROWS * STEP>;
var<workgroup> tileB: array<Input, STEP * COLS>;
var<workgroup> tileC: array<Output, ROWS * COLS>;

fn loadA(row: u32, k: u32) -> Input {
  let inside = !EDGES | ((row < shape.m) & (k < shape.k));
  return select(Input(), a[row * shape.k + k], inside);
}

fn loadB(k: u32, col: u32) -> Input {
  let inside = !EDGES | ((k < shape.k) & (col < shape.n));
  return select(Input(), b[k * shape.n + col], inside);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let firstRow = group.y * ROWS;
  let firstCol = group.x * COLS;
  // This subgroup's part of the tile.
  let row = subgroup / 2 * 2 * M;
  let col = subgroup % 2 * 2 * N;
  var result00: Result;
  var result01: Result;
  var result10: Result;
  var result11: Result;

  for (var start = 0u; start < shape.k; start += STEP) {
    for (var i = thread; i < ROWS * STEP; i += THREADS) {
      tileA[i] = loadA(firstRow + i / STEP, start + i % STEP);
    }
    for (var i = thread; i < STEP * COLS; i += THREADS) {
      tileB[i] = loadB(start + i / COLS, firstCol + i % COLS);
    }
    workgroupBarrier();
    for (var k = 0u; k < STEP; k += K) {
      let left0 = subgroupMatrixLoad<Left, row_major>(&tileA, row * STEP + k, STEP);
      let left1 = subgroupMatrixLoad<Left, row_major>(&tileA, (row + M) * STEP + k, STEP);
      let right0 = subgroupMatrixLoad<Right, row_major>(&tileB, k * COLS + col, COLS);
      let right1 = subgroupMatrixLoad<Right, row_major>(&tileB, k * COLS + col + N, COLS);
      result00 = subgroupMatrixMultiplyAccumulate(left0, right0, result00);
      result01 = subgroupMatrixMultiplyAccumulate(left0, right1, result01);
      result10 = subgroupMatrixMultiplyAccumulate(left1, right0, result10);
      result11 = subgroupMatrixMultiplyAccumulate(left1, right1, result11);
    }
    workgroupBarrier();
  }

  subgroupMatrixStore<row_major>(&tileC, row * COLS + col, result00, COLS);
  subgroupMatrixStore<row_major>(&tileC, row * COLS + col + N, result01, COLS);
  subgroupMatrixStore<row_major>(&tileC, (row + M) * COLS + col, result10, COLS);
  subgroupMatrixStore<row_major>(&tileC, (row + M) * COLS + col + N, result11, COLS);
  workgroupBarrier();
  for (var i = thread; i < ROWS * COLS; i += THREADS) {
    let y = firstRow + i / COLS;
    let x = firstCol + i % COLS;
    if (!EDGES || (y < shape.m && x < shape.n)) {
      c[y * shape.n + x] = tileC[i];
    }
  }
}
