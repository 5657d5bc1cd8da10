/** The candidates for one problem against each other; search.ts says how. */
import type { Candidate } from '../choose.ts';
import { GemmError } from '../errors.ts';
import { type Measurement, measure, measureTogether } from '../measure/measure.ts';
import type { TrialOperands } from '../trial/operands.ts';
import { candidateSubject, prepareTrial, type Trial } from '../trial/trial.ts';
import type { Measured, SearchOptions, SearchProgress, SearchResult, Tried } from './search.ts';
import { type Entrant, sameParams, spaceOf } from './space.ts';

/**
 * Shares of the budget after which no further candidate is checked, and none measured for the first time. The time until a GPU's
 * clock is up is left out of the first: otherwise nothing of a short budget would remain for measuring.
 */
const CHECKED = 0.6;
const MEASURED = 0.8;

/** A candidate is dropped whose run takes longer than this, or so many times the best one's, if that is no trifle. */
const SLOW_MS = 2000;
const SLOW_TIMES = 10;
const TRIFLE_MS = 100;

/** Finalists are within this of the best, and no more than so many. */
const CLOSE = 1.25;
const FINALISTS = 6;

/** How the first measurements and the finals are made, in milliseconds; on a GPU the first one brings the clock up. */
const PACE = {
  gpu: { clock: 1500, quick: { minTime: 20, maxWarmUp: 100 }, final: 250 },
  software: { clock: 0, quick: { minTime: 5, maxWarmUp: 0 }, final: 60 },
} as const;

/** A candidate that computes right. */
interface Ready extends Entrant {
  readonly trial: Trial;
  /** Milliseconds of its first run, without what a driver compiles in it. */
  readonly roughMs: number;
  quick?: Measurement;
  final?: Measurement;
}

export class Contest {
  readonly #options: SearchOptions;
  readonly #operands: TrialOperands;
  readonly #first: Candidate;
  readonly #entrants: readonly Entrant[];
  readonly #passedOver: Tried[];
  readonly #pace: (typeof PACE)[keyof typeof PACE];
  readonly #begin = performance.now();
  #ready: readonly Ready[] = [];
  #ended: string | null = null;

