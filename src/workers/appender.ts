/** Appends of many runs in one statement. */
import type { Append, AppendOutcome } from '../core/append.ts';
import { append } from '../db/append.ts';
import { errorCode } from '../db/client.ts';
import type { Executor } from '../db/client.ts';
import { createGroup } from './group.ts';

export type Appender = (move: Append) => Promise<AppendOutcome>;

/** Appends that share a statement, at most. */
const SHARED = 64;
/** Rolled back for certain: serialisation failure, deadlock. */
const ROLLED_BACK = ['40001', '40P01'];

export function createAppender(db: Executor): Appender {
  return createGroup({
    contextOf: ({ lease }: Append) => lease.contextId,
    async shared(moves) {
      const outcomes = await append(db, moves, 'pass');
      // Stale, or a row that somebody else holds: alone it is waited for.
      return outcomes.map((outcome) => (outcome.kind === 'committed' ? outcome : undefined));
    },
    alone: (move) => appendAlone(db, move),
    most: SHARED,
  });
}

async function appendAlone(db: Executor, move: Append): Promise<AppendOutcome> {
  const send = () => append(db, [move]);
  const [outcome] = await send().catch((error: unknown) => {
    if (ROLLED_BACK.includes(errorCode(error))) return send();
    throw error;
  });
  if (outcome === undefined) throw new Error('An append was given no outcome.');
  return outcome;
}
