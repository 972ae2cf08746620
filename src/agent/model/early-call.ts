/**
 * The model call of a claim, sent while the commit of the claim is still in flight. That transaction holds the lock
 * on the context's row, so no other write can come in between. Nothing is published before the commit. If the commit
 * fails, the call is aborted without a trace.
 */
import { decide } from '../../core/decide.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { RunSignals } from '../run-signals.ts';
import { beginCall } from './begin-call.ts';
import type { AnswerListener, Early, RunPorts } from '../run.ts';

/** A call that is not taken must be dropped. */
export type EarlyCall = Early & {
  /** Aborts the call if it was not taken. */
  drop(): void;
};

/** `snapshot`: the state after the commit. Null: the next decision is not a model call, or it cannot start now. */
export function callEarly(
  ports: Pick<RunPorts, 'clock' | 'fingerprint' | 'log' | 'model'>,
  signals: RunSignals,
  snapshot: Snapshot,
): EarlyCall | null {
  const step = decide(snapshot, ports.clock.now());
  if (step.kind !== 'call_model' || signals.leaving || signals.hard.aborted) return null;
  const { job, settings } = step;
  const access = ports.model(settings.model.provider);
  if (access?.kind !== 'open') return null;
  const own = new AbortController();
  const buffer = new BufferingListener();
  const signal = AbortSignal.any([signals.hard, own.signal]);
  const call = beginCall(ports, access.model, snapshot, job, settings, signal, buffer);
  // Possibly no code awaits it.
  call.outcome.catch(() => undefined);
  let isTaken = false;
  return {
    take(now, listener) {
      if (isTaken || now !== snapshot) return null;
      isTaken = true;
      buffer.release(listener);
      return call;
    },
    drop() {
      if (!isTaken) own.abort();
    },
  };
}

/** Buffers the stream until a listener may receive it. */
class BufferingListener implements AnswerListener {
  readonly #received: ((listener: AnswerListener) => void)[] = [];
  #listener: AnswerListener | null = null;

  release(listener: AnswerListener): void {
    this.#listener = listener;
    for (const replay of this.#received.splice(0)) replay(listener);
  }

  started(): void {
    this.#forward((listener) => listener.started());
  }

  text(delta: string): void {
    this.#forward((listener) => listener.text(delta));
  }

  thinking(delta: string): void {
    this.#forward((listener) => listener.thinking(delta));
  }

  ended(isWhole: boolean): void {
    this.#forward((listener) => listener.ended(isWhole));
  }

  #forward(event: (listener: AnswerListener) => void): void {
    if (this.#listener === null) this.#received.push(event);
    else event(this.#listener);
  }
}
