/** From a step to what is drawn: which cells have which colour, as paths in units of cells. Pure. */
import { SECTOR, transactions } from './model/memory.ts';
import { cellOf, type MemoryArray, placesIn, type Step, sectionsOf, type Trace } from './model/trace.ts';
import type { Scope } from './model/words.ts';

export type Operand = MemoryArray['operand'];

/** Cells by the number of their colour: a lane's, or a subgroup's where the whole workgroup is shown. */
export type Coloured = ReadonlyMap<number, ReadonlySet<number>>;

export interface View {
  readonly scope: Scope;
  /** The subgroup shown where the scope is one. */
  readonly subgroup: number;
}

/** What a step does with one matrix. */
export interface Touched {
  /** Read from (or written to) global memory in this step. */
  readonly global: Coloured;
  /** Read from a copy in workgroup memory or in registers. */
  readonly copied: Coloured;
  /** All cells of the 32-byte sectors that are moved. */
  readonly sectors: ReadonlySet<number>;
}

/** The number of a thread's colour, null where it is not in view. What a subgroup does together has its first lane's. */
function colourOf(
  { mapping }: Trace,
  thread: number,
  { scope, subgroup }: View,
  together = mapping.together ?? false,
): number | null {
  const own = Math.floor(thread / mapping.lanes);
  if (scope === 'workgroup') return own;
  if (own !== subgroup) return null;
  return together ? 0 : thread % mapping.lanes;
}

/** Colours in use, for the legend. */
export const coloursIn = ({ mapping }: Trace, { scope }: View): number =>
  scope === 'workgroup'
    ? Math.ceil(mapping.threads / mapping.lanes)
    : Math.min(mapping.lanes, mapping.threads);

export function touched(traced: Trace, step: Step, operand: Operand, view: View): Touched {
  const [global, copied] = [new Colouring(), new Colouring()];
  const sectors = new Set<number>();
  const { mapping, shape } = traced;
  for (const instruction of step.instructions) {
    const array = mapping.arrays[instruction.array];
    if (instruction.operand !== operand) continue;
    if (array.memory !== 'global' && instruction.how === 'write') continue;
    const into = array.memory === 'global' ? global : copied;
    eachAccess(traced, instruction, view, (colour, _, cells) => {
      for (const cell of cells) if (cell >= 0) into.add(colour, cell);
    });
    if (array.memory !== 'global') continue;
    for (const moved of transactions(traced, instruction)) {
      if (view.scope === 'subgroup' && moved.subgroup !== view.subgroup) continue;
      for (const sector of moved.sectors) {
        const numbers = SECTOR / array.bytes;
        for (let i = 0; i < numbers; i++) sectors.add(cellOf(array, shape, sector * numbers + i));
      }
    }
  }
  return { global: global.cells, copied: copied.cells, sectors };
}

/** Places of an array in workgroup memory or in registers that a step reads or writes, counted in numbers. */
export function touchedPlaces(traced: Trace, step: Step, name: string, view: View): Coloured {
  const places = new Colouring();
  const { vector } = traced.mapping.arrays[name];
  for (const instruction of step.instructions) {
    if (instruction.array !== name) continue;
    const { matrix } = instruction;
    eachAccess(traced, instruction, view, (colour, at, cells) => {
      const numbers = matrix ? placesIn(matrix, at, vector) : cells.map((_, i) => at * vector + i);
      for (const place of numbers) places.add(colour, place);
    });
  }
  return places.cells;
}

/** A section of an array as it is drawn, its places counted along rows of `across`. */
export interface Sheet {
  readonly label: string;
  readonly rows: number;
  readonly across: number;
  readonly places: Coloured;
}

