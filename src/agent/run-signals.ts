/**
 * How a run is notified while an effect is in flight. A signal aborts what can be aborted, so that the loop reads its
 * mailbox and decides again; nothing is decided here.
 *
 * There are two signals. `soft` aborts what another process can repeat at no cost. `hard` also aborts model calls,
 * which would be paid for twice, and `once` calls. Stop requests and a lost lease use both.
 */

/** Created once: every run ends with two of these, and creating an error with its stack is expensive. */
const READ_MAILBOX = new DOMException('The run has to read its mailbox.', 'AbortError');

export class RunSignals {
  #soft = new AbortController();
  #hard = new AbortController();
  #lost = false;
  #leaving = false;
  #seen = -1;

  /** Aborts waits and tools that may run again. */
  get soft(): AbortSignal {
    return this.#soft.signal;
  }

  /** Aborts everything. */
  get hard(): AbortSignal {
    return this.#hard.signal;
  }

  /** The lease is lost: nothing may be started or written any more. */
  get lost(): boolean {
    return this.#lost;
  }

  /** The process stops: the context is released at the next step. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /**
   * A control signal arrived: read the mailbox. `controlSeq`: the version that it announces. If the run has already
   * read that version, the signal is ignored and must not abort an effect that was started with that knowledge.
   */
  notify(controlSeq = Infinity): void {
    if (controlSeq <= this.#seen) return;
    this.#soft.abort(READ_MAILBOX);
    this.#hard.abort(READ_MAILBOX);
  }

  lose(): void {
    this.#lost = true;
    this.notify();
  }

  /** Releases the context at the next step without aborting what is in flight. */
  leave(): void {
    this.#leaving = true;
  }

  /** The process stops and waits only for effects that must not, or should not, be started again elsewhere. */
  abortSoft(): void {
    this.#soft.abort(READ_MAILBOX);
  }

  /** The mailbox was read at this `control_seq`. */
  markRead(controlSeq: number): void {
    this.#seen = controlSeq;
  }

  /** Later signals count as new. Called before the mailbox is read, never after. */
  renew(): void {
    if (this.#lost) return;
    if (this.#soft.signal.aborted) this.#soft = new AbortController();
    if (this.#hard.signal.aborted) this.#hard = new AbortController();
  }
}
