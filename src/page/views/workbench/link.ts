/**
 * The workbench as an address: source, size and parameters in plain words, edited texts deflated (RFC 1951) and in
 * base64url (RFC 4648).
 */
import { GemmError } from '../../../errors.ts';
import { type Bench, type Edit, freshBench, type Grid } from './bench.ts';
import { describeParameter } from './parameters.ts';
import { findSource } from './sources.ts';

type Words = Readonly<Record<string, string>>;

/** What is chosen, without what was edited. */
export function choiceWords({ source, type, size, params, pass }: Bench): Words {
  const [kind, name] = source.split(':');
  const square = size !== null && size.m === size.n && size.n === size.k;
  return {
    [kind]: name,
    ...(kind === 'kernel' && type !== 'f32' ? { type } : {}),
    ...(square ? { size: size.m } : size),
    ...params,
    ...(pass === null ? {} : { pass: String(pass) }),
  };
}

/** All of it. */
export async function linkWords(bench: Bench): Promise<Words> {
  const words: Record<string, string> = { ...choiceWords(bench) };
  for (const [index, { text }] of Object.entries(bench.edits)) words[`wgsl${index}`] = await deflate(text);
  for (const [index, grid] of Object.entries(bench.grids)) words[`grid${index}`] = grid.join('.');
  return words;
}

/**
 * What a link holds. Sizes and parameters are taken as they are: the fields say what is wrong with them.
 *
 * @throws GemmError `invalid-argument` where it is not to be understood
 */
export async function readLink(words: URLSearchParams): Promise<Bench> {
  const [rung, kernel] = [words.get('rung'), words.get('kernel')];
  const source = kernel === null ? findSource('rung', rung ?? '4') : findSource('kernel', kernel);
  if (!source) {
    throw broken(kernel === null ? `there is no rung "${rung}"` : `there is no kernel "${kernel}"`);
  }
  const edits: Record<number, Edit> = {};
  const grids: Record<number, Grid> = {};
  const params: Record<string, string> = {};
  for (const [name, value] of words) {
    const edited = /^(wgsl|grid)(\d)$/.exec(name);
    if (edited?.[1] === 'wgsl') edits[Number(edited[2])] = { text: await inflate(value), base: null };
    else if (edited) grids[Number(edited[2])] = gridOf(value);
    else if (kernel !== null && describeParameter(name).hint) params[name] = value;
  }
  const size = words.get('size');
  const [m, n, k] = ['m', 'n', 'k'].map(name => words.get(name) ?? size);
  const pass = words.get('pass');
  if (pass !== null && !/^\d$/.test(pass)) throw broken(`there is no pass "${pass}"`);
  return {
    ...freshBench(source),
    type: words.get('type') === 'f16' ? 'f16' : 'f32',
    size: m && n && k ? { m, n, k } : null,
    params: Object.keys(params).length > 0 ? params : null,
    ...{ pass: pass === null ? null : Number(pass), edits, grids },
  };
}

function gridOf(value: string): Grid {
  const [x, y, z, more] = value.split('.');
  if (!x || !y || !z || more) throw broken('its workgroups are cut off');
  return [x, y, z];
}

const broken = (why: string) =>
  new GemmError('invalid-argument', `This link is broken: ${why}.`, 'Nothing of it was taken over.');

async function deflate(text: string): Promise<string> {
  const bytes = await through(new CompressionStream('deflate-raw'), new TextEncoder().encode(text));
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

async function inflate(packed: string): Promise<string> {
  try {
    const binary = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, character => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(
      await through(new DecompressionStream('deflate-raw'), bytes),
    );
  } catch {
    throw broken('its text is cut off or was changed');
  }
}

async function through(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}
