/** What happens in a step, in plain words and numbers. */
import { distinct, patternOf, SECTOR, type Transaction, transactions } from './memory.ts';
import type { Instruction, Step, Trace } from './trace.ts';

export type Scope = 'subgroup' | 'workgroup';

/** @param subgroup the one to tell of where the scope is one subgroup */
export function describeStep(traced: Trace, step: Step, scope: Scope, subgroup: number): string[] {
  const { mapping } = traced;
  const instructions = distinct(step.instructions);
  const of = (memory: string, how: string) =>
    instructions.filter(it => mapping.arrays[it.array].memory === memory && it.how === how);
  const told = (those: Instruction[], tell: (same: Instruction[], done: Transaction[]) => string) =>
    alike(those).flatMap(same => {
      const done = same
        .flatMap(instruction => transactions(traced, instruction))
        .filter(it => scope === 'workgroup' || it.subgroup === subgroup);
      return done.length > 0 ? [tell(same, done)] : [];
    });
  return [
    heading(traced, step),
    ...told(of('global', 'read'), (same, done) => global(traced, same, done, 'read')),
    ...told(of('global', 'write'), (same, done) => global(traced, same, done, 'write')),
    ...told(of('workgroup', 'write'), (same, done) => staged(traced, same, done, step)),
    ...told(of('workgroup', 'read'), (same, done) => local(traced, same, done, scope)),
    ...told(of('lanes', 'read'), (same, done) => handed(traced, same, done)),
    ...(step.products > 0 ? [productsOf(traced, step, scope)] : []),
  ];
}

/** Those of the same array and operand together. */
function alike(instructions: readonly Instruction[]): Instruction[][] {
  const kindOf = ({ array, operand }: Instruction) => `${array} ${operand}`;
  return [...new Set(instructions.map(kindOf))].map(kind => instructions.filter(it => kindOf(it) === kind));
}

function heading({ mapping }: Trace, { kind, from, to }: Step): string {
  const range = to - from === 1 ? `k = ${from}` : `k = ${from} to ${to - 1}`;
  const { memory } = Object.values(mapping.arrays).find(array => array.memory !== 'global') ?? {};
  const keep = memory === 'lanes' ? 'registers' : 'workgroup memory';
  return {
    fetch: `Fetch for ${range} into ${keep}.`,
    stage: `What was fetched for ${range} goes into workgroup memory.`,
    load: `Load matrices for ${range}, which are multiplied next.`,
    multiply: `Multiply, ${range}.`,
    store: 'Store the sums in C.',
  }[kind];
}

/** The first of these in full, and the sum where there are more. */
function global(
  traced: Trace,
  same: readonly Instruction[],
  done: readonly Transaction[],
  how: 'read' | 'write',
): string {
  const { mapping } = traced;
  const [first] = done;
  const { operand, vector, transposed, cell, bytes } = mapping.arrays[first.array];
  const name = cell ? `packed ${operand}` : transposed ? `${operand}ᵀ` : operand;
  const pattern = patternOf(first);
  const numbers = plural(
    first.places,
    vector === 1 ? 'number' : `vector of ${vector}`,
    vector === 1 ? 'numbers' : `vectors of ${vector}`,
  );
  const whole =
    mapping.threads === 1 ? 'The only thread' : first.lanes === 1 ? 'One lane' : `${first.lanes} lanes`;
  const who = first.places === 1 && first.lanes > 1 ? `All ${whole}` : whole;
  const what = {
    same: first.places === 1 && first.lanes > 1 ? `the same number of ${name}` : `${numbers} of ${name}`,
    together: `${numbers} of ${name} ${first.runs === 1 ? 'side by side' : `in ${first.runs} rows side by side`}`,
    apart: `${numbers} of ${name} that lie apart`,
  }[pattern];
  const shared =
    first.places > 1 && first.places < first.lanes ? `, each for ${first.lanes / first.places} lanes` : '';
  const moved = first.sectors.length * SECTOR;
  const waste =
    moved > first.bytes
      ? `, ${first.bytes} bytes of it ${how === 'read' ? 'used' : 'written'}`
      : ', all of it used';
  const verdict =
    first.lanes === 1 ? '' : { same: 'Broadcast', together: 'Coalesced', apart: 'Scattered' }[pattern];
  const sentences = [
    `${who} ${how}${first.lanes === 1 ? 's' : ''} ${what}${shared}.`,
    `${verdict ? `${verdict}: ` : ''}${plural(first.sectors.length, 'sector')} of ${SECTOR} bytes${waste}.`,
    ...(bytes === 2 ? ['A number has 2 bytes here.'] : []),
    ...(done.length > 1 ? [sumOf(done, how)] : []),
    ...(how === 'read' ? again(traced, same, name) : []),
  ];
  return sentences.join(' ');
}

