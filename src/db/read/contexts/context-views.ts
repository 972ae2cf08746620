/** Contexts as the API returns them. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, MessageId, TenantId, WorkerId } from '../../../core/ids.ts';
import type { IdleTimeouts, WorkerConfig } from '../../../core/workers/settings.ts';
import type { DurableState } from '../../../core/run/state.ts';
import type { Millis } from '../../../core/time.ts';
import type { Usage } from '../../../core/money/usage.ts';
import type { User } from '../../../core/access/user.ts';
import type { Executor } from '../../connection/client.ts';
import { decodeText } from '../../connection/codec.ts';
import { findContexts, SCANNED } from './find-contexts.ts';
import { expiresAt, idleTimeout, isBusy, isTimeoutKnown, joinRole } from '../../write/contexts/expiry.ts';
import { millis } from '../../connection/instant.ts';
import { isShownAs, retried, stateOf, type ShownColumns } from './shown-state.ts';
import { usageObject } from '../../model-calls/usage.ts';
import { toPage, withinBytes, type OfPage, type Page, type PageRequest } from '../page.ts';
import { isVisible, type Visible } from '../reach.ts';

export type ContextView = {
  id: ContextId;
  workerId: WorkerId;
  workerName: string;
  /** The end user whose context it is; null: the tenant's own. */
  user: User | null;
  role: string | null;
  /** A preview of the last message on the active branch; null: none among the newest entries. */
  lastMessage: LastMessage | null;
  /** The context that it was forked from. */
  parentId: ContextId | null;
  title: string | null;
  /** The beginning of its first input (see search-index.ts). */
  firstInput: string | null;
  /** The worker that its worker was created below. */
  parentWorkerId: WorkerId | null;
  /** Whether workers were created below its worker. */
  hasChildren: boolean;
  config: WorkerConfig;
  /** The shown state (see shown-state.ts). */
  state: DurableState;
  activeBranch: string;
  branches: string[];
  messageCount: number;
  turnCount: number;
  requestCount: number;
  usage: Usage;
  createdAt: Millis;
  /** The last change of its settings or its state. */
  updatedAt: Millis;
  /** The version of the worker's settings. */
  version: number;
  /** When it will be archived if it stays idle; null: never, or it is archived. */
  expiresAt: Millis | null;
  archivedAt: Millis | null;
};

/** `text`: its beginning. Empty: it has no text, or it is too large for a preview. */
type LastMessage = { id: MessageId; role: 'user' | 'assistant'; text: string; createdAt: Millis };

/** Null members do not filter. */
type ContextFilter = Visible & {
  /** Shown states. */
  states: readonly DurableState[] | null;
  role: string | null;
  /** True: only archived contexts. False: only the others. */
  archived: boolean;
  /** True: only of workers created below another one. False: only of those that no worker above them lists. */
  spawned: boolean | null;
  parentWorkerId: WorkerId | null;
  /** Searched in the title, the first input, the worker's name and role, the ids, and the metadata of jobs. */
  q: string | null;
};

/** The order of a list and the item that the page follows; null: from the first one. */
export type ContextOrder =
  | { sort: 'created'; after: ContextId | null }
  | { sort: 'activity'; after: readonly [updatedAt: Millis, id: ContextId] | null };

type ContextQuery = ContextFilter & Pick<PageRequest<unknown>, 'limit'> & { order: ContextOrder };

/** `upto`: where the next page starts if a search stopped at its scan limit. */
type ContextPage = Page<ContextView> & { upto: ContextId | null };

type Row = Omit<ContextView, 'lastMessage'> & ShownColumns & { lastMessage: LastMessageColumn | null };

/** Newest entries that are searched for a message with text for people. */
const LOOKED_AT = 20;
/** Size limit of a previewed message in bytes. The content of a larger one is not read. */
export const PREVIEWED_BYTES = 64 * 1024;
/** Bytes of its text that are read, and characters that are returned. */
const READ = 1_000;
const SHOWN = 240;

/** The last message of a context. Its text is returned as hex, because it may be cut inside a character. */
const lastMessage = (contextId: SQL, branch: SQL): SQL => sql`(
  select jsonb_build_object('id', m.id, 'role', m.role, 'createdAt', ${millis(sql`m.created_at`)}, 'hex', case
    when m.bytes <= ${PREVIEWED_BYTES} then (
      select encode(substring(convert_to(string_agg(b.block ->> 'text', ' ' order by b.place), 'UTF8') for ${READ}), 'hex')
      from json_array_elements(m.content) with ordinality b(block, place) where b.block ->> 'type' = 'text') end)
  from messages m where m.id = (
    select l.id from (
      select n.id, n.seq, n.role, n.type, n.status from messages n
      where n.context_id = ${contextId} and n.branch = ${branch} and n.seq is not null
      order by n.seq desc limit ${LOOKED_AT}) l
    where l.status = 'completed' and l.role in ('user', 'assistant') and l.type <> 'tool_call'
    order by l.seq desc limit 1))`;

type LastMessageColumn = { id: MessageId; role: LastMessage['role']; createdAt: Millis; hex: string | null };

function toLastMessage(found: LastMessageColumn | null): LastMessage | null {
  if (found === null) return null;
  const { id, role, createdAt, hex } = found;
  const text = decodeText(Buffer.from(hex ?? '', 'hex').toString());
  return { id, role, text: Array.from(text).slice(0, SHOWN).join(''), createdAt };
}

const updatedAt: SQL = millis(sql`greatest(w.updated_at, c.state_since)`);

