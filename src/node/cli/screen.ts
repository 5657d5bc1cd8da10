import type { ChalkInstance } from 'chalk';
import { createLogUpdate } from 'log-update';
import { colours } from './format.ts';

/** Where a command writes to; a test hands in its own. */
export interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** A part of the terminal that is drawn again and again while work goes on, and once where there is no terminal. */
export class Screen {
  readonly colour: ChalkInstance;
  readonly #stream: Stream;
  readonly #update: ReturnType<typeof createLogUpdate> | null;
  #draw: (frame: string) => string = () => '';
  #ticks = 0;
  #clock: NodeJS.Timeout | undefined;

  constructor(stream: Stream, name: 'stdout' | 'stderr') {
    this.#stream = stream;
    this.colour = colours(name);
    this.#update = stream.isTTY ? createLogUpdate(stream as NodeJS.WriteStream) : null;
  }

  get live(): boolean {
    return this.#update !== null;
  }

  /** Columns to write in: 100 where nobody knows. */
  get width(): number {
    return this.#stream.columns ?? 100;
  }

  print(text: string): void {
    this.#stream.write(`${text}\n`);
  }

  /** From now on shows what `draw` gives, ten times a second. */
  animate(draw: (frame: string) => string): void {
    this.#draw = draw;
    if (!this.#update) return;
    this.refresh();
    this.#clock = setInterval(() => this.refresh(), 100);
  }

  refresh(): void {
    this.#update?.(this.#draw(FRAMES[this.#ticks++ % FRAMES.length]));
  }

  /** Stops and gives the cursor back. The last picture is printed, to stay. */
  settle(): void {
    // Printed, not drawn: a terminal that is lower than the picture would lose its top.
    this.erase();
    this.print(this.#draw(''));
  }

  /** Stops and gives the cursor back, with whatever was last drawn left where it is. */
  abandon(): void {
    this.#stop();
    this.#update?.done();
  }

  /** Stops and removes the picture. */
  erase(): void {
    this.#stop();
    this.#update?.clear();
    this.#update?.done();
  }

  #stop(): void {
    clearInterval(this.#clock);
  }
}
