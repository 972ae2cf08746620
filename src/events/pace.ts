/**
 * When those who listen are told what is fleeting. It is gathered for as long as it must be: telling takes a third of this
 * process's time at most, however many listen and however fast models speak. While few listen, nothing is held back.
 */

/** How long is told at a stretch, in milliseconds: then comes what else there is to do. */
const STRETCH_MS = 5;

/** What is left to everything else for each millisecond of telling; and at most, whatever held the telling up. */
const REST = 2;
const LONGEST_REST_MS = 250;

/** What was gathered for somebody, and is told in one go. */
export type Gathered = { send(): void };

export type Clock = {
  /** In milliseconds, monotonic. */
  now: () => number;
  /** At once is after what is under way. */
  after: (ms: number, run: () => void) => void;
};

const CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    if (ms < 1) setImmediate(run);
    else setTimeout(run, ms);
  },
};

export class Pace {
  readonly #clock: Clock;
  readonly #due = new Set<Gathered>();
  #isSet = false;
  /** When telling may go on. */
  #freeAt = -Infinity;

  constructor(clock = CLOCK) {
    this.#clock = clock;
  }

  /** `gathered` is told soon, once: in the order in which it was asked for. */
  soon(gathered: Gathered): void {
    this.#due.add(gathered);
    this.#set();
  }

  #set(): void {
    if (this.#isSet || this.#due.size === 0) return;
    this.#isSet = true;
    const { after, now } = this.#clock;
    after(Math.max(0, this.#freeAt - now()), () => {
      this.#isSet = false;
      this.#send();
      this.#set();
    });
  }

  #send(): void {
    const began = this.#clock.now();
    let took = 0;
    for (const gathered of this.#due) {
      this.#due.delete(gathered);
      gathered.send();
      took = this.#clock.now() - began;
      if (took >= STRETCH_MS) break;
    }
    // What was begun a little early is paid for as well.
    const from = Math.max(began, this.#freeAt);
    this.#freeAt = from + took + Math.min(took * REST, LONGEST_REST_MS);
  }
}
