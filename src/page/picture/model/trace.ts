/**
 * What the threads of one workgroup do with memory, found by doing it: a mapping (rungs.ts) says for one thread what
 * the kernel's WGSL says, all threads are run in step, and memory holds, instead of numbers, which cell of A, B or C a
 * number would be. So what a step reads is not told to the picture but comes out of the run, and a wrong index shows as
 * a wrong product. test/gpu/picture.test.ts holds every access against what the kernel itself does on a GPU.
 */
import type { Shape } from '../../../ladder/rung.ts';

/** An array that a kernel declares, as the picture needs it. */
export interface MemoryArray {
  /** `lanes`: registers of a subgroup that its lanes read from each other. */
  readonly memory: 'global' | 'workgroup' | 'lanes';
  /** The matrix whose cells it holds; where it has sections, that of the first. */
  readonly operand: 'A' | 'B' | 'C';
  /** What the picture calls it, beside its name. */
  readonly label?: string;
  /** Bytes of a number. */
  readonly bytes: number;
  /** Numbers that one index of the array stands for: 4 in an array of vec4. */
  readonly vector: number;
  /** Indices from the beginning of a row to that of the next. */
  readonly line: number;
  readonly rows: number;
  /** Numbers in a row as it is drawn, where that is not a row of the array. */
  readonly drawn?: number;
  /** Of an array that holds more than one matrix, what comes after what; drawn side by side. */
  readonly sections?: readonly Section[];
  /** Whether its rows are the matrix's columns. */
  readonly transposed?: boolean;
  /** Where it does not hold the matrix row by row: the cell that a number of the array is. */
  readonly cell?: (number: number) => number;
}

/** Rows of an array that hold one matrix, or a part of it. */
export interface Section {
  readonly operand: MemoryArray['operand'];
  readonly label: string;
  readonly first: number;
  readonly rows: number;
  /** Numbers in a row as it is drawn. */
  readonly drawn: number;
}

/** An array's sections; one where it holds nothing but one matrix. */
export const sectionsOf = (array: MemoryArray): readonly Section[] => {
  const { sections, operand, rows, line, vector, drawn = line * vector } = array;
  return sections ?? [{ operand, label: '', first: 0, rows, drawn }];
};

/** The matrix whose cells lie at an index of an array. */
function operandAt({ operand, sections, line }: MemoryArray, at: number): MemoryArray['operand'] {
  return sections?.findLast(({ first }) => at >= first * line)?.operand ?? operand;
}

/** The cell that a number of an array in global memory is; -1 behind its end. */
export function cellOf(
  { operand, line, vector, rows, transposed, cell }: MemoryArray,
  shape: Shape,
  number: number,
): number {
  if (cell) return cell(number);
  if (!transposed) return number < rows * line * vector ? number : -1;
  const length = line * vector;
  return (number % length) * columnsOf(operand, shape) + Math.floor(number / length);
}

/** Columns of a matrix: cells are counted along rows. */
export const columnsOf = (operand: MemoryArray['operand'], { n, k }: Shape): number =>
  operand === 'A' ? k : n;

/** One load or store, done by all threads of the workgroup at once. */
export interface Instruction {
  readonly array: string;
  readonly how: 'read' | 'write';
  /** The matrix whose cells these are. */
  readonly operand: MemoryArray['operand'];
  /** The array's index, for each thread; -1 for one that takes no part. */
  readonly at: Int32Array;
  /** For each thread the cells of the operand that it moves, `width` of them, counted along rows. */
  readonly cells: Int32Array;
  readonly width: number;
  /** Of a subgroup's load or store of a whole matrix: its lanes do it together, from one index on. */
  readonly matrix?: MatrixAccess;
}

/** A matrix whose rows, or columns, lie `stride` indices apart. */
export interface MatrixAccess {
  readonly rows: number;
  readonly cols: number;
  readonly stride: number;
  readonly major: 'rows' | 'columns';
}

/** The number of its array that each number of a matrix is, row by row, where the matrix begins at an index. */
export function placesIn(
  { rows, cols, stride, major }: MatrixAccess,
  at: number,
  vector: number,
): Int32Array {
  return Int32Array.from({ length: rows * cols }, (_, i) => {
    const [row, col] = [Math.floor(i / cols), i % cols];
    const [line, inLine] = major === 'rows' ? [row, col] : [col, row];
    return (at + line * stride) * vector + inLine;
  });
}

/**
 * `fetch`: global memory is read, to be kept. `stage`: what was fetched goes into workgroup memory. `load`: from there into
 * matrices, where that is not done with the multiplication.
 */
export type StepKind = 'fetch' | 'stage' | 'load' | 'multiply' | 'store';

export interface Step {
  readonly kind: StepKind;
  /** The part of K that it is about, as from ≤ k < to. */
  readonly from: number;
  readonly to: number;
  readonly instructions: readonly Instruction[];
  /** Multiply-adds of the whole workgroup in this step. */
  readonly products: number;
}

