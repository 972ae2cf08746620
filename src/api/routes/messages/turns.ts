/** The turns of a branch: an input with its answers and tool calls. */
import { noBranch } from '../../../commands/inputs/refusals.ts';
import { listTurns, type TurnView } from '../../../db/read/messages/turns.ts';
import { branchName, cursorOf, ordinal, refusedCursor } from '../../request/cursor.ts';
import { toListing } from '../../response/page.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { RequestRefused, orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { ref } from '../../../schema/build.ts';
import { TurnList, TurnQuery, type Turn } from '../../schemas/messages/turn.ts';
import { IdParams, contextId, noContext } from '../params.ts';

export function turnRoutes(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/turns',
    {
      config: { access: 'read', tokens: 'context' },
      schema: {
        summary: 'Turns in order: inputs, answers, and tool calls with their results',
        operationId: 'listTurns',
        tags: ['contexts'],
        params: IdParams,
        querystring: TurnQuery,
        response: { 200: ref(TurnList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const id = contextId(params.id);
      const { limit, order } = query;
      const { after, branch } = readPlace(query.cursor, query.branch ?? null);
      const range = { branch, order, after, limit: limit + 1 };
      const found = await readerOf(ports, reply)((_, last) => listTurns(last, tenantId, id, range));
      const { branch: read, turns } = orNotFound(found, noContext(id));
      if (turns === null) throw new RequestRefused(noBranch(read));
      return toListing({ items: turns }, limit, toTurn, ({ number }) => PLACE.write([read, number]));
    },
  );
}

function toTurn({ number, inputs, answers, calls, job }: TurnView): Turn {
  return {
    number,
    input_message_ids: inputs,
    answer_message_ids: answers,
    tool_calls: calls.map(({ id, name, status, messageId, resultId }) => ({
      id,
      name,
      status,
      message_id: messageId,
      result_message_id: resultId,
    })),
    job,
  };
}

/** A list continues on the branch where it started, even if another branch is active by then. */
const PLACE = cursorOf(branchName, ordinal);

function readPlace(
  cursor: string | undefined,
  requestedBranch: string | null,
): { after: number | null; branch: string | null } {
  const key = PLACE.read(cursor);
  if (key === null) return { after: null, branch: requestedBranch };
  const [branch, after] = key;
  if (branch !== (requestedBranch ?? branch)) throw refusedCursor();
  return { after, branch };
}
