/**
 * The model call of a claim, sent while the commit that begins it is still under way: that transaction holds the context's
 * row, so nothing can come in between. Nobody hears of the call before the commit is there. Where that fails the call is
 * ended, and for everybody else it never was.
 */
import { decide } from '../core/decide.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { RunSignals } from './run-signals.ts';
import { beginCall } from './begin-call.ts';
import type { AnswerListener, Early, RunPorts } from './run.ts';

/** One that is not taken must be dropped. */
export type EarlyCall = Early & {
  /** Ends a call that nobody took. */
  drop(): void;
};

/** `snapshot`: what will stand. Null: its next step is no model call that may be made now. */
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
  const held = new Throttled();
  const signal = AbortSignal.any([signals.hard, own.signal]);
  const call = beginCall(ports, access.model, snapshot, job, settings, signal, held);
  // Nobody may ever wait for it.
  call.outcome.catch(() => undefined);
  let isTaken = false;
  return {
    take(now, listener) {
      if (isTaken || now !== snapshot) return null;
      isTaken = true;
      held.release(listener);
      return call;
    },
    drop() {
      if (!isTaken) own.abort();
    },
  };
}

/** Keeps what is heard until somebody may hear it. */
class Throttled implements AnswerListener {
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
