/** Polls as `polling.ts` decides. */
import { advancePolling, NO_POLLING, type PollingEffect, type PollingEvent } from './polling.ts';

export class Poller {
  readonly #everyMs: number;
  readonly #poll: () => Promise<void>;
  #state = NO_POLLING;
  #timer: NodeJS.Timeout | undefined;

  /** `poll` must not reject. */
  constructor(everyMs: number, poll: () => Promise<void>) {
    this.#everyMs = everyMs;
    this.#poll = poll;
  }

  get isClosed(): boolean {
    return this.#state.isClosed;
  }

  /** Whether there is something to poll for. */
  use(isUsed: boolean): void {
    this.#take({ kind: 'use', isUsed });
  }

  /** Bus messages may have been lost: polls at once. */
  lost(): void {
    this.#take({ kind: 'lost' });
  }

  close(): void {
    this.#take({ kind: 'closed' });
  }

  #take(event: PollingEvent): void {
    const { state, effects } = advancePolling(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: PollingEffect): void {
    switch (effect) {
      case 'set_timer':
        this.#timer = setTimeout(() => this.#take({ kind: 'due' }), this.#everyMs);
        return;
      case 'clear_timer':
        return clearTimeout(this.#timer);
      case 'poll':
        return void this.#poll().then(() => this.#take({ kind: 'answered' }));
    }
  }
}
