/** The picture of a rung's mapping: that it multiplies matrices, fits the program, and says what memory does. */
import { describe, expect, test } from 'vitest';
import type { Params } from '../../src/kernels/kernel.ts';
import { splitF32 } from '../../src/kernels/split-f32.ts';
import { subgroupMatrix } from '../../src/kernels/subgroup-matrix.ts';
import type { Rung, Shape } from '../../src/ladder/rung.ts';
import { findRungs, RUNGS } from '../../src/ladder/rungs.ts';
import { sheetsOf, touched, touchedPlaces } from '../../src/page/picture/draw.ts';
import { workgroupBytes } from '../../src/page/picture/model/arrays.ts';
import { exampleProfile } from '../../src/page/picture/model/example.ts';
import { chosenFor } from '../../src/page/picture/model/kernels.ts';
import { hasMapping, mappingOf, pictureShape } from '../../src/page/picture/model/mappings.ts';
import { compareRungs } from '../../src/page/picture/model/summary.ts';
import { type Trace, trace } from '../../src/page/picture/model/trace.ts';
import { describeStep } from '../../src/page/picture/model/words.ts';
import { normalize } from '../../src/problem.ts';
import type { Profile } from '../../src/profile.ts';
import { AMD_64, APPLE, deviceWith, INTEL, matrices, NVIDIA, NVIDIA_16K } from './profiles.ts';

const DEVICES = {
  Apple: APPLE,
  NVIDIA,
  'NVIDIA with 16 KiB': NVIDIA_16K,
  Intel: INTEL,
  'AMD of 64 lanes': AMD_64,
  'subgroups of 4': deviceWith({ lanes: 4, matrixConfigs: matrices('f16', 'f16', '8×8×8') }),
};

const drawn = RUNGS.filter(({ rung }) => hasMapping(rung));

test('every rung of the ladder has a picture', () => {
  expect(drawn.map(({ rung }) => rung)).toEqual(RUNGS.map(({ rung }) => rung));
});

/** Runs the last tile of C's workgroup, and holds the mapping against the product and the kernel's program. */
function expectProduct({ rung: name, build }: Rung, profile: Profile, shape: Shape, params?: Params) {
  const { m, n, k } = shape;
  const chosen = chosenFor(name, shape, profile, params);
  const mapping = mappingOf(name, shape, profile, chosen);
  const [tileRow, tileCol] = [m / mapping.tile.m - 1, n / mapping.tile.n - 1];

  // What each cell of C was given: k must come up as often as every other, from its own row and column.
  const wrong: string[] = [];
  const given = new Map<number, number[]>();
  const traced = trace(mapping, shape, tileRow, tileCol, (c, a, b) => {
    if (Math.floor(a / k) !== Math.floor(c / n) || b % n !== c % n || a % k !== Math.floor(b / n)) {
      wrong.push(`C ${c} += A ${a} · B ${b}`);
    }
    const times = given.get(c) ?? new Array<number>(k).fill(0);
    times[a % k]++;
    given.set(c, times);
  });
  expect(wrong).toEqual([]);
  expect(given.size).toBe(mapping.tile.m * mapping.tile.n);
  expect(new Set([...given.values()].flat())).toEqual(new Set([mapping.products ?? 1]));

  // Each of these cells is stored once, and no other.
  const { vector } = mapping.arrays.c;
  const stored = traced.steps
    .flatMap(({ instructions }) => instructions)
    .filter(({ array, how }) => array === 'c' && how === 'write')
    .flatMap(({ at }) => [...at].filter(index => index >= 0))
    .flatMap(index => Array.from({ length: vector }, (_, j) => index * vector + j));
  expect(stored.toSorted((x, y) => x - y)).toEqual([...given.keys()].toSorted((x, y) => x - y));

  const program = chosen?.program() ?? build(shape, profile);
  const pass = program.passes[program.passes.length - 1];
  expect(mapping.threads).toBe(pass.threads);
  expect(workgroupBytes(mapping.arrays) + (mapping.undrawn ?? 0)).toBe(pass.workgroupMemory);
}

describe.each(Object.entries(DEVICES))('%s', (_, profile) => {
  test.each(drawn.filter(rung => rung.missing(profile) === null).map(rung => [rung.rung, rung] as const))(
    'rung %s',
    (name, rung) => expectProduct(rung, profile, pictureShape(name, profile)),
  );
});