  /** @param first what would be chosen without this search */
  constructor(options: SearchOptions, operands: TrialOperands, first: Candidate) {
    const { entrants, skipped } = spaceOf(operands.problem, options, first);
    this.#options = options;
    this.#operands = operands;
    this.#first = first;
    this.#entrants = entrants;
    this.#passedOver = skipped.map(({ kernel, params, status, reason }) => ({
      ...{ kernel: kernel.name, params, status, reason },
      ms: null,
    }));
    this.#pace = options.profile.software ? PACE.software : PACE.gpu;
  }

  /** Checks, measures and decides. An aborted signal ends it after what is under way. */
  async hold(): Promise<void> {
    try {
      await this.#check();
      await this.#measure();
      await this.#decide();
    } catch (error) {
      if (!this.#options.signal?.aborted || isLost(error)) throw error;
      this.#ended = 'it was stopped';
    }
  }

  result(): SearchResult {
    const best = this.#best();
    const before = this.#ready.find(it => this.#isFirst(it));
    const measured = this.#ready.map((it): Tried => {
      const ms = timeOf(it)?.ms ?? null;
      const status = it === best ? 'fastest' : ms === null ? 'untried' : 'measured';
      return { kernel: it.kernel.name, params: it.params, status, reason: ms === null ? LATE : null, ms };
    });
    return {
      best: best ? describe(best) : null,
      before: before && timeOf(before) ? describe(before) : null,
      tried: [...measured, ...this.#passedOver],
      reason: this.#ended ?? (best ? null : 'no candidate could be measured'),
    };
  }

  destroy(): void {
    for (const { trial } of this.#ready) trial.destroy();
    this.#operands.destroy();
  }

  /** Compiles every candidate, runs it, and holds what it computes against float64. */
  async #check(): Promise<void> {
    for (const [index, entrant] of this.#entrants.entries()) {
      this.#report('checking', index, this.#entrants.length);
      this.#options.signal?.throwIfAborted();
      if (this.#ready.length > 0 && this.#spent() > CHECKED * (1 - this.#pace.clock / this.#options.budget)) {
        for (const late of this.#entrants.slice(index)) this.#passOver(late, 'untried', LATE);
        this.#ended = LATE;
        break;
      }
      await this.#try(entrant);
    }
    // Some turn out to be slow only when others have run.
    for (const ready of this.#ready) {
      const slow = this.#tooSlow(ready.roughMs);
      if (slow) this.#drop(ready, slow);
    }
  }

  async #try(entrant: Entrant): Promise<void> {
    const { profile, timer } = this.#options;
    let trial: Trial | undefined;
    try {
      const made = await prepareTrial(this.#operands, () =>
        candidateSubject(this.#operands, profile, entrant),
      );
      trial = made;
      const { verdict, firstMs } = made;
      if (!verdict.ok) throw new WrongResult(verdict.failure ?? 'it is wrong');
      // Drivers may compile in the first run: a long one is looked at again.
      const roughMs = firstMs > TRIFLE_MS ? await timer.time(pass => made.encode(pass)) : firstMs;
      const ready = { ...entrant, trial, roughMs };
      this.#ready = [...this.#ready, ready];
      const slow = this.#tooSlow(roughMs);
      if (slow) this.#drop(ready, slow);
    } catch (error) {
      trial?.destroy();
      this.#passOver(entrant, error instanceof WrongResult ? 'wrong' : 'failed', failureOf(error));
    }
  }

  /** Why a candidate takes too long to be measured, or null. */
  #tooSlow(ms: number): string | null {
    const best = Math.min(...this.#ready.map(({ roughMs }) => roughMs));
    if (ms <= SLOW_MS && (ms <= TRIFLE_MS || ms <= SLOW_TIMES * best)) return null;
    const others = ms > best ? `, and the best one ${best.toFixed(0)} ms` : '';
    return `a run takes ${ms.toFixed(0)} ms${others}`;
  }

  /** Measures each one shortly. */
  async #measure(): Promise<void> {
    for (const [index, ready] of this.#ready.entries()) {
      this.#report('measuring', index, this.#ready.length);
      if (index > 0 && this.#spent() > MEASURED) {
        this.#ended = LATE;
        return;
      }
      const { clock, quick } = this.#pace;
      const warmUp = index > 0 ? { minWarmUp: 0 } : { minWarmUp: clock, maxWarmUp: 2 * clock };
      ready.quick = await measure(this.#options.timer, ready.trial, {
        ...quick,
        ...warmUp,
        ...this.#signal(),
      });
    }
  }

  /** Measures the fastest few, and what was chosen before, once more and in turn. */
  async #decide(): Promise<void> {
    const ms = ({ quick }: Ready) => quick?.ms ?? Number.POSITIVE_INFINITY;
    const sorted = this.#ready.filter(({ quick }) => quick).sort((x, y) => ms(x) - ms(y));
    const close = sorted.filter(it => ms(it) <= CLOSE * ms(sorted[0])).slice(0, FINALISTS);
    const finalists = [...close, ...sorted.filter(it => this.#isFirst(it) && !close.includes(it))];
    if (finalists.length === 0) return;
    this.#report('deciding', 0, finalists.length);
    const left = (this.#options.budget * (1 - this.#spent())) / finalists.length;
    const measured = await measureTogether(
      this.#options.timer,
      finalists.map(({ trial }) => trial),
      {
        ...{ minTime: Math.max(1, Math.min(this.#pace.final, left)), minWarmUp: 0, maxWarmUp: 0 },
        ...this.#signal(),
      },
    );
    for (const [index, ready] of finalists.entries()) ready.final = measured[index];
    this.#report('deciding', finalists.length, finalists.length);
  }

  /** The fastest of the finals; of the first measurements where there were none. */
  #best(): Ready | undefined {
    const finals = this.#ready.filter(({ final }) => final);
    const measured = finals.length > 0 ? finals : this.#ready.filter(({ quick }) => quick);
    return [...measured].sort((x, y) => timeOf(x)!.ms - timeOf(y)!.ms)[0];
  }

  #isFirst({ kernel, params }: Entrant): boolean {
    return kernel === this.#first.kernel && sameParams(params, this.#first.params);
  }

  #drop(ready: Ready, reason: string): void {
    ready.trial.destroy();
    this.#ready = this.#ready.filter(it => it !== ready);
    this.#passOver(ready, 'slow', reason);
  }

  #passOver({ kernel, params }: Entrant, status: Tried['status'], reason: string): void {
    this.#passedOver.push({ kernel: kernel.name, params, status, reason, ms: null });
  }

  /** The share of the budget that is used up. */
  #spent(): number {
    return (performance.now() - this.#begin) / this.#options.budget;
  }

  #signal(): { readonly signal?: AbortSignal } {
    const { signal } = this.#options;
    return signal ? { signal } : {};
  }

  #report(phase: SearchProgress['phase'], done: number, total: number): void {
    const best = this.#best();
    this.#options.onProgress?.({ phase, done, total, best: best ? describe(best) : null });
  }
}

const LATE = 'the time was up';

class WrongResult extends Error {}

const isLost = (error: unknown) => error instanceof GemmError && error.code === 'device-lost';

/** What a failure says, in a line. @throws the failure itself where the device is gone: nothing else can be tried */
export function failureOf(error: unknown): string {
  if (isLost(error)) throw error;
  return (error as Error).message.split('\n')[0];
}

const timeOf = ({ quick, final }: Ready): Measurement | undefined => final ?? quick;

function describe(ready: Ready): Measured {
  const { ms, spread } = timeOf(ready)!;
  const { relErr } = ready.trial.verdict;
  return { kernel: ready.kernel.name, params: ready.params, ms, spread, relErr };
}
