/** Kernels made to note which indices of their arrays they read and write. */
import { createBuffer, readBuffer } from '../../src/device/buffers.ts';
import { Executable } from '../../src/device/executable.ts';
import { Operands } from '../../src/ladder/operands.ts';
import type { RungProgram, Shape } from '../../src/ladder/rung.ts';
import type { MemoryArray } from '../../src/page/picture/model/trace.ts';
import { type Pass, writes } from '../../src/program.ts';
import { operandsOf } from './multiply.ts';
import type { TestGpu } from './open.ts';

/** Indices by thread, for each of `a read`, `tileA write` and so on. */
export type Accesses = Map<string, number[][]>;

/** Arrays by name, as the model has them. */
type Arrays = Readonly<Record<string, MemoryArray>>;

const HOW = ['read', 'write'] as const;

/** Words before the first thread's notes: which workgroup is watched. */
const GROUP = 2;

/** A number for each array and way of access; it stands in the upper byte of a note. */
const siteOf = (arrays: Arrays, name: string, how: (typeof HOW)[number]) =>
  2 * Object.keys(arrays).indexOf(name) + HOW.indexOf(how);

/**
 * Runs a rung's program with its last pass noting its accesses.
 *
 * @param group the `workgroup_id` whose threads are watched
 * @param most notes that a thread has room for
 */
export async function watch(
  { device }: TestGpu,
  program: RungProgram,
  shape: Shape,
  arrays: Arrays,
  group: readonly [number, number],
  most: number,
): Promise<Accesses> {
  const last = program.passes[program.passes.length - 1];
  const watched = { ...program, passes: [...program.passes.slice(0, -1), noting(last, arrays, most)] };
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const notes = await createBuffer(device, 'notes', (GROUP + last.threads * (most + 1)) * 4, usage);
  device.queue.writeBuffer(notes, 0, Uint32Array.from(group));
  const operands = await Operands.create(device, shape, ...operandsOf(shape));
  const executable = await Executable.create(device, watched);
  try {
    const bound = executable.bind({ ...(await operands.buffers(program.inputs)), notes: { buffer: notes } });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    bound.encode(pass);
    pass.end();
    device.queue.submit([encoder.finish()]);
    return readNotes(new Uint32Array(await readBuffer(device, notes)), arrays, last.threads, most);
  } finally {
    executable.destroy();
    operands.destroy();
    notes.destroy();
  }
}

function readNotes(notes: Uint32Array, arrays: Arrays, threads: number, most: number): Accesses {
  const sites = Object.keys(arrays).flatMap(name => HOW.map(how => `${name} ${how}`));
  const accesses: Accesses = new Map(
    sites.map(site => [site, Array.from({ length: threads }, (): number[] => [])]),
  );
  for (let thread = 0; thread < threads; thread++) {
    const first = GROUP + thread * (most + 1);
    for (const note of notes.subarray(first + 1, first + 1 + notes[first])) {
      accesses.get(sites[note >>> 24])?.[thread].push(note & 0xffffff);
    }
  }
  return accesses;
}

/** The pass with every index that it uses going through `note`. */
function noting(pass: Pass, arrays: Arrays, most: number): Pass {
  let { wgsl } = pass;
  for (const [name, { line, memory }] of Object.entries(arrays)) {
    const sites = { read: siteOf(arrays, name, 'read'), write: siteOf(arrays, name, 'write') };
    const declared = stridesOf(wgsl, name);
    const strides = declared.length > 2 ? declared : [line, 1];
    const note = (text: string) => noteMatrices(noteIndices(text, name, strides, sites), name, line, sites);
    wgsl = memory === 'workgroup' ? withinLoop(wgsl, note) : note(wgsl);
  }
  const registers = siteOf(arrays, 'registers', 'read');
  wgsl = wgsl.replaceAll(
    /subgroupShuffle\(a(\d+), k\)/g,
    (_, i) => `subgroupShuffle(a${i}, note(${registers}, (subgroup * ROWS + ${i}) * LANES + k) % LANES)`,
  );
  const notes = `
@group(0) @binding(${pass.bindings.length}) var<storage, read_write> notes: array<u32>;
var<private> watched: bool;
var<private> firstNote: u32;

fn note(site: u32, index: u32) -> u32 {
  if (watched && notes[firstNote] < ${most}) {
    notes[firstNote]++;
    notes[firstNote + notes[firstNote]] = (site << 24) | index;
  }
  return index;
}
`;
  return {
    ...pass,
    wgsl: beginMain(wgsl, most) + notes,
    bindings: [...pass.bindings, writes('notes')],
  };
}

/** Of wgsl/matrix-tile.ts and wgsl/matrix-pipeline.ts, only what comes before the sums take their way through the memory of the tiles. */
function withinLoop(wgsl: string, change: (text: string) => string): string {
  const main = wgsl.indexOf('@compute');
  const end = wgsl.indexOf('// The results, through ');
  const last = end < 0 ? wgsl.length : end;
  return wgsl.slice(0, main) + change(wgsl.slice(main, last)) + wgsl.slice(last);
}