describe('pipelines of two buffers', () => {
  /** Those that a kernel's tuner tries, of the largest matrices. */
  const pipelinesOf = (rung: string, profile: Profile): Params[] => {
    const type = rung === '10' ? 'f16' : 'f32';
    const problem = normalize({ m: 4096, n: 4096, k: 4096, type, cType: 'f32' });
    const kernel = rung === '10' ? subgroupMatrix : splitF32;
    return kernel.space!(problem, profile).filter(
      // Ways are not drawn, and rung 11 is as it runs where it pays to pack B.
      ({ stages, slices, ways = 1, pack }) =>
        stages === 2 && slices === 1 && ways === 1 && (rung === '10' || pack === 1),
    );
  };

  test.each([
    ['10', 'NVIDIA', NVIDIA],
    ['10', 'AMD of 64 lanes', AMD_64],
    ['11', 'NVIDIA', NVIDIA],
    ['11', 'Intel', INTEL],
  ] as const)('rung %s on %s, whatever its tuner tries', (name, _, profile) => {
    const pipelines = pipelinesOf(name, profile);
    expect(new Set(pipelines.map(({ prefetch }) => prefetch))).toEqual(new Set([1, 2, 4]));
    for (const params of pipelines) {
      expectProduct(findRungs(name)[0], profile, { m: 128, n: 256, k: 4 * params.bk }, params);
    }
  });

  test('ways of K are not drawn', () => {
    const [params] = pipelinesOf('10', NVIDIA);
    const shape = { m: 128, n: 128, k: 8 * params.bk };
    const chosen = chosenFor('10', shape, NVIDIA, { ...params, ways: 2 });
    expect(() => mappingOf('10', shape, NVIDIA, chosen)).toThrow(RangeError);
  });

  test.each([
    ['A and B packed', 1],
    ['A and B as they lie', 0],
  ])('two steps in one go, %s', (_, pack) => {
    const known = pipelinesOf('10', NVIDIA).find(it => it.pack === pack && it.prefetch === 4)!;
    expectProduct(findRungs('10')[0], NVIDIA, { m: 128, n: 256, k: 8 * known.bk }, known);
  });

  const tracedOf = (rung: string, sizes: Params) => {
    const known = pipelinesOf(rung, NVIDIA).find(({ pack, sm }) => {
      const asked = { pack, sm, ...sizes };
      return pack === asked.pack && sm === asked.sm;
    })!;
    const params: Params = { ...known, ...sizes };
    const shape = { m: 128, n: 128, k: 8 * params.bk };
    const mapping = mappingOf(rung, shape, NVIDIA, chosenFor(rung, shape, NVIDIA, params));
    return { traced: trace(mapping, shape), bk: params.bk };
  };

  test.each<[rung: string, what: string, sizes: Params, order: string]>([
    [
      '11',
      'a step early',
      { prefetch: 1 },
      'F6 S6 F7 S7 F0 L6 M6 L7 S0 F1 M7 L0 S1 F2 M0 L1 S2 F3 M1 L2 S3 F4 M2 L3 S4 F5 M3 L4 S5 M4 L5 M5',
    ],
    [
      '11',
      'two steps early',
      { prefetch: 2 },
      'F6 F7 S6 S7 F0 F1 L6 M6 L7 S0 F2 M7 L0 S1 F3 M0 L1 S2 F4 M1 L2 S3 F5 M2 L3 S4 M3 L4 S5 M4 L5 M5',
    ],
    [
      '11',
      'two steps in one go',
      { prefetch: 4 },
      'F6 F7 S6 S7 F0 F1 L6 M6 L7 S0 F2 F3 M7 L0 S1 M0 L1 S2 F4 F5 M1 L2 S3 M2 L3 S4 M3 L4 S5 M4 L5 M5',
    ],
    [
      '10',
      'two steps early, A in rows four at a time',
      { prefetch: 2, pack: 0, sm: 32 },
      'F4-7 F6 F7 S6 S7 F0-3 F0 F1 L6 M6 L7 S0 F2 M7 L0 S1 F3 M0 L1 S2 F4 M1 L2 S3 F5 F4-7 M2 L3 S4 M3 L4 S5 M4 L5 M5',
    ],
  ])('rung %s: fetch %s, stage, load and multiply', (rung, _, sizes, order) => {
    const { traced, bk } = tracedOf(rung, sizes);
    const seen = traced.steps
      .filter(({ kind }) => kind !== 'store')
      .map(({ kind, from, to }) => {
        const steps = [from / bk, ...(to - from > bk ? [to / bk - 1] : [])];
        return `${kind[0].toUpperCase()}${steps.join('-')}`;
      });
    expect(seen.filter((step, i) => step !== seen[i - 1]).join(' ')).toBe(order);
  });

  const wordsOf = (traced: Trace, kind: string, from: number, to = from + 16) => {
    const step = traced.steps.find(it => it.kind === kind && it.from === from && it.to === to)!;
    return describeStep(traced, step, 'subgroup', 0);
  };

  test('in words', () => {
    const { traced } = tracedOf('11', { prefetch: 2 });
    const words = (kind: string, from: number) => wordsOf(traced, kind, from);
    expect([...words('stage', 16), ...words('load', 16), ...words('multiply', 16)]).toMatchInlineSnapshot(`
      [
        "What was fetched for k = 16 to 31 goes into workgroup memory.",
        "Written in memory1 (no bank conflict): each number of A will be used 128 times from there.",
        "Written in memory1 (no bank conflict): each number of B will be used 128 times from there.",
        "Load matrices for k = 16 to 31, which are multiplied next.",
        "The subgroup loads 8 matrices of 256 numbers of A from memory1.",
        "The subgroup loads 4 matrices of 256 numbers of B from memory1.",
        "Multiply, k = 16 to 31.",
        "98,304 multiply-adds in this subgroup, of matrices that are loaded: no memory is read.",
      ]
    `);
  });

  test('in words: rows of A come whole lines of the cache at a time', () => {
    const { traced } = tracedOf('10', { prefetch: 2, pack: 0, sm: 32 });
    expect([...wordsOf(traced, 'fetch', 0, 64), ...wordsOf(traced, 'stage', 0)]).toMatchInlineSnapshot(`
      [
        "Fetch for k = 0 to 63 into workgroup memory.",
        "32 lanes read 32 vectors of 8 of A in 4 rows side by side. Coalesced: 16 sectors of 32 bytes, all of it used. A number has 2 bytes here.",
        "What was fetched for k = 0 to 15 goes into workgroup memory.",
        "Written in memory0 (no bank conflict): each number of A will be used 128 times from there.",
        "Written in memory0 (no bank conflict): each number of B will be used 64 times from there.",
      ]
    `);
  });

  test('a buffer is drawn in its sections, side by side', () => {
    const { traced } = tracedOf('11', { prefetch: 2 });
    const load = traced.steps.find(({ kind }) => kind === 'load')!;
    const view = { scope: 'subgroup', subgroup: 0 } as const;
    const sheets = sheetsOf(traced.mapping.arrays.memory0, touchedPlaces(traced, load, 'memory0', view));
    const lines = (places: ReadonlySet<number>, across: number) =>
      new Set([...places].map(place => Math.floor(place / across))).size;
    expect(
      sheets.map(
        ({ label, rows, across, places }) =>
          `${label} ${rows}×${across}, ${lines(places.get(0)!, across)} lines are loaded`,
      ),
    ).toMatchInlineSnapshot(`
      [
        "A high, low 128×40, 64 lines are loaded",
        "B high, low 128×40, 32 lines are loaded",
      ]
    `);
    expect(touched(traced, load, 'A', view).copied.get(0)!.size).toBe(64 * 16);
    expect(touched(traced, load, 'B', view).copied.get(0)!.size).toBe(16 * 32);
  });
});

