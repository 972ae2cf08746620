/**
 * The end of a claim. Its transaction appends the beginning or resumption of a job and commits; meanwhile the model call
 * of that job begins. In this order:
 *
 * 1. The transaction has locked the rows of the claimed contexts and has read all that is stored of them. `decide` says
 *    what is due, and `open` turns it into the first append. No other process can write to a locked row, so the outcome
 *    of this append and the snapshot after it are known before it is sent, unless the tenant is suspended at this moment.
 * 2. The appends of all contexts are sent as the last statement, together with the commit.
 * 3. While both are in flight, the model is called for each context whose next decision is a model call. The stream of
 *    the call is buffered.
 * 4. The commit succeeded: the run starts from the known snapshot. When its loop comes to the model call, it takes this
 *    one, with its stream from the beginning.
 *
 * What must hold:
 *
 * - Before the commit nothing of a call is published or stored.
 * - If the commit fails or its outcome is unknown, the call is aborted and its answer is not used. A claim that is sent
 *   again makes a new call. If the claim times out, its run ends and aborts the call by its signals.
 * - A call belongs to exactly one snapshot. Once the run has read another one, it calls the model again.
 * - A call that is not taken is aborted at the end of the loop at the latest.
 * - If the tenant was suspended since the claim, its job does not begin: the run aborts the call and releases the context.
 */
import { isDeepStrictEqual } from 'node:util';
import { beginCall } from '../../agent/model/begin-call.ts';
import type { RunSignals } from '../../agent/run-signals.ts';
import type { AnswerListener, Early } from '../../agent/run.ts';
import type { Append, AppendOutcome, Expected } from '../../core/run/append.ts';
import { apply } from '../../core/run/apply.ts';
import type { Snapshot } from '../../core/run/snapshot.ts';
import type { Millis } from '../../core/time.ts';
import { decide } from '../../core/decide.ts';
import type { ContextId } from '../../core/ids.ts';
import { open } from '../../core/transitions/open.ts';
import { releaseUnsupported } from '../../core/transitions/park.ts';
import type { Executor } from '../../db/connection/client.ts';
import { append } from '../../db/run/append/append.ts';
import type { ContextRow } from '../../db/run/contexts.ts';
import type { CallPorts, Claim, Claimed, Opened, Skipped } from '../process/ports.ts';

/** A context that the transaction has claimed and read. `row.now`: the time of the claim. */
export type Found = { claim: Claim; row: ContextRow; snapshot: Snapshot };

/** Claimed, but not read yet. */
export type UnreadClaim = { kind: 'unread'; row: ContextRow };

/** Commits the claiming transaction with its `last` statement, if there is anything to append. */
export async function commitAndCall(
  last: Executor,
  found: readonly Found[],
): Promise<Map<ContextId, Claimed | UnreadClaim>> {
  const openings = found.map((one) => openingOf(one));
  const all = openings.some(({ began }) => began !== null)
    ? await commitWithCalls(last, openings)
    : openings.map(({ claim, after }) => [claim.contextId, after] as const);
  return new Map(all);
}

/** Step 1: what a claim appends, and what holds after it. `began` null: there is nothing to append. */
type Opening = {
  claim: Claim;
  row: ContextRow;
  after: Skipped | Opened;
  began: { transition: Append; outcome: Expected } | null;
};

function openingOf({ claim, row, snapshot }: Found): Opening {
  const { kind, transition } = firstStep(snapshot, row.now);
  if (transition === null) return { claim, row, after: opened(snapshot), began: null };
  const outcome = expectedOutcome(row, transition);
  return {
    claim,
    row,
    after: afterAppend(snapshot, kind, { transition, outcome }, row.now),
    began: { transition, outcome },
  };
}

type FirstStep = { kind: 'skipped' | 'opened'; transition: Append | null };

/** The append of a claim: it releases the context, or begins or resumes its job. Null: there is nothing to begin. */
export function firstStep(snapshot: Snapshot, now: Millis): FirstStep {
  const step = decide(snapshot, now);
  if (step.kind === 'release_unsupported') return { kind: 'skipped', transition: releaseUnsupported(snapshot, now) };
  return { kind: 'opened', transition: open(snapshot, step) };
}