function sumOf(done: readonly Transaction[], how: 'read' | 'write'): string {
  const sectors = done.reduce((sum, it) => sum + it.sectors.length, 0);
  const subgroups = new Set(done.map(it => it.subgroup)).size;
  const each = done.length / subgroups;
  const loads = each > 1 ? `${each} such ${how}s` : '';
  const by = subgroups > 1 ? `${loads ? ' by each of' : 'By all'} ${subgroups} subgroups` : '';
  return `${loads}${by}: ${plural(sectors, 'sector')}, ${(sectors * SECTOR).toLocaleString('en')} bytes.`;
}

/** How many threads of the workgroup read the same places in this step. */
function again({ mapping }: Trace, same: readonly Instruction[], name: string): string[] {
  const all = same.flatMap(({ at }) => [...at].filter(place => place >= 0));
  const times = all.length / new Set(all).size;
  return times > 1 && mapping.threads > 1
    ? [`In the workgroup, ${times} threads read each number of ${name} in this step.`]
    : [];
}

function staged(
  { mapping }: Trace,
  same: readonly Instruction[],
  done: readonly Transaction[],
  step: Step,
): string {
  const [{ array, operand }] = same;
  const conflict = conflictOf(done);
  if (operand === 'C') return `The sums pass through ${array}${conflict}.`;
  const uses = operand === 'A' ? mapping.tile.n : mapping.tile.m;
  return `${step.kind === 'fetch' ? 'Kept' : 'Written'} in ${array}${conflict}: each number of ${operand} will be used ${uses} times from there.`;
}

function local(
  traced: Trace,
  same: readonly Instruction[],
  done: readonly Transaction[],
  scope: Scope,
): string {
  const { mapping } = traced;
  const [first] = done;
  const [{ operand }] = same;
  if (mapping.together && operand !== 'C') {
    const loads = scope === 'workgroup' ? `Each subgroup loads` : 'The subgroup loads';
    const count = done.filter(it => it.subgroup === first.subgroup).length;
    return `${loads} ${plural(count, 'matrix', 'matrices')} of ${first.width} numbers of ${operand} from ${first.array}.`;
  }
  const numbers = done.filter(it => it.subgroup === first.subgroup).length * first.width;
  return [
    `Each thread reads ${plural(numbers, 'number')} from ${first.array}${conflictOf(done)}.`,
    ...again(traced, same, first.array),
  ].join(' ');
}

const conflictOf = (done: readonly Transaction[]): string => {
  const worst = Math.max(...done.map(({ passes, leastPasses }) => passes / leastPasses));
  return worst > 1
    ? ` (bank conflict: lanes meet in one bank, which takes ${worst} times as long)`
    : ' (no bank conflict)';
};

const handed = ({ mapping }: Trace, same: readonly Instruction[], [first]: readonly Transaction[]): string =>
  `Lane ${same[0].at[first.subgroup * mapping.lanes] % mapping.lanes} hands its ${plural(same.length, 'number')} of A to all lanes of its subgroup: no memory is read.`;

function productsOf({ mapping }: Trace, { products, instructions }: Step, scope: Scope): string {
  const subgroups = Math.ceil(mapping.threads / mapping.lanes);
  const idle = mapping.lanes - mapping.threads;
  if (idle > 0) return `${plural(products, 'multiply-add')}. The other ${idle} lanes of the subgroup idle.`;
  const each = products / mapping.threads;
  const loaded = instructions.length === 0 ? ', of matrices that are loaded: no memory is read' : '';
  if (scope === 'subgroup')
    return `${plural(products / subgroups, 'multiply-add')} in this subgroup${loaded}.`;
  return `${plural(products, 'multiply-add')}${mapping.together ? '' : `, ${each} a thread`}${loaded}.`;
}

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
