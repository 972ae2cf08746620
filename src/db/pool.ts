/**
 * Lines for who needs one, each for one piece of work at a time. The one that came back last is lent first, so that a pool
 * of one keeps to its connection, and its session, until that is cut; whoever has to wait is served in the order of coming,
 * or told that the database is away: by then nobody waits for the answer any more.
 * A lost line leaves an empty place, where another one is opened when somebody needs it.
 */
import { Line, LineLost, LOOKS } from './line.ts';
import type { LineOptions } from './line.ts';

/** Another line in place of one that was lost; null: it was not, or there are no more. */
export type Renew = () => Line | null;

type Waiting = { resolve: (line: Line) => void; reject: (error: Error) => void; looks: number };

export class Pool {
  readonly #max: number;
  readonly #options: LineOptions;
  /** All lines, lent or idle; who waits does so because there are `max` and none is idle. */
  readonly #lines = new Set<Line>();
  readonly #idle: Line[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #clock: NodeJS.Timeout;
  readonly #emptied = Promise.withResolvers<void>();
  #closing: Promise<void> | null = null;

  constructor(max: number, options: LineOptions) {
    this.#max = max;
    this.#options = options;
    this.#clock = setInterval(() => {
      for (const line of this.#lines) line.look();
      this.#look();
    }, options.silentMs / LOOKS).unref();
  }

  /**
   * Does `work` on a line. `renew` gives another one for it where it was lost, or null once the pool is closed. Rejects
   * with the work's error, or with CONNECTION_ENDED after the pool was closed.
   */
  async use<T>(work: (line: Line, renew: Renew) => Promise<T>): Promise<T> {
    let line = this.#take() ?? (await this.#wait());
    const renew = (): Line | null => {
      if (this.#closing !== null || line.lost === null) return null;
      this.#lines.delete(line);
      line = this.#open();
      return line;
    };
    try {
      return await work(line, renew);
    } finally {
      this.#give(line);
    }
  }

  /** What is under way, and who waits already, has `seconds`; then all is ended. */
  close(seconds: number): Promise<void> {
    this.#closing ??= this.#close(seconds);
    return this.#closing;
  }

  async #close(seconds: number): Promise<void> {
    this.#partFromIdle();
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, seconds * 1_000);
    await Promise.race([this.#emptied.promise, patience.promise]);
    clearTimeout(timer);
    clearInterval(this.#clock);
    const destroyed = new LineLost('CONNECTION_DESTROYED', 'The database was closed meanwhile.');
    for (const { reject } of this.#waiting.splice(0)) reject(destroyed);
    for (const line of this.#lines) line.lose(destroyed);
  }

  /** A line that is free at once, or null. */
  #take(): Line | null {
    if (this.#closing !== null) throw new LineLost('CONNECTION_ENDED', 'The database was closed.');
    for (let line = this.#idle.pop(); line !== undefined; line = this.#idle.pop()) {
      if (line.lost === null) return line;
      this.#lines.delete(line);
    }
    return this.#lines.size < this.#max ? this.#open() : null;
  }

  #wait(): Promise<Line> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject, looks: 0 }));
  }

  /** Who came first has waited longest. */
  #look(): void {
    for (const waiting of this.#waiting) waiting.looks += 1;
    while ((this.#waiting[0]?.looks ?? 0) > LOOKS) this.#waiting.shift()?.reject(new NoneFree());
  }

  #open(): Line {
    const line = new Line(this.#options);
    this.#lines.add(line);
    return line;
  }

  #give(line: Line): void {
    if (line.lost !== null) this.#lines.delete(line);
    const next = this.#waiting.shift();
    if (next !== undefined) next.resolve(line.lost === null ? line : this.#open());
    else if (line.lost === null) this.#idle.push(line);
    if (this.#closing !== null) this.#partFromIdle();
  }

  #partFromIdle(): void {
    for (const line of this.#idle.splice(0)) {
      void line.end().finally(() => {
        this.#lines.delete(line);
        this.#partFromIdle();
      });
    }
    if (this.#lines.size === 0) this.#emptied.resolve();
  }
}

/** All lines were busy for as long as one of them may be silent. */
class NoneFree extends Error {
  override name = 'NoneFree';
  readonly code = 'CONNECT_TIMEOUT';
  constructor() {
    super('No connection to the database became free in time.');
  }
}