describe('what memory does', () => {
  const example = exampleProfile('2', null)!.profile;
  const step = (rung: string, kind: string) => {
    const shape = pictureShape(rung, example);
    const traced = trace(mappingOf(rung, shape, example), shape);
    const found = traced.steps.find(step => step.kind === kind)!;
    return { traced, found, words: describeStep(traced, found, 'subgroup', 0) };
  };

  test('rung 1: one lane of a subgroup works', () => {
    expect(step('1', 'multiply').words).toMatchInlineSnapshot(`
      [
        "Multiply, k = 0.",
        "The only thread reads 1 number of A. 1 sector of 32 bytes, 4 bytes of it used.",
        "The only thread reads 1 number of B. 1 sector of 32 bytes, 4 bytes of it used.",
        "1 multiply-add. The other 31 lanes of the subgroup idle.",
      ]
    `);
  });
  test('rung 2: rows of A are far apart', () => {
    expect(step('2', 'multiply').words).toMatchInlineSnapshot(`
      [
        "Multiply, k = 0.",
        "32 lanes read 16 numbers of A that lie apart, each for 2 lanes. Scattered: 16 sectors of 32 bytes, 64 bytes of it used. In the workgroup, 16 threads read each number of A in this step.",
        "32 lanes read 2 numbers of B side by side, each for 16 lanes. Coalesced: 1 sector of 32 bytes, 8 bytes of it used. In the workgroup, 16 threads read each number of B in this step.",
        "32 multiply-adds in this subgroup.",
      ]
    `);
  });
  test('rung 3: neighbours read neighbours', () => {
    expect(step('3', 'multiply').words).toMatchInlineSnapshot(`
      [
        "Multiply, k = 0.",
        "32 lanes read 2 numbers of A, each for 16 lanes. Broadcast: 2 sectors of 32 bytes, 8 bytes of it used. In the workgroup, 16 threads read each number of A in this step.",
        "32 lanes read 16 numbers of B side by side, each for 2 lanes. Coalesced: 2 sectors of 32 bytes, all of it used. In the workgroup, 16 threads read each number of B in this step.",
        "32 multiply-adds in this subgroup.",
      ]
    `);
  });
  test('rung 4: what is fetched is used again', () => {
    expect(step('4', 'fetch').words).toMatchInlineSnapshot(`
      [
        "Fetch for k = 0 to 15 into workgroup memory.",
        "32 lanes read 32 numbers of A in 2 rows side by side. Coalesced: 4 sectors of 32 bytes, all of it used.",
        "32 lanes read 32 numbers of B in 2 rows side by side. Coalesced: 4 sectors of 32 bytes, all of it used.",
        "Kept in tileA (no bank conflict): each number of A will be used 16 times from there.",
        "Kept in tileB (no bank conflict): each number of B will be used 16 times from there.",
      ]
    `);
  });
  test('rung 7: rows of a tile begin in the same bank', () => {
    expect(step('7', 'multiply').words).toMatchInlineSnapshot(`
      [
        "Multiply, k = 0 to 3.",
        "Each thread reads 16 numbers from tileA (no bank conflict). In the workgroup, 8 threads read each number of tileA in this step.",
        "Each thread reads 16 numbers from tileBt (bank conflict: lanes meet in one bank, which takes 8 times as long). In the workgroup, 8 threads read each number of tileBt in this step.",
        "2,048 multiply-adds in this subgroup.",
      ]
    `);
  });
  test('rung 8s: a lane hands A to the others', () => {
    expect(step('8s', 'multiply').words).toMatchInlineSnapshot(`
      [
        "Multiply, k = 0.",
        "32 lanes read 32 numbers of B side by side. Coalesced: 4 sectors of 32 bytes, all of it used. 4 such reads: 16 sectors, 512 bytes. In the workgroup, 4 threads read each number of B in this step.",
        "Lane 0 hands its 8 numbers of A to all lanes of its subgroup: no memory is read.",
        "1,024 multiply-adds in this subgroup.",
      ]
    `);
  });

  test('rung 9: four lanes read a row of a step of A', () => {
    expect(step('9', 'fetch').words).toMatchInlineSnapshot(`
      [
        "Fetch for k = 0 to 15 into workgroup memory.",
        "32 lanes read 32 vectors of 4 of A in 8 rows side by side. Coalesced: 16 sectors of 32 bytes, all of it used.",
      ]
    `);
  });
  test('rung 11: words of both operands go into different banks', () => {
    expect(step('11', 'stage').words).toMatchInlineSnapshot(`
      [
        "What was fetched for k = 0 to 15 goes into workgroup memory.",
        "Written in memoryA (no bank conflict): each number of A will be used 64 times from there.",
        "Written in memoryB (no bank conflict): each number of B will be used 128 times from there.",
      ]
    `);
  });

  test('a sector that is moved for a single number is shown whole', () => {
    const { traced, found } = step('2', 'multiply');
    const { global, sectors } = touched(traced, found, 'A', { scope: 'subgroup', subgroup: 0 });
    expect([...global.values()].reduce((sum, cells) => sum + cells.size, 0)).toBe(16);
    expect(sectors.size).toBe(16 * 8);
  });
});

