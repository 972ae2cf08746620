/**
 * What the operator asks of this process: to pause, to go on, or to drain. It is stored in the row of the process, which
 * reads it with each heartbeat, so it needs no Redis. A process that was declared dead registers again with it.
 */
import type { Logger } from 'pino';
import type { ProcessStatus } from '../../../core/process-status.ts';
import type { QueueConsumer } from '../../../queue/wake-queue.ts';
import type { Slots } from '../../scheduling/slots.ts';

type Controlled = {
  slots: Pick<Slots, 'pause' | 'resume'>;
  log: Logger;
  /** Ends the process as a signal does; null: it serves more than its runs, so it cannot be drained by a request. */
  onDrainRequest: (() => void) | null;
};

export class ProcessControl {
  readonly canDrain: boolean;
  readonly #controlled: Controlled;
  #consumer: Pick<QueueConsumer, 'pause' | 'resume'> | null = null;
  #requested: ProcessStatus = 'running';
  #isDraining = false;

  constructor(controlled: Controlled) {
    this.#controlled = controlled;
    this.canDrain = controlled.onDrainRequest !== null;
  }

  /** What the operator asked for, as last read. */
  get requested(): ProcessStatus {
    return this.#requested;
  }

  get status(): ProcessStatus {
    return this.#isDraining ? 'draining' : this.#requested;
  }

  /** The process drains, after a signal or a request. */
  begunDraining(): void {
    this.#isDraining = true;
  }

  /** A paused process takes no entries from the queue, so that others get them. */
  attach(consumer: Pick<QueueConsumer, 'pause' | 'resume'>): void {
    this.#consumer = consumer;
    if (this.#requested === 'paused') this.#consume(false);
  }

  receive(requested: ProcessStatus): void {
    if (requested === this.#requested || this.#isDraining) return;
    const { slots, log, onDrainRequest } = this.#controlled;
    this.#requested = requested;
    switch (requested) {
      case 'running':
        log.info('resumed by the operator');
        slots.resume();
        return this.#consume(true);
      case 'paused':
        log.info('paused by the operator: runs go on, and no other begins');
        slots.pause();
        return this.#consume(false);
      case 'draining':
        log.info('the operator asked the process to drain');
        return onDrainRequest?.();
    }
  }

  #consume(takes: boolean): void {
    const changed = takes ? this.#consumer?.resume() : this.#consumer?.pause();
    // Without the queue the sweep finds all work.
    changed?.catch(() => undefined);
  }
}