/** An array's sections. Rows of the array are long: each begins a row of the picture, and takes several. */
export function sheetsOf(array: MemoryArray, places: Coloured): Sheet[] {
  const length = array.line * array.vector;
  return sectionsOf(array).map(({ label, first, rows, drawn }) => {
    const drawnRows = Math.ceil(length / drawn);
    const own = [...places].map(([colour, set]): [number, Set<number>] => {
      const inSection = [...set].map(place => place - first * length);
      const inside = inSection.filter(place => place >= 0 && place < rows * length);
      return [
        colour,
        new Set(inside.map(place => Math.floor(place / length) * drawnRows * drawn + (place % length))),
      ];
    });
    return { label, rows: rows * drawnRows, across: drawn, places: new Map(own) };
  });
}

function eachAccess(
  traced: Trace,
  { at, cells, width, matrix }: Step['instructions'][number],
  view: View,
  visit: (colour: number, at: number, cells: Int32Array) => void,
): void {
  at.forEach((index, thread) => {
    if (matrix && thread % traced.mapping.lanes > 0) return; // the first lane's says it all
    const colour = colourOf(traced, thread, view, matrix !== undefined);
    if (index < 0 || colour === null) return;
    visit(colour, index, cells.subarray(thread * width, (thread + 1) * width));
  });
}

/** The cells of C that the threads in view make. */
export function made(traced: Trace, view: View): Coloured {
  const cells = new Colouring();
  traced.makers.forEach((thread, cell) => {
    const colour = thread < 0 ? null : colourOf(traced, thread, view);
    if (colour !== null) cells.add(colour, cell);
  });
  return cells.cells;
}

/** How often the workgroup has read each cell from global memory, up to and with a step. */
export function timesRead({ mapping, shape, steps }: Trace, operand: 'A' | 'B', upTo: number): Uint32Array {
  const times = new Uint32Array(shape.k * (operand === 'A' ? shape.m : shape.n));
  for (const { instructions } of steps.slice(0, upTo + 1)) {
    for (const { array, how, operand: of, cells } of instructions) {
      const { memory } = mapping.arrays[array];
      if (of !== operand || memory !== 'global' || how !== 'read') continue;
      for (const cell of cells) if (cell >= 0 && cell < times.length) times[cell]++;
    }
  }
  return times;
}

/** A thread's cells of C, and the rows of A and columns of B that they need. */
export function needsOf({ makers, shape }: Trace, thread: number) {
  const cells = [...makers.keys()].filter(cell => makers[cell] === thread);
  return {
    cells,
    rows: [...new Set(cells.map(cell => Math.floor(cell / shape.n)))],
    cols: [...new Set(cells.map(cell => cell % shape.n))],
  };
}

/** The tile of C that the workgroup makes. */
export function tileBox({ makers, shape, mapping }: Trace) {
  const first = makers.findIndex(thread => thread >= 0);
  return { row: Math.floor(first / shape.n), col: first % shape.n, ...mapping.tile };
}

/** Cells by colour; a cell that several threads read has the colour of the first. */
class Colouring {
  readonly cells = new Map<number, Set<number>>();
  readonly #seen = new Set<number>();

  add(colour: number, cell: number): void {
    if (this.#seen.has(cell)) return;
    this.#seen.add(cell);
    const known = this.cells.get(colour);
    if (known) known.add(cell);
    else this.cells.set(colour, new Set([cell]));
  }
}

/** SVG path of cells that are counted along rows of `across`; neighbours in a row become one rectangle. */
export function cellsPath(cells: Iterable<number>, across: number, inset = 0): string {
  const sorted = [...cells].sort((x, y) => x - y);
  let path = '';
  for (let i = 0; i < sorted.length; ) {
    const first = sorted[i];
    let length = 1;
    while (inset === 0 && sorted[i + length] === first + length && (first + length) % across !== 0) length++;
    const [x, y] = [(first % across) + inset, Math.floor(first / across) + inset];
    const [w, h] = [length - 2 * inset, 1 - 2 * inset];
    path += `M${x} ${y}h${w}v${h}h${-w}z`;
    i += length;
  }
  return path;
}
