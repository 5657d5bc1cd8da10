/**
 * What one load or store costs a subgroup: how many pieces of memory its lanes' addresses lie in.
 *
 * Global memory moves in sectors of 32 bytes, four to a line of 128, on NVIDIA's and AMD's GPUs, and on others in pieces
 * much like them. Workgroup memory has 32 banks of 4 bytes: in one pass each bank gives one word, to all lanes that
 * ask for it.
 */
import type { Instruction, MemoryArray, Trace } from './trace.ts';

export const SECTOR = 32;
export const LINE = 128;
const BANKS = 32;
const WORD = 4;

/** What a subgroup's lanes do in one instruction. */
export interface Transaction {
  readonly array: string;
  readonly how: 'read' | 'write';
  readonly subgroup: number;
  /** Lanes that take part. */
  readonly lanes: number;
  /** Numbers that a lane moves. */
  readonly width: number;
  /** Different indices among them: 1 where all lanes read the same place. */
  readonly places: number;
  /** Pieces that these lie in, side by side within each. */
  readonly runs: number;
  /** Bytes asked for, each counted once. */
  readonly bytes: number;
  /** Global memory: the numbers of the 32-byte sectors that these lie in. */
  readonly sectors: readonly number[];
  /** Workgroup memory: passes that it takes, and what it would take if no bank had to give two words in one. */
  readonly passes: number;
  readonly leastPasses: number;
}

/**
 * `same`: hardly any places, each for many lanes. `together`: hardly more sectors than the bytes fit in. `apart`: more sectors
 * than the lanes would need if each read a number of its own, side by side.
 */
export type Pattern = 'same' | 'together' | 'apart';

export const patternOf = ({ places, lanes, bytes, sectors }: Transaction): Pattern => {
  if (places === 1) return 'same';
  if (sectors.length === 1 || sectors.length * SECTOR < 2 * bytes) return 'together';
  return sectors.length * SECTOR <= (lanes / places) * bytes ? 'same' : 'apart';
};

/** An instruction as each of the workgroup's subgroups does it; those of which no lane takes part are left out. */
export function transactions({ mapping }: Trace, instruction: Instruction): Transaction[] {
  const array = mapping.arrays[instruction.array];
  const { lanes } = mapping;
  return Array.from({ length: Math.ceil(mapping.threads / lanes) }, (_, subgroup) =>
    transaction(instruction, array, subgroup, lanes),
  ).filter(({ lanes }) => lanes > 0);
}

function transaction(
  { array, how, at, width, matrix }: Instruction,
  { memory, bytes, vector }: MemoryArray,
  subgroup: number,
  lanes: number,
): Transaction {
  const asked = [...at.subarray(subgroup * lanes, (subgroup + 1) * lanes)].filter(index => index >= 0);
  const places = [...new Set(asked)].sort((x, y) => x - y);
  const size = bytes * vector;
  const sectors = new Set<number>();
  for (const place of memory === 'global' ? places : []) {
    for (let byte = place * size; byte < (place + 1) * size; byte += Math.min(size, SECTOR)) {
      sectors.add(Math.floor(byte / SECTOR));
    }
  }
  // How a matrix is spread over the lanes is the hardware's affair.
  const whole = Math.ceil((width * bytes) / (BANKS * WORD));
  const banks = matrix ? { passes: whole, leastPasses: whole } : passesOf(asked, size);
  return {
    ...{ array, how, subgroup, lanes: asked.length, width, places: places.length },
    runs: places.filter((place, i) => place !== places[i - 1] + 1).length,
    bytes: matrix ? width * bytes : places.length * size,
    sectors: [...sectors],
    ...(memory === 'workgroup' ? banks : { passes: 0, leastPasses: 0 }),
  };
}

/**
 * Passes through the banks. Lanes that read more than a word go in turns, as many at a time as the banks have words for;
 * in a turn, the bank that has to give the most different words sets the time.
 */
function passesOf(indices: readonly number[], size: number): { passes: number; leastPasses: number } {
  const atOnce = Math.max(1, Math.floor((BANKS * WORD) / Math.max(size, WORD)));
  let [passes, leastPasses] = [0, 0];
  for (let first = 0; first < indices.length; first += atOnce) {
    const words = new Set<number>();
    for (const index of indices.slice(first, first + atOnce)) {
      for (let byte = index * size; byte < (index + 1) * size; byte += WORD)
        words.add(Math.floor(byte / WORD));
    }
    const perBank = new Uint32Array(BANKS);
    for (const word of words) perBank[word % BANKS]++;
    passes += Math.max(...perBank);
    leastPasses++;
  }
  return { passes, leastPasses };
}

/**
 * A step's loads without those that are written twice: what a thread has read, it keeps in a register until the step is
 * over, as every compiler sees to.
 */
export function distinct(instructions: readonly Instruction[]): Instruction[] {
  return instructions.filter(
    ({ array, how, at }, index) =>
      !instructions
        .slice(0, index)
        .some(
          other =>
            other.array === array && other.how === how && other.at.every((place, i) => place === at[i]),
        ),
  );
}