/** How a kernel lays one workgroup's work over its threads and memory. */
export interface Mapping {
  readonly threads: number;
  /** Threads along x, as in `@workgroup_size(side, …)`. */
  readonly side: number;
  readonly lanes: number;
  readonly arrays: Readonly<Record<string, MemoryArray>>;
  /** Bytes of workgroup memory beside these, which hold no cells; none where it is left out. */
  readonly undrawn?: number;
  /** Cells of C that a workgroup makes, and what it takes of K at a time: the shape has to be multiples of these. */
  readonly tile: Shape;
  /** How much of K it takes to see all that is done, where two of the tile's do not. */
  readonly depth?: number;
  /** Whether cells of C are made by a subgroup's lanes together. */
  readonly together?: boolean;
  /** Products that are summed for one of C = A·B; 1 where it is left out. */
  readonly products?: number;
  /** What one thread does; it yields where it waits for the others. */
  readonly main: (thread: Thread) => Iterable<void>;
  /** The workgroup that makes the tile at this row and column of tiles, as `workgroup_id`. */
  readonly groupOf: (tileRow: number, tileCol: number) => readonly [x: number, y: number];
}

export interface Trace {
  readonly shape: Shape;
  readonly mapping: Mapping;
  readonly group: readonly [x: number, y: number];
  readonly steps: readonly Step[];
  /** The same with those that fetch what lies past the end of K, and is not used. */
  readonly all: readonly Step[];
  /** For each cell of C the thread that makes it (of a subgroup that makes it together, its first), or -1. */
  readonly makers: Int32Array;
}

/** Told of every multiply-add: the cells of C, A and B. */
export type OnProduct = (c: number, a: number, b: number) => void;

interface OpenInstruction extends Instruction {
  readonly at: Int32Array;
}
interface OpenStep extends Step {
  readonly instructions: OpenInstruction[];
  products: number;
}

/** Where threads leave what others see. */
class Machine {
  readonly steps: OpenStep[] = [];
  readonly contents: Record<string, Int32Array> = {};
  readonly makers: Int32Array;
  readonly group: readonly [x: number, y: number];

  constructor(
    readonly mapping: Mapping,
    readonly shape: Shape,
    readonly tileRow: number,
    readonly tileCol: number,
    readonly onProduct: OnProduct | undefined,
  ) {
    this.group = mapping.groupOf(tileRow, tileCol);
    this.makers = new Int32Array(shape.m * shape.n).fill(-1);
    for (const [name, { memory, rows, line, vector }] of Object.entries(mapping.arrays)) {
      const copies = memory === 'lanes' ? Math.ceil(mapping.threads / mapping.lanes) : 1;
      if (memory !== 'global') this.contents[name] = new Int32Array(copies * rows * line * vector).fill(-1);
    }
  }

  /** The cells that lie at an index of an array. */
  cellsAt(name: string, at: number): Int32Array {
    const array = this.mapping.arrays[name];
    const { memory, vector } = array;
    const first = at * vector;
    if (memory !== 'global') return this.contents[name].slice(first, first + vector);
    const cells = new Int32Array(vector);
    for (let i = 0; i < vector; i++) cells[i] = cellOf(array, this.shape, first + i);
    return cells;
  }
}

/** One thread at work. Its numbers have WGSL's names. */
export class Thread {
  readonly x: number;
  readonly y: number;
  readonly lane: number;
  readonly subgroup: number;
  readonly group: readonly [x: number, y: number];
  /** Which tile of C the workgroup makes, counted in tiles. */
  readonly tileRow: number;
  readonly tileCol: number;
  readonly shape: Shape;
  readonly #machine: Machine;
  #step = -1;
  #instruction = 0;

  constructor(
    machine: Machine,
    /** `local_invocation_index` */
    readonly index: number,
  ) {
    const { side, lanes } = machine.mapping;
    this.#machine = machine;
    this.group = machine.group;
    [this.tileRow, this.tileCol] = [machine.tileRow, machine.tileCol];
    this.shape = machine.shape;
    [this.x, this.y] = [index % side, Math.floor(index / side)];
    [this.lane, this.subgroup] = [index % lanes, Math.floor(index / lanes)];
  }

  /** Threads of the workgroup. */
  get threads(): number {
    return this.#machine.mapping.threads;
  }

  /** Begins the next step; all threads begin the same ones. */
  step(kind: StepKind, from = 0, to = this.shape.k): void {
    this.#step++;
    this.#instruction = 0;
    this.#machine.steps[this.#step] ??= { kind, from, to, instructions: [], products: 0 };
  }

