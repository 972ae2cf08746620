/**
 * How a run hears from outside while an effect is in flight. A nudge ends what can be ended, so that the loop reads its
 * mailbox and decides again; nothing is decided here.
 *
 * Two strengths: `soft` ends what may be repeated elsewhere and costs nothing then; `hard` also model calls, which would be
 * paid for twice, and `once` calls. A wish and a lost lease are hard.
 */

/** Made once: every run ends with two of them, and an error of its own, with its stack, is dear. */
const NUDGED = new DOMException('The run is to look up.', 'AbortError');

export class RunSignals {
  #soft = new AbortController();
  #hard = new AbortController();
  #lost = false;
  #leaving = false;
  #seen = -1;

  /** Ends tools that may run again, and waits. */
  get soft(): AbortSignal {
    return this.#soft.signal;
  }

  /** Ends everything. */
  get hard(): AbortSignal {
    return this.#hard.signal;
  }

  /** The lease is gone: nothing may be begun or written any more. */
  get lost(): boolean {
    return this.#lost;
  }

  /** The process stops: the context is to be given back at the next step. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /**
   * Somebody wants something: read the mailbox. `controlSeq`: as of when; what was read since then is no news, and must
   * not end an effect that was begun with it in mind.
   */
  lookUp(controlSeq = Infinity): void {
    if (controlSeq <= this.#seen) return;
    this.#soft.abort(NUDGED);
    this.#hard.abort(NUDGED);
  }

  lose(): void {
    this.#lost = true;
    this.lookUp();
  }

  /** Give the context back at the next step, without ending what is in flight. */
  leave(): void {
    this.#leaving = true;
  }

  /** The process stops, and waits only for what must not, or should not, be begun again elsewhere. */
  hurry(): void {
    this.#soft.abort(NUDGED);
  }

  /** The mailbox was read when its `control_seq` stood here. */
  saw(controlSeq: number): void {
    this.#seen = controlSeq;
  }

  /** From here on a nudge is a new one. Called before the mailbox is read, never after. */
  renew(): void {
    if (this.#lost) return;
    if (this.#soft.signal.aborted) this.#soft = new AbortController();
    if (this.#hard.signal.aborted) this.#hard = new AbortController();
  }
}