const contextsWithWorker = (ofFile: IdleTimeouts): SQL => sql`select c.id, w.id as "workerId", w.name as "workerName",
  w.user_name as "user", w.role, w.parent_context_id as "parentId", w.title, w.first_input as "firstInput", w.parent_worker_id as "parentWorkerId",
  w.config, octet_length(w.config::text) as bytes, c.scheduling_status as "schedulingStatus", c.state, c.queued,
  ${retried} as retried, c.active_branch as "activeBranch",
  (select jsonb_agg(b.name order by b.created_at, b.name) from branches b where b.context_id = c.id) as branches,
  c.message_count as "messageCount", c.turn_count as "turnCount", c.request_count as "requestCount",
  ${usageObject('c')} as usage, ${millis(sql`w.created_at`)} as "createdAt",
  ${updatedAt} as "updatedAt", w.version,
  ${millis(sql`w.archived_at`)} as "archivedAt",
  ${millis(sql`case when w.archived_at is not null then null when ${isTimeoutKnown(ofFile)}
    then ${expiresAt(idleTimeout(ofFile), sql`c.state_since`, isBusy)} else w.expires_at end`)} as "expiresAt"
  from contexts c join workers w on w.context_id = c.id ${joinRole}`;

/**
 * Not below a listed worker. Those below an archived one are in the list, too: no parent there leads to them. As a scalar
 * subquery it reads only the parents of the contexts that the page scans; `not exists` may read all workers.
 */
const isTop: SQL = sql`(w.parent_worker_id is null
  or (select p.archived_at is null from workers p where p.id = w.parent_worker_id) is not true)`;

/** Adds the last message, and whether there are children, to a page of contexts. Runs only for the contexts of that page. */
function withDetails(page: SQL): SQL {
  return sql`select p.*, ${lastMessage(sql`p.id`, sql`p."activeBranch"`)} as "lastMessage",
    exists (select 1 from workers k where k.parent_worker_id = p."workerId") as "hasChildren" from (${page}) p`;
}

function toView({ lastMessage, schedulingStatus, queued, retried, ...row }: Row): ContextView {
  const state = stateOf({ state: row.state, schedulingStatus, queued, retried });
  return { ...row, state, lastMessage: toLastMessage(lastMessage) };
}

/** Null: the tenant has no such context. `ofFile`: idle timeouts of the roles in the config file. */
export async function findContext(
  executor: Executor,
  tenantId: TenantId,
  id: ContextId,
  ofFile: IdleTimeouts,
): Promise<ContextView | null> {
  const [row] = await executor.execute<Row>(
    withDetails(sql`${contextsWithWorker(ofFile)} where c.tenant_id = ${tenantId} and c.id = ${id}`),
  );
  return row === undefined ? null : toView(row);
}

/** Newest or most recently active first, within the page's byte limit. A search is always newest first. */
export async function listContexts(
  executor: Executor,
  tenantId: TenantId,
  ofFile: IdleTimeouts,
  { states, role, archived, spawned, parentWorkerId, q, order, limit, ...visible }: ContextQuery,
): Promise<ContextPage> {
  const given = [
    sql`c.tenant_id = ${tenantId}`,
    archived ? sql`w.archived_at is not null` : sql`w.archived_at is null`,
    ...isVisible(visible),
    ...(role === null ? [] : [sql`w.role = ${role}`]),
    ...(spawned === null ? [] : [spawned ? sql`w.parent_worker_id is not null` : isTop]),
    ...(parentWorkerId === null ? [] : [sql`w.parent_worker_id = ${parentWorkerId}`]),
    ...(states === null ? [] : [isShownAs(states)]),
    ...(order.sort === 'activity' || order.after === null ? [] : [sql`c.id < ${order.after}`]),
  ];
  const conditions = sql.join(given, sql` and `);
  const found = q === null ? null : await findContexts(executor, q, conditions, limit);
  if (found?.ids.length === 0) return { items: [], more: false, upto: found.upto };
  const ofTenant = (ids: SQL): SQL => sql`c.tenant_id = ${tenantId} and c.id in ${ids}`;
  const isActivity = found === null && order.sort === 'activity';
  const of = isActivity
    ? ofTenant(lastActive(conditions, order.after, limit))
    : found === null
      ? conditions
      : ofTenant(sql`${found.ids}`);
  const page = sql`${contextsWithWorker(ofFile)} where ${of} order by c.id desc limit ${limit}`;
  const sorted = isActivity ? sql`p."updatedAt" desc, p.id desc` : sql`p.id desc`;
  const rows = await executor.execute<OfPage & Row>(sql`${withDetails(withinBytes(page, sorted))} order by ${sorted}`);
  return { ...toPage(rows, toView), upto: found?.upto ?? null };
}

/**
 * The ids of a page by activity. No index has this order, since it changes with every state: the newest contexts are
 * sorted, so the cost of a page does not grow with the tenant.
 */
function lastActive(conditions: SQL, after: readonly [Millis, ContextId] | null, limit: number): SQL {
  const isAfter = after === null ? sql`true` : sql`(s.at, s.id) < (${after[0]}::float8, ${after[1]}::uuid)`;
  return sql`(
    select s.id from (
      select c.id, ${updatedAt} as at from contexts c join workers w on w.context_id = c.id
      where ${conditions} order by c.id desc limit ${SCANNED}) s
    where ${isAfter} order by s.at desc, s.id desc limit ${limit})`;
}
