/** The ladder with rungs that are broken on purpose, on the real SwiftShader. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { naive } from '../../src/ladder/1-naive.ts';
import { coalesced } from '../../src/ladder/3-coalesced.ts';
import type { Rung } from '../../src/ladder/rung.ts';
import { runLadder } from '../../src/node/cli/ladder.ts';
import { Screen } from '../../src/node/cli/screen.ts';
import { type OpenGpu, openGpu } from '../../src/node/gpu.ts';

let gpu: OpenGpu;
beforeAll(async () => {
  gpu = await openGpu({ software: true });
});
afterAll(() => gpu.close());

/** Rung 2's place, with rung 1's kernel and one thing in it replaced. */
const broken = (what: string, by: string): Rung => ({
  ...naive,
  rung: '2',
  id: 'broken',
  build: (shape, profile) => {
    const program = naive.build(shape, profile);
    return {
      ...program,
      passes: program.passes.map(pass => ({ ...pass, wgsl: pass.wgsl.replace(what, by) })),
    };
  },
});

/** A stream that remembers. */
const stream = (isTTY = false) => {
  const it = {
    isTTY,
    columns: 100,
    rows: 50,
    text: '',
    write(text: string) {
      it.text += text;
      return true;
    },
  };
  return it;
};

async function run(rungs: readonly Rung[], { json = false, isTTY = false } = {}) {
  const out = stream(isTTY);
  const document = stream();
  const exitCode = await runLadder(gpu, {
    rungs,
    shape: { m: 17, n: 19, k: 23 },
    minTime: 20,
    note: null,
    version: '0.0.0',
    screen: new Screen(out, 'stdout'),
    ...(json ? { json: document } : {}),
  });
  return { exitCode, text: out.text, document: document.text };
}

test('a wrong rung is marked, its numbers withheld, and the exit code is 1', async () => {
  const { exitCode, text } = await run([naive, broken('sum +=', 'sum -='), coalesced]);
  expect(exitCode).toBe(1);
  expect(text).toMatch(/^2 +broken +WRONG +C\[\d+, \d+\] is [-\d.e]+\s+where\s+[-\d.e]+\s+is\s+due/m);
  expect(text).not.toMatch(/^2 .*(GFLOP|█)/m);
  // The rung above it has no rung below to be compared with.
  expect(text).toMatch(/^3 +coalesced +[\d.]+ +– +[\d.]+×/m);
});

test('so it is in the document', async () => {
  const { exitCode, document, text } = await run([broken('c[row', 'if (id.x + id.y > 0u) { } c[row + 1')], {
    json: true,
  });
  expect(exitCode).toBe(1);
  expect(text).toBe('');
  expect(JSON.parse(document).rungs).toMatchObject([
    { id: 'broken', status: 'wrong', ms: null, spread: null, gflops: null, overFirst: null },
  ]);
});

test('a rung that does not compile has failed, with the reason', async () => {
  const { exitCode, text } = await run([broken('sum +=', 'nonsense +=')]);
  expect(exitCode).toBe(1);
  expect(text).toMatch(/^2 +broken +FAILED +naive, line \d+: /m);
});

test('on a terminal, the table shows what is being done', async () => {
  const { exitCode, text } = await run([naive, coalesced], { isTTY: true });
  expect(exitCode).toBe(0);
  for (const phase of ['compiling', 'verifying', 'warming up', 'measuring']) expect(text).toContain(phase);
});
