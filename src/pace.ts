/**
 * How much work goes into one submit. Windows resets a GPU that is busy for two seconds, and a page that shares it
 * stutters long before, so work is handed over in portions of about 50 ms. How much that is shows as it goes: portions
 * start small and grow with what was measured, for each kernel apart.
 */
const TARGET_MS = 50;
/** Operations of the first portion: well under a second on the slowest GPU, and on a CPU. */
const FIRST = 2 ** 28;
const FIRST_SOFTWARE = 2 ** 24;
const GROWTH = 8;

export class Pace {
  readonly #first: number;
  readonly #portions = new Map<string, number>();

  constructor(software: boolean) {
    this.#first = software ? FIRST_SOFTWARE : FIRST;
  }

  /** Operations that a submit of this kernel may have. */
  portion(kernel: string): number {
    return this.#portions.get(kernel) ?? this.#first;
  }

  record(kernel: string, operations: number, ms: number): void {
    const portion = this.portion(kernel);
    const fitting = (operations * TARGET_MS) / Math.max(ms, 0.01);
    // A small piece says little about a large one: it may only make the portion larger.
    if (operations < portion / 4 && fitting < portion) return;
    this.#portions.set(kernel, Math.max(FIRST_SOFTWARE, Math.min(portion * GROWTH, fitting)));
  }
}
