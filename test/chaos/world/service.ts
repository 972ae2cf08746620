// What the service beside the platform has done: sales in transactions of calls, calls with steps, and orders whose jobs
// it has enqueued. Read from its own tables and from the file of effects.
import { isToolResult, isToolUse, textOf } from '../../../src/core/conversation/blocks.ts';
import type { JobId, MessageId } from '../../../src/core/ids.ts';
import type { Outside } from '../../e2e/outside/outside-tools.ts';
import type { Script } from '../clients/inputs.ts';
import { SELL, TOUR } from '../service-tools.ts';
import type { StoredCall } from './stored.ts';
import { groupBy, type World } from './world.ts';

/** A call of the transactional tool. `fails`: it was asked to. `reported`: by its result, or by a note. */
export type SaleCall = {
  id: string;
  contextId: string;
  status: StoredCall['status'];
  fails: boolean;
  reported: boolean;
};

/** `rows`: the call of each row of the service. */
export type Sales = { calls: SaleCall[]; rows: string[] };

/** `lines`: of the file of effects, in order. `stored`: results by the name of their step. */
export type TourCall = {
  id: string;
  contextId: string;
  status: StoredCall['status'];
  lines: string[];
  stored: Readonly<Record<string, string | undefined>>;
};

/** A job that a transaction of the service enqueued. */
export type Order = {
  jobId: JobId;
  messageId: MessageId;
  contextId: string;
  tag: string;
  script: Script;
  /** Made by this client, which posts to it one transaction after the other. */
  isOwn: boolean;
  isRolledBack: boolean;
};

export type Orders = {
  made: Order[];
  /** Jobs whose transaction has committed, as the service knows them. */
  committed: string[];
  /** Rows of the outbox, at the end; `code`: of those that were refused. */
  left: { job_id: string; code: string | null }[];
  /** Receipts of relayed rows, at the end. */
  receipts: number;
  /** Submissions that became no jobs. */
  submissions: { id: string; status: string; code: string | null }[];
  /** From the last fault and the last order until each row had left the outbox, in milliseconds; null: not in time. */
  relayedMs: number | null;
};

export type Service = { sales: Sales; tours: TourCall[]; orders: Orders };

/** A stored result of a step. */
export type StoredStep = { tool_call_id: string; name: string; value: string };

export type ReadService = { rows: string[]; steps: StoredStep[]; outside: readonly Outside[]; orders: Orders };

export function serviceOf(
  { calls, messages }: Pick<World, 'calls' | 'messages'>,
  { rows, steps, outside, orders }: ReadService,
): Service {
  const inputs = new Map(
    messages.flatMap(({ content }) => content.filter(isToolUse).map(({ id, input }) => [id as string, input] as const)),
  );
  const results = new Set(
    messages.flatMap(({ content }) => content.filter(isToolResult).map(({ tool_use_id: id }) => id as string)),
  );
  const notes = groupBy(
    messages.filter(({ role }) => role === 'system'),
    ({ job_id: id }) => id,
  );
  const isNoted = ({ job_id: id }: StoredCall): boolean =>
    (notes.get(id) ?? []).some(({ content }) => textOf(content).includes(`${SELL}(`));
  const linesOf = groupBy(outside, ({ key }) => key);
  const stepsOf = groupBy(steps, ({ tool_call_id: id }) => id);
  const ofTool = (tool: string): StoredCall[] => calls.filter(({ name }) => name === tool);
  return {
    sales: {
      rows,
      calls: ofTool(SELL).map((call) => ({
        id: call.id,
        contextId: call.context_id,
        status: call.status,
        fails: isFailing(inputs.get(call.id)),
        reported: results.has(call.id) || isNoted(call),
      })),
    },
    tours: ofTool(TOUR).map(({ id, context_id: contextId, status }) => ({
      id,
      contextId,
      status,
      lines: (linesOf.get(id) ?? []).map(({ what }) => what),
      stored: Object.fromEntries((stepsOf.get(id) ?? []).map(({ name, value }) => [name, value])),
    })),
    orders,
  };
}

function isFailing(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'fails' in input && input.fails === true;
}
