/** Sends appends of many runs in one statement. */
import { charactersIn } from '../../core/json.ts';
import type { Append, AppendOutcome } from '../../core/run/append.ts';
import { append } from '../../db/run/append/append.ts';
import { errorCode } from '../../db/connection/database-errors.ts';
import type { Executor } from '../../db/connection/client.ts';
import { createBatcher } from '../../db/batches/batcher.ts';

export type Appender = (transition: Append) => Promise<AppendOutcome>;

/** Appends, and characters of their texts, in one statement at most. */
const SHARED = 64;
const SHARED_CHARACTERS = 1_000_000;
/** SQLSTATEs after which the statement has certainly been rolled back: serialization failure, deadlock. */
const ROLLED_BACK = ['40001', '40P01'];

type Sized = { transition: Append; characters: number };

export function createAppender(db: Executor): Appender {
  const together = createBatcher<Sized, AppendOutcome>({
    keyOf: ({ transition }) => transition.lease.contextId,
    async shared(parts) {
      const outcomes = await append(
        db,
        parts.map(({ transition }) => transition),
        'pass',
      );
      // Not committed: the append is stale, or another transaction has locked the row. It is sent again alone, and
      // waits for the lock.
      return outcomes.map((outcome) => (outcome.kind === 'committed' ? outcome : undefined));
    },
    alone: ({ transition }) => appendAlone(db, transition),
    most: SHARED,
    size: { of: ({ characters }) => characters, most: SHARED_CHARACTERS },
  });
  return (transition) => {
    const characters = charactersIn(transition);
    // A large one has a statement of its own at once: no other waits for it.
    return characters > SHARED_CHARACTERS ? appendAlone(db, transition) : together({ transition, characters });
  };
}

async function appendAlone(db: Executor, transition: Append): Promise<AppendOutcome> {
  const send = () => append(db, [transition]);
  const [outcome] = await send().catch((error: unknown) => {
    if (ROLLED_BACK.includes(errorCode(error))) return send();
    throw error;
  });
  if (outcome === undefined) throw new Error('The append statement returned no outcome.');
  return outcome;
}
