/** One try of a transactional call: begin, the tool, the settlement, commit. What came of it is a value. */
import type { ToolTransaction, TransactionLimits, TransactionResult } from '../../core/tools/transaction.ts';
import type { RunningCall } from '../calls/tool-steps.ts';
import { GivenUp } from '../connection/client.ts';
import type { Connection } from '../connection/connection.ts';
import { errorCode, isUnavailable } from '../connection/database-errors.ts';
import type { Pool } from '../connection/pool.ts';
import { SETTLE_STATES } from './settlements.ts';
import { ToolSession } from './tool-session.ts';

export type Work = (tx: ToolTransaction) => Promise<TransactionResult>;

export type Attempted =
  | { kind: 'committed'; result: TransactionResult }
  /** Nothing was committed, and nothing will be. `failed`: by the tool, or by a statement of it. */
  | { kind: 'aborted' }
  | { kind: 'failed'; error: unknown }
  /** PostgreSQL was not available, or ended the transaction because of another one. */
  | { kind: 'repeatable'; code: string }
  /** The function that settles the call refused. */
  | { kind: 'refused'; state: (typeof SETTLE_STATES)[keyof typeof SETTLE_STATES] }
  /** The connection was lost after the commit was sent. `lock`: held until the transaction has ended. */
  | { kind: 'in_doubt'; lock: number };

const ABORTED: Attempted = { kind: 'aborted' };

/** Serialization failures and deadlocks: another transaction was first. */
const OTHER_WAS_FIRST = ['40001', '40P01'];

/** The login may not call the function, or not use its schema. */
const NO_RIGHT = '42501';

/** `schema`: of the tables of Nightshift. Ends at once when the signal is aborted, unless the commit was sent. */
export async function attempt(
  { pool, schema }: { pool: Pool; schema: string },
  call: RunningCall,
  work: Work,
  { signal, limitMs }: TransactionLimits,
): Promise<Attempted> {
  if (signal.aborted) return ABORTED;
  const waiting = Promise.withResolvers<Attempted>();
  const end = (): void => waiting.resolve(ABORTED);
  signal.addEventListener('abort', end, { once: true });
  const using = pool.use(async (connection) => {
    if (signal.aborted) return ABORTED;
    signal.removeEventListener('abort', end);
    return within(connection, new ToolSession(connection, schema), { call, work, signal, limitMs });
  });
  try {
    return await Promise.race([using, waiting.promise]);
  } finally {
    signal.removeEventListener('abort', end);
    using.catch(() => undefined);
  }
}

type Try = TransactionLimits & { call: RunningCall; work: Work };

async function within(
  connection: Connection,
  session: ToolSession,
  { call, work, signal, limitMs }: Try,
): Promise<Attempted> {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  const abort = (): void => {
    if (session.isClosing) return;
    // PostgreSQL rolls back what has lost its connection.
    connection.lose(new GivenUp());
    aborted.reject(new GivenUp());
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    await session.begin(limitMs);
    const result = await Promise.race([work(session.tx), aborted.promise]);
    if (signal.aborted) return ABORTED;
    await session.settle(call, result);
    return { kind: 'committed', result };
  } catch (error) {
    if (signal.aborted && !session.isClosing) return ABORTED;
    const attempted = afterError(connection, session, error);
    await session.rollBack();
    return attempted;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function afterError(connection: Connection, session: ToolSession, error: unknown): Attempted {
  if (connection.lost !== null) {
    if (session.isClosing) return { kind: 'in_doubt', lock: session.lock };
    // The driver, too, gives a connection up, because of a statement that it cannot send: it could not the next time.
    return isUnavailable(connection.lost)
      ? { kind: 'repeatable', code: errorCode(connection.lost) }
      : { kind: 'failed', error };
  }
  const code = session.failed ?? errorCode(error);
  if (OTHER_WAS_FIRST.includes(code)) return { kind: 'repeatable', code };
  if (!session.isClosing) return { kind: 'failed', error };
  const state = Object.values(SETTLE_STATES).find((one) => one === errorCode(error));
  if (state !== undefined) return { kind: 'refused', state };
  return errorCode(error) === NO_RIGHT
    ? { kind: 'refused', state: SETTLE_STATES.NOT_GRANTED }
    : { kind: 'failed', error };
}
