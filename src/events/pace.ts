/**
 * Decides when fleeting events are sent to subscribers. They are collected for as long as necessary: sending takes a
 * third of this process's time at most, however many subscribers there are and however fast models stream. With few
 * subscribers nothing is delayed.
 */

/** How long one round of sending may take, in milliseconds. Then other work gets its turn. */
const STRETCH_MS = 5;

/**
 * Milliseconds left to other work for each millisecond of sending; and the longest such pause, whatever delayed the
 * sending.
 */
const REST = 2;
const LONGEST_REST_MS = 250;

/** Collected events that `send` sends together. */
export type Gathered = { send(): void };

type Clock = {
  /** In milliseconds, monotonic. */
  now: () => number;
  /** With less than 1 ms, `run` is called after the current callbacks of the event loop. */
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
  /** When sending may continue. */
  #freeAt = -Infinity;

  constructor(clock = CLOCK) {
    this.#clock = clock;
  }

  /** Sends `gathered` soon, once. The order is that of the calls. */
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
    // A round that began slightly early counts as begun on time.
    const from = Math.max(began, this.#freeAt);
    this.#freeAt = from + took + Math.min(took * REST, LONGEST_REST_MS);
  }
}
