import { describe, expect, test } from 'vitest';
import { type MeasureOptions, measure, measureTogether } from '../../src/measure/measure.ts';
import type { Timer } from '../../src/measure/timer.ts';

/** A GPU that takes `msOf(n)` milliseconds for the n-th run it is given, and a clock that shows it exactly. */
function fakeTimer(msOf: (run: number) => number, clock: Partial<Timer> = {}) {
  const log: { runs: number; ms: number }[] = [];
  let run = 0;
  const timer: Timer = {
    kind: 'gpu-timestamp',
    resolutionNs: 1,
    async time(encode) {
      let runs = 0;
      encode({ dispatchWorkgroups: () => runs++ } as unknown as GPUComputePassEncoder);
      let ms = 0;
      for (let i = 0; i < runs; i++) ms += msOf(run++);
      log.push({ runs, ms });
      await new Promise(resolve => setTimeout(resolve, 1));
      return ms;
    },
    destroy() {},
    ...clock,
  };
  return { timer, log };
}

const work = { encode: (pass: GPUComputePassEncoder) => pass.dispatchWorkgroups(1) };
const quick: MeasureOptions = { minTime: 20, minWarmUp: 5, maxWarmUp: 1000 };

describe('warm-up', () => {
  test('goes on for as long as the clock ramps, and no sample is from the ramp', async () => {
    const ramp = 60;
    const { timer, log } = fakeTimer(run => (run < ramp ? 80 - (60 * run) / ramp : 20));
    const { ms, steady, samples } = await measure(timer, work, quick);
    expect({ ms, steady }).toEqual({ ms: 20, steady: true });
    expect(samples.every(sample => sample === 20)).toBe(true);
    expect(log.length - samples.length).toBeGreaterThan(ramp);
  });

  test('of a clock that never settles ends when its time is up, and the measurement says so', async () => {
    const { timer } = fakeTimer(run => 1.03 ** run);
    const { steady } = await measure(timer, work, { ...quick, maxWarmUp: 60 });
    expect(steady).toBe(false);
  });

  test('does not believe a clock that is steady and slow before the least time is up', async () => {
    // As an H200 after a second of idling: one slow step of the clock, held for a while under full load.
    const start = performance.now();
    const { timer } = fakeTimer(() => (performance.now() - start < 60 ? 80 : 20));
    const { ms } = await measure(timer, work, { ...quick, minWarmUp: 100 });
    expect(ms).toBe(20);
  });

  test('of a steady clock takes the least time', async () => {
    const { timer, log } = fakeTimer(() => 1);
    const { samples, steady } = await measure(timer, work, { ...quick, minTime: 0 });
    expect(steady).toBe(true);
    expect(log.length - samples.length).toBeLessThan(40);
  });

  test('can be left out, for a GPU without a clock that ramps', async () => {
    const { timer, log } = fakeTimer(() => 1);
    await measure(timer, work, { minTime: 0, minWarmUp: 0, maxWarmUp: 0 });
    expect(log.length).toBe(1 + 5);
  });
});

describe('what a measurement says', () => {
  test('the median, so that one bad sample changes nothing', async () => {
    const { timer } = fakeTimer(run => (run % 10 === 9 ? 500 : 20));
    const { ms } = await measure(timer, work, { ...quick, minWarmUp: 0, maxWarmUp: 0, minTime: 50 });
    expect(ms).toBe(20);
  });

  test('the spread', async () => {
    const { timer } = fakeTimer(run => (run % 2 ? 20 : 40));
    const { spread } = await measure(timer, work, { ...quick, maxWarmUp: 0, minTime: 50 });
    expect(spread).toBeGreaterThan(0.4);
  });

  test('the phases, in order', async () => {
    const phases: string[] = [];
    await measure(fakeTimer(() => 1).timer, work, { ...quick, onPhase: phase => phases.push(phase) });
    expect(phases).toEqual(['warming up', 'measuring']);
  });

  test('nothing, when it is aborted', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(measure(fakeTimer(() => 1).timer, work, { ...quick, signal })).rejects.toThrow('enough');
  });
});

describe('runs in a sample', () => {
  const repeats = async (ms: number, clock: Partial<Timer>) => {
    const { timer, log } = fakeTimer(() => ms, clock);
    const measured = await measure(timer, work, { ...quick, minTime: 0 });
    expect(measured.ms).toBeCloseTo(ms, 9);
    expect(log.at(-1)?.runs).toBe(measured.repeats);
    return measured.repeats;
  };

  test.each([
    ['one, where the clock is fine and the run long', 20, { resolutionNs: 1 }, 1],
    ['15 ms of them, where the clock is fine and the run short', 0.5, { resolutionNs: 1 }, 30],
    ['100 steps of a clock of 400 µs', 0.5, { resolutionNs: 400_000 }, 80],
    ['15 ms where the step is not known', 0.5, { resolutionNs: null }, 30],
    ['20 ms on the wall', 2, { kind: 'wall-clock', resolutionNs: null } as const, 10],
    ['never more than a submit of 100 ms', 30, { resolutionNs: 1_000_000 }, 3],
    ['one, however long it is', 400, { resolutionNs: 100_000 }, 1],
    ['never more than 2000', 1e-4, { kind: 'wall-clock', resolutionNs: null } as const, 2000],
  ])('%s', async (_, ms, clock, expected) => {
    expect(await repeats(ms, clock)).toBe(expected);
  });
});

test('works that are compared take turns, and each gets its own time', async () => {
  const turns: number[] = [];
  const works = [0, 1].map(index => ({
    encode: (pass: GPUComputePassEncoder) => {
      turns.push(index);
      pass.dispatchWorkgroups(1);
    },
  }));
  const timer: Timer = {
    ...fakeTimer(() => 1).timer,
    async time(encode) {
      const before = turns.length;
      encode({ dispatchWorkgroups() {} } as unknown as GPUComputePassEncoder);
      return turns.slice(before).reduce((ms, index) => ms + (index === 0 ? 20 : 60), 0);
    },
  };
  const [first, second] = await measureTogether(timer, works, { ...quick, minTime: 0 });
  expect([first.ms, second.ms]).toEqual([20, 60]);
  expect(turns.slice(-10)).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
});
