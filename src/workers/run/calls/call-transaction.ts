/**
 * The transaction of a call in PostgreSQL. Each try is a transaction of its own. If a commit is in doubt, the stored result
 * is read once that transaction has surely ended: only if there is none, the tool runs again.
 */
import { setTimeout } from 'node:timers/promises';
import type { RunSignals } from '../../../agent/run-signals.ts';
import { pause } from '../../../agent/waits/pause.ts';
import { LeaseLost } from '../../../core/errors.ts';
import { TransactionRefused, type CallTransaction, type TransactionResult } from '../../../core/tools/transaction.ts';
import type { RunningCall } from '../../../db/calls/tool-steps.ts';
import { SETTLE_STATES, findSettled, hasEnded } from '../../../db/tool-transactions/settlements.ts';
import type { WorkerState } from '../../process/ports.ts';
import { persist } from '../journal.ts';

/** Between two looks whether a transaction has ended, and before the second try, in milliseconds. */
const AGAIN_MS = 100;

/** The pause between two tries doubles up to this, in milliseconds. */
const LONGEST_PAUSE_MS = 5_000;

type Parts = Pick<WorkerState, 'database' | 'toolDatabase' | 'log'>;

export function createCallTransaction(parts: Parts, signals: RunSignals, call: RunningCall): CallTransaction {
  const { database, toolDatabase, log } = parts;
  const found = (): Promise<TransactionResult | null> => persist(signals, () => findSettled(database.db, call));
  const afterEnd = async (lock: number): Promise<TransactionResult | null> => {
    while (!(await persist(signals, () => hasEnded(database.db, lock)))) await setTimeout(AGAIN_MS);
    return found();
  };
  return {
    run: async (work, limits) => {
      if (toolDatabase === null) throw new TransactionRefused('unavailable', 'This process has no transactions.');
      const { signal } = limits;
      let pauseMs = AGAIN_MS;
      try {
        for (;;) {
          const attempted = await toolDatabase.attempt(call, work, limits);
          switch (attempted.kind) {
            case 'committed':
              return attempted.result;
            case 'aborted':
              return null;
            case 'failed':
              throw attempted.error;
            case 'refused':
              return await refused(attempted.state, found);
            case 'in_doubt': {
              const settled = await afterEnd(attempted.lock);
              if (settled !== null || signal.aborted) return settled;
              log.warn(
                idsOf(call),
                'the connection was lost at the commit of a tool, which was rolled back, and runs again',
              );
              break;
            }
            case 'repeatable': {
              log.warn(
                { ...idsOf(call), code: attempted.code },
                'the transaction of a tool was rolled back, and runs again',
              );
              await pause(pauseMs * (1 + Math.random()), signal);
              pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
              break;
            }
          }
        }
      } catch (error) {
        if (error instanceof LeaseLost) return null;
        throw error;
      }
    },
  };
}

async function refused(
  state: (typeof SETTLE_STATES)[keyof typeof SETTLE_STATES],
  found: () => Promise<TransactionResult | null>,
): Promise<TransactionResult | null> {
  switch (state) {
    case SETTLE_STATES.MUST_NOT_GO_ON:
      return null;
    case SETTLE_STATES.SETTLED:
      return found();
    case SETTLE_STATES.NOT_GRANTED:
      throw new TransactionRefused(
        'not_granted',
        'The call was rolled back: the database login of the tools may not settle calls of this tenant. The operator can allow it: nightshift submissions grant --role <role> --tenant <tenant>',
      );
    case SETTLE_STATES.OTHER_TRANSACTION:
      throw new TransactionRefused(
        'transaction_ended',
        'The tool ended its transaction itself. What it wrote before that stays, and its result was not stored. Check before repeating the call.',
      );
  }
}

function idsOf({ toolCallId, contextId }: RunningCall): Record<string, string> {
  return { tool_call_id: toolCallId, context_id: contextId };
}