/** `name[e]`, or `name[e][f]` and so on, where each index steps over so many elements. */
function noteIndices(
  wgsl: string,
  name: string,
  strides: readonly number[],
  sites: { readonly read: number; readonly write: number },
): string {
  const begin = new RegExp(`(?<![\\w.&])${name}\\[`, 'g');
  let done = '';
  let rest = 0;
  for (const match of wgsl.matchAll(begin)) {
    if (match.index < rest) continue;
    const { indices, text, end } = chain(wgsl, match.index + name.length, strides.length);
    const site = / *=[^=]/y.test(wgsl.slice(end)) ? sites.write : sites.read;
    const flat = indices.map((index, i) => (strides[i] === 1 ? index : `(${index}) * ${strides[i]}`));
    done += wgsl.slice(rest, match.index);
    done +=
      indices.length === 1
        ? `${name}[note(${site}, ${indices[0]})]`
        : `${name}[note(${site}, ${flat.join(' + ')}) / ${strides[0]}]${text}`;
    rest = end;
  }
  return done + wgsl.slice(rest);
}

/** Indices from the bracket at `open` on, up to `most` of them; the text behind the first, and where it ends. */
function chain(wgsl: string, open: number, most: number) {
  const indices: string[] = [];
  let [second, end] = [open, open];
  while (indices.length < most) {
    const bracket = wgsl.startsWith('.at[', end) ? end + '.at'.length : end;
    if (wgsl[bracket] !== '[') break;
    const close = closing(wgsl, bracket);
    indices.push(wgsl.slice(bracket + 1, close));
    end = close + 1;
    if (indices.length === 1) second = end;
  }
  return { indices, text: wgsl.slice(second, end), end };
}

/** What each index of an array in workgroup memory steps over, in its innermost elements. */
function stridesOf(wgsl: string, name: string): number[] {
  let type = new RegExp(`var<workgroup> ${name}: (.*);`).exec(wgsl)?.[1] ?? '';
  const strides: number[] = [];
  for (;;) {
    // A structure's array comes first, its padding behind it.
    const members = new RegExp(`struct ${type} \\{ at: (.*), padding: .* \\}`).exec(wgsl);
    const element = /^array<(.*), \d+>$/.exec(members ? members[1] : type)?.[1];
    if (element === undefined) return strides;
    strides.push(sizeOf(wgsl, element));
    type = element;
  }
}

function sizeOf(wgsl: string, type: string): number {
  const [, element, count] = /^array<(.*), (\d+)>$/.exec(type) ?? [];
  if (element !== undefined) return Number(count) * sizeOf(wgsl, element);
  const [, at, padding] = new RegExp(`struct ${type} \\{ at: (.*), padding: (.*) \\}`).exec(wgsl) ?? [];
  return at === undefined ? 1 : sizeOf(wgsl, at) + sizeOf(wgsl, padding);
}

/** Loads and stores of whole matrices: the index at which they begin. */
function noteMatrices(
  wgsl: string,
  name: string,
  line: number,
  sites: { readonly read: number; readonly write: number },
): string {
  const call = new RegExp(
    `(subgroupMatrix(Load|Store)<[^(]*>\\(&${name})(?:\\[([^\\]]*)\\])?, ([^,]*),`,
    'g',
  );
  return wgsl.replaceAll(call, (_, before, how, slice, offset) => {
    const site = how === 'Load' ? sites.read : sites.write;
    return slice === undefined
      ? `${before}, note(${site}, ${offset}),`
      : `${before}[${slice}], note(${site}, (${slice}) * ${line} + ${offset}) % ${line},`;
  });
}

/** The bracket that closes the one at `open`. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '[') depth++;
    if (text[at] === ']' && --depth === 0) return at;
  }
  throw new Error('a bracket is not closed');
}

/** Has `main` find out whether it is watched, and where its notes go. */
function beginMain(wgsl: string, most: number): string {
  return wgsl.replace(/fn main\(([^{]*)\)\s*\{/, (_, parameters: string) => {
    const named = (builtin: string, type: string) => {
      const found = new RegExp(`@builtin\\(${builtin}\\) (\\w+)`).exec(parameters);
      return found
        ? { name: found[1], add: '' }
        : { name: builtin, add: `@builtin(${builtin}) ${builtin}: ${type}` };
    };
    const group = named('workgroup_id', 'vec3u');
    const thread = named('local_invocation_index', 'u32');
    const all = [parameters.trim().replace(/,$/, ''), group.add, thread.add].filter(Boolean).join(', ');
    return `fn main(${all}) {
  watched = all(${group.name}.xy == vec2u(notes[0], notes[1]));
  firstNote = ${GROUP} + ${thread.name} * ${most + 1};`;
  });
}
