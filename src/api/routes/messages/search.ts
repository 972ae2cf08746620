/** Full-text search over the messages of a tenant. */
import type { Static } from 'typebox';
import { parseId, type ContextId, type MessageId, type TenantId, type WorkerId } from '../../../core/ids.ts';
import type { Executor } from '../../../db/connection/client.ts';
import { searchStretch, type Found, type SearchFilter, type SearchPlace } from '../../../db/search/search.ts';
import { contextOf } from '../../../db/write/workers/workers.ts';
import { parseInstant, toIso } from '../../request/instant.ts';
import { cursorOf, id, inOrder, instant, orNull, real } from '../../request/cursor.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { invalid } from '../../response/problem.ts';
import { readerOf } from '../../response/reads.ts';
import { visibleTo, type Caller } from '../../access/reach.ts';
import { openSlots } from '../../response/slots.ts';
import { ref } from '../../../schema/build.ts';
import { SearchQuery, SearchResultList, type SearchResult } from '../../schemas/messages/search.ts';

/** Maximum number of words and operators in a query: the cost of a search grows with their number. */
const MOST_WORDS = 32;

/** Searches use at most one in this many of the database connections of the process. */
const POOL_SHARE = 3;

/** Maximum number of stretches that one request searches when matches were retracted and do not count. */
const STRETCHES = 10;

export function searchRoute(app: App, ports: ApiPorts): void {
  const atOnce = openSlots(Math.max(1, Math.floor(ports.config.databasePoolSize / POOL_SHARE)));
  app.get(
    '/api/search',
    {
      config: { access: 'read', tokens: 'filtered' },
      schema: {
        summary: 'Full-text search in messages, best match first',
        description:
          'Searches messages of users and assistants. A message is found once its job has ended, or a few steps later. With very many matches, the newest thousand are ranked first, then the thousand before them. Only the first 50,000 characters of a message are searched.',
        operationId: 'search',
        tags: ['contexts'],
        querystring: SearchQuery,
        response: { 200: ref(SearchResultList) },
      },
    },
    async (request, reply) => {
      const { tenantId, query } = request;
      const read = readerOf(ports, reply);
      const text = query.q?.trim() ?? '';
      if (text === '') throw invalid('q has no words to search for.', 'q');
      if (countWords(text) > MOST_WORDS) {
        throw invalid(`q has more than ${MOST_WORDS} words. Use fewer.`, 'q');
      }
      const place = readPlace(query.cursor);
      const filter = await toFilter(ports.database.db, request, text, query);
      if (filter === null) return { data: [], next_cursor: null };
      // The reader does not search if the client has disconnected or already got a 503.
      const { found, next } = await atOnce(() =>
        read((tx) => searchPage(tx, { tenantId, filter, limit: query.limit }, place)),
      );
      return { data: found.map(toResult), next_cursor: next === null ? null : writePlace(next) };
    },
  );
}

/** Splits words almost as PostgreSQL does. */
function countWords(text: string): number {
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '').length;
}

/** Null: nothing can match. */
async function toFilter(
  executor: Executor,
  caller: Caller,
  text: string,
  query: Static<typeof SearchQuery>,
): Promise<SearchFilter | null> {
  const contextId = parseId<ContextId>(query.context_id ?? '');
  const workerId = parseId<WorkerId>(query.worker_id ?? '');
  const ofWorker = workerId === null ? null : await contextOf(executor, caller.tenantId, workerId);
  if (workerId !== null && ofWorker === null) return null;
  return {
    ...visibleTo(caller, query.user),
    text,
    contextIds: [contextId, ofWorker].filter((id) => id !== null),
    workerRole: query.role ?? null,
    messageRole: query.message_role ?? null,
    createdAfter: parseInstant(query.created_after, 'created_after'),
    createdBefore: parseInstant(query.created_before, 'created_before'),
  };
}

async function searchPage(
  tx: Executor,
  { tenantId, filter, limit }: { tenantId: TenantId; filter: SearchFilter; limit: number },
  from: SearchPlace,
): Promise<{ found: Found[]; next: SearchPlace | null }> {
  const found: Found[] = [];
  let place = from;
  for (let left = STRETCHES; left > 0; left -= 1) {
    const wanted = limit - found.length;
    const stretch = await searchStretch(tx, tenantId, filter, { after: place, limit: wanted + 1 });
    found.push(...stretch.found.slice(0, wanted));
    const last = found.at(-1);
    if (stretch.found.length > wanted && last !== undefined) {
      const { rank, createdAt: at, messageId: id } = last;
      return { found, next: { before: stretch.before, after: { rank, at, id } } };
    }
    if (stretch.older === null) return { found, next: null };
    place = { before: stretch.older, after: null };
    if (found.length === limit) break;
  }
  return { found, next: place };
}

function toResult({ contextId, messageId, turn, role, snippet, rank, createdAt }: Found): SearchResult {
  return {
    context_id: contextId,
    message_id: messageId,
    turn,
    role,
    snippet,
    rank,
    created_at: toIso(createdAt),
  };
}

/** The end of the stretch that is being read, and the last result that was read in it. */
const PLACE = cursorOf(instant, id<MessageId>, orNull(inOrder(real, instant, id<MessageId>)));

function readPlace(cursor: string | undefined): SearchPlace {
  const key = PLACE.read(cursor);
  if (key === null) return { before: null, after: null };
  const [endAt, endId, last] = key;
  const after = last === null ? null : { rank: last[0], at: last[1], id: last[2] };
  return { before: { at: endAt, id: endId }, after };
}

function writePlace({ before, after }: SearchPlace): string | null {
  if (before === null) return null;
  return PLACE.write([before.at, before.id, after === null ? null : [after.rank, after.at, after.id]]);
}