test('rungs in numbers', () => {
  const numbers = [...compareRungs(null)].map(
    it =>
      `${it.rung}: ${it.globalReads.toPrecision(3)} reads a multiply-add, ${it.intensity.toPrecision(3)} flop/byte, banks ${it.conflicts}`,
  );
  expect(numbers).toMatchInlineSnapshot(`
    [
      "1: 2.00 reads a multiply-add, 0.0313 flop/byte, banks 1",
      "2: 2.00 reads a multiply-add, 0.118 flop/byte, banks 1",
      "3: 2.00 reads a multiply-add, 0.500 flop/byte, banks 1",
      "4: 0.125 reads a multiply-add, 4.00 flop/byte, banks 1",
      "5: 0.0625 reads a multiply-add, 8.00 flop/byte, banks 4",
      "6: 0.0625 reads a multiply-add, 8.00 flop/byte, banks 4",
      "7: 0.0625 reads a multiply-add, 8.00 flop/byte, banks 8",
      "8s: 0.133 reads a multiply-add, 3.76 flop/byte, banks 1",
      "8: 0.0625 reads a multiply-add, 8.00 flop/byte, banks null",
      "9: 0.0156 reads a multiply-add, 32.0 flop/byte, banks 1",
      "10: 0.0156 reads a multiply-add, 64.0 flop/byte, banks null",
      "11: 0.0469 reads a multiply-add, 21.3 flop/byte, banks null",
    ]
  `);
});