/** The claim after its append, which is not known to be committed yet. */
export function afterAppend(
  snapshot: Snapshot,
  kind: FirstStep['kind'],
  { transition, outcome }: { transition: Append; outcome: Expected },
  at: Millis,
): Skipped | Opened {
  if (kind === 'skipped') return { kind, mailbox: snapshot, at };
  return opened(apply(snapshot, transition, outcome));
}

/** The claim once its append is committed. */
export function begun(after: Skipped | Opened, began: Opened['began'], early: Early | null): Skipped | Opened {
  return after.kind === 'opened' ? { ...after, began, early } : after;
}

export function opened(snapshot: Snapshot): Opened {
  return { kind: 'opened', snapshot, began: null, early: null };
}

function expectedOutcome({ headSeq, wakeSeq, controlSeq }: ContextRow, { entries }: Append): Expected {
  return {
    kind: 'committed',
    firstSeq: headSeq + 1,
    headSeq: headSeq + entries.length,
    wakeSeq,
    controlSeq,
    // Beginning or resuming a job ends no job.
    met: [],
    followUp: false,
  };
}

/** Step 2. Returns what became of each opening, once the commit is acknowledged. */
async function commitWithCalls(
  last: Executor,
  openings: readonly Opening[],
): Promise<(readonly [ContextId, Claimed | UnreadClaim])[]> {
  const begun = openings.flatMap(({ began }) => began ?? []);
  const committing = append(
    last,
    begun.map(({ transition }) => transition),
  );
  // Handled below, also if a call cannot be begun.
  committing.catch(() => undefined);
  const calls: (Early | null)[] = [];
  try {
    for (const { claim, after, began } of openings) {
      const isBegun = after.kind === 'opened' && began !== null;
      calls.push(isBegun ? callEarly(claim.portsFor(after.snapshot), claim.signals, after.snapshot) : null);
    }
    const outcomes = await committing;
    const outcomeOf = new Map(begun.map(({ transition }, index) => [transition.lease.contextId, outcomes[index]]));
    return openings.map((opening, index) => {
      const { contextId } = opening.claim;
      return [contextId, becameOf(opening, outcomeOf.get(contextId), calls[index] ?? null)];
    });
  } catch (error) {
    for (const call of calls) call?.drop();
    throw error;
  }
}

/** `outcome`: of its append, if there was one. Throws for one that was not expected. */
function becameOf(
  { row, after, began }: Opening,
  outcome: AppendOutcome | undefined,
  early: Early | null,
): Claimed | UnreadClaim {
  if (began === null) return after;
  const { transition } = began;
  if (outcome?.kind === 'stale' && transition.job?.kind === 'admit') {
    early?.drop();
    // Only what is read now tells whether the tenant is still suspended.
    return { kind: 'unread', row };
  }
  if (outcome?.kind !== 'committed' || !isDeepStrictEqual(outcome, { ...began.outcome, at: outcome.at }))
    throw new Error('A context changed although the claiming transaction had locked its row.');
  return begun(after, { transition, outcome }, early);
}

/**
 * Step 3: the call of one context, begun while the commit is in flight. `snapshot`: the state after the commit. Null:
 * the next decision is not a model call, or it cannot start at once.
 */
export function callEarly(ports: CallPorts, signals: RunSignals, snapshot: Snapshot): Early | null {
  const step = decide(snapshot, ports.clock.now());
  if (step.kind !== 'call_model' || signals.leaving || signals.hard.aborted) return null;
  const { job, settings } = step;
  const access = ports.model(settings.model);
  if (access?.kind !== 'open') return null;
  // Loading blocks the process. The transaction must end first: it holds locks, and PostgreSQL ends an idle one.
  if (!access.model.isLoaded()) return null;
  const own = new AbortController();
  const buffer = new BufferingListener();
  const signal = AbortSignal.any([signals.hard, own.signal]);
  const call = beginCall(ports, snapshot, { job, settings }, { model: access.model, signal, forwardTo: buffer });
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