  /** Reads an array at an index; -1 to take no part. Returns the cells that it got. */
  read(array: string, at: number): Int32Array {
    const cells = at < 0 ? new Int32Array() : this.#machine.cellsAt(array, at);
    this.#record(array, 'read', at, cells, this.#machine.mapping.arrays[array].vector);
    return cells;
  }

  /** Writes cells to an index of an array; -1 to take no part. */
  write(array: string, at: number, cells: ArrayLike<number>): void {
    const { memory, vector } = this.#machine.mapping.arrays[array];
    if (at >= 0 && memory !== 'global') this.#machine.contents[array].set(cells, at * vector);
    this.#record(array, 'write', at, cells, vector);
  }

  /** With all lanes of the subgroup: a matrix whose rows, or columns, lie `stride` indices apart, from index `at` on. */
  readMatrix(
    array: string,
    at: number,
    rows: number,
    cols: number,
    stride: number,
    major: MatrixAccess['major'] = 'rows',
  ): Int32Array {
    const matrix = { rows, cols, stride, major };
    const { vector } = this.#machine.mapping.arrays[array];
    const contents = this.#machine.contents[array];
    const cells = this.#ofFirstLane(at, rows * cols) ?? placesIn(matrix, at, vector).map(it => contents[it]);
    this.#record(array, 'read', at, cells, rows * cols, matrix);
    return cells;
  }

  writeMatrix(array: string, at: number, cells: Int32Array, cols: number, stride: number): void {
    const matrix = { rows: cells.length / cols, cols, stride, major: 'rows' } as const;
    const { vector } = this.#machine.mapping.arrays[array];
    const contents = this.#machine.contents[array];
    if (!this.#ofFirstLane(at, cells.length)) {
      placesIn(matrix, at, vector).forEach((place, i) => {
        contents[place] = cells[i];
      });
    }
    this.#record(array, 'write', at, cells, cells.length, matrix);
  }

  /** c += a·b */
  multiply(c: number, a: number, b: number): void {
    this.#machine.makers[c] = this.index;
    this.#machine.steps[this.#step].products++;
    this.#machine.onProduct?.(c, a, b);
  }

  /** With all lanes of the subgroup: adds a product of matrices to the result whose cells `cellsOfC` gives. */
  multiplyMatrices(cellsOfC: () => Int32Array, a: Int32Array, b: Int32Array, inner: number): void {
    if (this.lane > 0) return;
    const c = cellsOfC();
    const cols = b.length / inner;
    for (let i = 0; i < c.length; i++) {
      const [row, col] = [Math.floor(i / cols), i % cols];
      for (let k = 0; k < inner; k++) this.multiply(c[i], a[row * inner + k], b[k * cols + col]);
    }
  }

  /** The cells that the subgroup's first lane has moved: a matrix is worked out once, and not by every lane again. */
  #ofFirstLane(at: number, width: number): Int32Array | null {
    if (this.lane === 0) return null;
    const { instructions } = this.#machine.steps[this.#step];
    const first = this.index - this.lane;
    const { at: places, cells } = instructions[this.#instruction];
    if (places[first] !== at)
      throw new Error(`thread ${this.index} has left its subgroup: moves a matrix at ${at}`);
    return cells.subarray(first * width, (first + 1) * width);
  }

  #record(
    array: string,
    how: 'read' | 'write',
    at: number,
    cells: ArrayLike<number>,
    width: number,
    matrix?: MatrixAccess,
  ): void {
    const { instructions } = this.#machine.steps[this.#step];
    const { threads, arrays } = this.#machine.mapping;
    const index = this.#instruction++;
    const operand = operandAt(arrays[array], at);
    instructions[index] ??= {
      ...{ array, how, operand, width },
      at: new Int32Array(threads).fill(-1),
      cells: new Int32Array(threads * width).fill(-1),
      ...(matrix ? { matrix } : {}),
    };
    const instruction = instructions[index];
    const same = instruction.array === array && instruction.how === how && instruction.width === width;
    if (!same || instruction.operand !== operand) {
      throw new Error(`thread ${this.index} has left the others: ${how}s ${array}`);
    }
    instruction.at[this.index] = at;
    instruction.cells.set(cells, this.index * width);
  }
}

/**
 * Runs one workgroup of a mapping.
 *
 * @param shape whole multiples of the mapping's tile
 * @param tileRow @param tileCol which tile of C, counted in tiles
 */
export function trace(
  mapping: Mapping,
  shape: Shape,
  tileRow = 0,
  tileCol = 0,
  onProduct?: OnProduct,
): Trace {
  const machine = new Machine(mapping, shape, tileRow, tileCol, onProduct);
  const running = Array.from({ length: mapping.threads }, (_, index) =>
    mapping.main(new Thread(machine, index))[Symbol.iterator](),
  );
  while (running.map(thread => thread.next().done).includes(false));
  const { steps: all, group, makers } = machine;
  return { shape, mapping, group, steps: all.filter(({ from }) => from < shape.k), all, makers };
}
