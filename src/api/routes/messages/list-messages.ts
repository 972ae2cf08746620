/** The list of a context's messages, with their tool calls where asked for. */
import type { Static } from 'typebox';
import { noBranch } from '../../../commands/inputs/refusals.ts';
import { inputTurn, answerTurn, parseTurn, type Turn } from '../../../core/conversation/turn.ts';
import type { ContextId, TenantId } from '../../../core/ids.ts';
import { findMessage, listMessages, type Place } from '../../../db/read/messages/message-views.ts';
import { placeAt } from '../../../db/read/messages/place-at.ts';
import { parseInstant } from '../../request/instant.ts';
import { writePlace, readPlace, placeAfter } from '../../request/message-place.ts';
import { splitLists } from '../../request/query.ts';
import { callsOf } from '../../response/calls-of.ts';
import { RequestRefused, invalid, orNotFound } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { MessageList, MessageQuery } from '../../schemas/messages/message.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { ref } from '../../../schema/build.ts';
import { toMessage } from '../../wire/message.ts';
import { IdParams, contextId, messageId, noContext } from '../params.ts';

export function listMessagesRoute(app: App, ports: ApiPorts): void {
  app.get(
    '/api/contexts/:id/messages',
    {
      config: { access: 'read', tokens: 'context' },
      preValidation: splitLists('include'),
      schema: {
        summary: 'Messages in order; queued inputs last',
        operationId: 'listMessages',
        tags: ['contexts'],
        params: IdParams,
        querystring: MessageQuery,
        response: { 200: ref(MessageList) },
      },
    },
    async ({ tenantId, params, query }, reply) => {
      const context = contextId(params.id);
      const { limit, order } = query;
      const from = await startOf(ports, { tenantId, context }, query);
      const { place: before, branch } = from ?? readPlace(query.cursor, query.branch ?? null);
      const include = [query.include ?? []].flat();
      const range = {
        branch,
        turn: query.turn === undefined ? null : toTurn(query.turn),
        order,
        retracted: include.includes('retracted'),
        compacted: include.includes('compacted'),
        after: before,
        limit: limit + 1,
      };
      const withCalls = include.includes('tool_calls');
      const {
        branch: read,
        page,
        more,
        calls,
      } = await readerOf(
        ports,
        reply,
      )(async (tx, last) => {
        const found = await listMessages(withCalls ? tx : last, tenantId, context, range);
        const { messages, ...rest } = orNotFound(found, noContext(context));
        if (messages === null) throw new RequestRefused(noBranch(rest.branch));
        const shown = messages.slice(0, limit);
        return {
          branch: rest.branch,
          page: shown,
          more: rest.more || messages.length > limit,
          calls: withCalls ? await callsOf(last, tenantId, context, shown) : null,
        };
      });
      return {
        data: page.map((message) => ({
          ...toMessage(message),
          ...(calls === null ? {} : { tool_calls: calls.get(message.id) ?? [] }),
        })),
        next_cursor: more ? writePlace(placeAfter(page, before), read) : null,
      };
    },
  );
}

function toTurn(text: string): Turn | null {
  const turn = parseTurn(text);
  if (turn === null) return null;
  return turn.side === 'u' ? inputTurn(turn.number) : answerTurn(turn.number);
}

/** Where the list starts, if a message or a time is given; null: the cursor says it. */
async function startOf(
  ports: ApiPorts,
  of: { tenantId: TenantId; context: ContextId },
  query: Static<typeof MessageQuery>,
): Promise<{ place: Place; branch: string | null } | null> {
  const { cursor, from, at, order, branch = null } = query;
  const given = Object.entries({ at, from, cursor }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const [first, second] = given;
  if (first !== undefined && second !== undefined)
    throw invalid(`${first} and ${second} exclude each other. Give one of them.`, first);
  const time = parseInstant(at, 'at');
  if (time !== null) {
    const seq = orNotFound(await placeAt(ports.database.db, of.tenantId, of.context, time), noContext(of.context));
    return { place: { seq: order === 'asc' ? seq - 1 : seq, queue: null }, branch };
  }
  return from === undefined ? null : { place: await placeBefore(ports, of, from, order), branch };
}

/** The place just before the message `from`: the list starts with that message. */
async function placeBefore(
  ports: ApiPorts,
  { tenantId, context }: { tenantId: TenantId; context: ContextId },
  from: string,
  order: 'asc' | 'desc',
): Promise<Place> {
  const id = messageId(from);
  const found = await findMessage(ports.database.db, tenantId, context, id);
  const { seq } = orNotFound(found, `Context ${context} has no message ${id}.`);
  if (seq === null)
    throw invalid(
      'from is the id of a queued message, which has no place in history yet. Use a completed message.',
      'from',
    );
  return { seq: order === 'asc' ? seq - 1 : seq + 1, queue: null };
}
