/**
 * Appends of many runs in one statement. One that comes while the process has nothing under way is sent at once; those
 * that come while statements are under way gather, and share the next. Each has an outcome of its own:
 * - Whatever a shared statement did not take, a row that somebody else holds or one whose guard failed, is sent again
 *   alone: a run waits for its own row only.
 * - An error rolls a shared statement back whole: each of its appends is then sent alone, and fails alone.
 * - Where nobody can say what became of a statement, all its appends are in doubt.
 * Appends of one context keep their order: its run waits for each, and two never share a statement.
 */
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { Append, AppendOutcome } from '../core/append.ts';
import { append } from '../db/append.ts';
import { errorCode } from '../db/client.ts';
import type { Executor } from '../db/client.ts';
import { PATIENCE, isAway } from './patience.ts';

export type Appender = {
  /** Rejects as the statement did; `isAway` tells whether it may have been committed all the same. */
  append(move: Append): Promise<AppendOutcome>;
};

/** Statements under way at once, as long as none is slow. */
const STATEMENTS = 2;
/** Appends that share a statement, at most. */
const SHARED = 64;
/** A statement that takes longer holds nobody up. */
const SLOW_MS = 100;
/** Rolled back for certain: serialisation failure, deadlock. */
const ROLLED_BACK = ['40001', '40P01'];

type Waiting = {
  move: Append;
  resolve: (outcome: AppendOutcome) => void;
  reject: (error: unknown) => void;
};

export function createAppender(db: Executor): Appender {
  let waiting: Waiting[] = [];
  let underWay = 0;

  /** At most one of each context; the others wait for the next. */
  function take(): Waiting[] {
    const taken = new Map<string, Waiting>();
    const left: Waiting[] = [];
    for (const one of waiting) {
      const { contextId } = one.move.lease;
      if (taken.size < SHARED && !taken.has(contextId)) taken.set(contextId, one);
      else left.push(one);
    }
    waiting = left;
    return [...taken.values()];
  }

  function sendWaiting(): void {
    while (underWay < STATEMENTS && waiting.length > 0) {
      underWay += 1;
      const sent = sendShared(db, take());
      void Promise.race([sent, slow()]).then(() => {
        underWay -= 1;
        sendWaiting();
      });
    }
  }

  return {
    append: (move) =>
      new Promise((resolve, reject) => {
        waiting.push({ move, resolve, reject });
        sendWaiting();
      }),
  };
}

function slow(): Promise<void> {
  return setTimeout(SLOW_MS, undefined, { ref: false });
}

/** Resolves when the shared statement has ended; what is sent again alone is waited for by its run only. */
async function sendShared(db: Executor, shared: readonly Waiting[]): Promise<void> {
  try {
    const moves = shared.map(({ move }) => move);
    const outcomes = await pTimeout(append(db, moves, 'pass'), PATIENCE);
    shared.forEach((one, index) => {
      const outcome = outcomes[index];
      if (outcome?.kind === 'committed') one.resolve(outcome);
      else void sendAlone(db, one);
    });
  } catch (error) {
    for (const one of shared) {
      if (isAway(error)) one.reject(error);
      else void sendAlone(db, one);
    }
  }
}

async function sendAlone(db: Executor, { move, resolve, reject }: Waiting): Promise<void> {
  const send = () => pTimeout(append(db, [move]), PATIENCE);
  try {
    const [outcome] = await send().catch((error: unknown) => {
      if (ROLLED_BACK.includes(errorCode(error))) return send();
      throw error;
    });
    if (outcome === undefined) throw new Error('An append was given no outcome.');
    resolve(outcome);
  } catch (error) {
    reject(error);
  }
}
