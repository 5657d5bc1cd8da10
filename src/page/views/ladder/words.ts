/** The rungs in plain words, by id: for readers who never wrote a kernel. */

export interface Words {
  readonly does: string;
  readonly gains: string;
  /** What still holds it back: where the next rung begins. */
  readonly lacks: string;
}

export const WORDS: Readonly<Record<string, Words>> = {
  naive: {
    does: 'Every cell of C gets a thread, and every thread a workgroup of its own. The thread walks along a row of A and down a column of B, multiplies pairs and adds them up.',
    gains:
      'Nothing yet: it is the definition of a product, written down. All m·n cells can be made at the same time, which is what a GPU is for.',
    lacks:
      'A GPU runs threads in subgroups, often 32 of them, which take each step together. A workgroup of one thread fills one lane of a subgroup and leaves the others idle; and starting m·n workgroups costs more than the arithmetic in them.',
  },
  workgroups: {
    does: 'The same loop, in workgroups of 16×16 threads.',
    gains: 'All lanes of a subgroup have work, and there are 256 times fewer workgroups to start.',
    lacks:
      'x still picks the row. Neighbouring lanes read addresses of A that lie a whole row apart, so memory has to answer each lane on its own, and again when they write C.',
  },
  coalesced: {
    does: 'x picks the column and y the row. The roles are swapped, and nothing else is changed.',
    gains:
      'Neighbouring lanes read neighbouring addresses of B, which memory hands out together, and one and the same address of A, which is fetched once for all.',
    lacks:
      'For every multiply-add a thread still fetches two numbers from storage, and the threads of a workgroup fetch the same rows and columns over and over.',
  },
  'shared-memory': {
    does: 'The 256 threads of a workgroup fetch a 16×16 tile of A and one of B together into workgroup memory. They wait for each other at a barrier, use the tiles, and wait again before these are overwritten.',
    gains:
      'Every number is fetched from storage 16 times less often; the rest of the reads go to memory next to the cores. Where caches did that work already, little is gained.',
    lacks:
      'Workgroup memory is fast, but not as fast as arithmetic: each multiply-add still takes two reads from it.',
  },
  'thread-tiling': {
    does: 'Each thread makes a block of 4×4 cells, with its sums in registers; 64 threads make a tile of 32×32.',
    gains: 'Eight numbers read from workgroup memory now serve 16 multiply-adds, where two served one.',
    lacks:
      'The small loops cost: counters, comparisons, and indices that are only known while they run. Sums in an array with such indices may not even be kept in registers.',
  },
  unrolled: {
    does: 'Every loop of fixed length is written out. The source is generated: it is the rung below as straight-line code.',
    gains:
      'No counter is kept, every index is a constant, and the 16 sums are plain variables, which certainly live in registers.',
    lacks: 'Numbers still move one at a time. And long code takes longer to compile.',
  },
  vectorized: {
    does: 'Storage and workgroup memory hold vectors of four numbers. A pass of its own transposes B first, so that both operands are read along K and four products are one `dot`.',
    gains: 'One instruction moves 16 bytes, and a quarter of the reads are left.',
    lacks:
      'It depends on the GPU: one that computes number by number gains nothing from `dot`, and vectors in workgroup memory can get into each other’s way. The transposing is not free either; its time is shown beside the rung’s.',
  },
  'subgroup-shuffle': {
    does: 'The lanes of a subgroup hold a piece of A in their registers and pass its elements on to each other. There is no workgroup memory and no barrier.',
    gains:
      'What one lane fetched, all others get without a detour through memory: each lane makes 8×4 cells from what its neighbours hold.',
    lacks:
      'Every element that is passed on is an instruction, and B still comes out of the cache for each subgroup.',
  },
  'subgroup-matrix': {
    does: 'The subgroup multiplies whole small matrices, held across its lanes, on the matrix units of the GPU.',
    gains:
      'One instruction does hundreds of multiply-adds. Shape and types are the device’s own: where its units take only half floats, A and B are rounded to those first.',
    lacks:
      'Each subgroup loads four small matrices to multiply four pairs, so it waits for workgroup memory most of the time.',
  },
  'register-tile': {
    does: 'The blocks grow up to 8×16 cells a thread, all in registers. While a step is multiplied, the thread already fetches its part of the next tiles.',
    gains:
      '24 numbers read serve 128 multiply-adds, so the arithmetic itself sets the pace; and the wait for storage passes during work.',
    lacks:
      'Now the f32 units are the limit. Matrix units can do several times as much, but most of them take only half floats. From here on, the rungs are the kernels that the library serves with.',
  },
  'tensor-f16': {
    does: 'Matrix units with enough to do: up to 64×64 cells a subgroup. A and B are half floats, the sums are f32.',
    gains:
      'Eight small matrices are loaded for 16 products. Operands move in words of 16 bytes; A, whose rows would be fetched in small pieces, is packed first where that pays.',
    lacks: 'Half floats hold 11 bits of a number, an f32 holds 24: the inputs must bear that.',
  },
  'split-f32': {
    does: 'Each f32 is split into two half floats, high and low, and a·b becomes high·high + high·low + low·high: three products on the matrix units for one.',
    gains:
      'The result is as accurate as an f32 kernel’s, and faster wherever matrix units do more than three times the work of f32 units.',
    lacks:
      'Care is part of its time: rows and columns are scaled so that they fit the small range of half floats, and the sums are moved to f32 registers now and then, since matrix units truncate while they add.',
  },
};
