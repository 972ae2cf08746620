/** Calls that wait for a person or a client, across all contexts of a tenant, oldest first. */
import { sql, type SQL } from 'drizzle-orm';
import { cut } from '../../../core/cut.ts';
import type { ContextId, JobId, MessageId, TenantId, ToolCallId, WorkerId } from '../../../core/ids.ts';
import type { Json } from '../../../core/json.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { millis, toTimestamp } from '../../connection/instant.ts';
import { beginningOf, readBeginning } from '../messages/beginning.ts';
import { toPage, withinBytes, type OfPage, type Page, type PageRequest } from '../page.ts';
import { isVisible, type Visible } from '../reach.ts';
import { SHOWN_INPUT } from './shown-of-job.ts';

export const INBOX_KINDS = ['approval', 'input', 'unknown_outcome'] as const;
export type InboxKind = (typeof INBOX_KINDS)[number];

export type InboxItem = {
  kind: InboxKind;
  contextId: ContextId;
  workerId: WorkerId;
  workerName: string;
  jobId: JobId;
  /** The input that the job answers; null: none of its own. */
  inputMessageId: MessageId | null;
  /** The beginning of its text; null: there is none of its own. */
  inputText: string | null;
  toolCallId: ToolCallId;
  name: string;
  /** The input of the call: as edited by the approver, else as requested by the model. */
  input: Json;
  requestedAt: Millis;
  expiresAt: Millis | null;
};

/** The item after which a page starts. */
export type InboxPlace = { requestedAt: Millis; id: ToolCallId };

type Row = Omit<InboxItem, 'kind' | 'inputText'> & { waitsFor: keyof typeof KINDS; inputHex: string | null };

/**
 * Runs in a transaction. Returns a page, within the page's byte limit, in the order of the index
 * `tool_calls_inbox`: a page of a whole tenant is one range of the index, however many calls wait. Sorting is switched
 * off in this transaction, because the planner might otherwise not use the index; not for one user, whose calls may be
 * few among those of all. So is JIT: a plan that must sort after all counts as very expensive, and would be compiled for
 * longer than it runs. Skips calls of jobs with a stop request, and approvals that are already decided. An approval
 * given before a call ran does not decide its unknown outcome.
 */
export async function listInbox(
  tx: Executor,
  tenantId: TenantId,
  { kind, ...visible }: Visible & { kind: InboxKind | null },
  { after, limit }: PageRequest<InboxPlace | null>,
): Promise<Page<InboxItem>> {
  const behind =
    after === null
      ? sql`true`
      : sql`(t.asked_at, t.id) > (${toTimestamp(after.requestedAt)}::timestamptz, ${after.id}::uuid)`;
  const only = kind === null ? sql`true` : sql`t.waits_for = ${WAITS_FOR[kind]}`;
  const ofThem = isVisible(visible);
  const calls = sql`
    select t.asked_at, t.id, t.waits_for, t.context_id, w.id as worker_id, w.name as worker_name, t.job_id,
      j.message_id as input_message_id, t.name, t.message_id, t.approval,
      m.bytes + coalesce(octet_length(t.approval::text), 0) as bytes,
      ${millis(sql`t.asked_at`)} as requested_at, ${millis(sql`t.expires_at`)} as expires_at
    from tool_calls t
    join jobs j on j.id = t.job_id
    join workers w on w.context_id = t.context_id
    join messages m on m.id = t.message_id
    where t.tenant_id = ${tenantId} and t.status = 'waiting' and t.reply is null
      and t.waits_for in ('approval', 'answer', 'outcome') and (t.waits_for <> 'approval' or t.approval is null)
      and j.stop_kind is null
      and ${sql.join([only, behind, ...ofThem], sql` and `)}
    order by t.asked_at, t.id limit ${limit}`;
  const [, rows] = await Promise.all([
    tx.execute(sql`
      select set_config('enable_sort', ${ofThem.length === 0 ? 'off' : 'on'}, true), set_config('jit', 'off', true)`),
    tx.execute<OfPage & Row>(sql`/* inbox.list */ ${withInput(withinBytes(calls, sql`p.asked_at, p.id`))}`),
  ]);
  return toPage(rows, ({ waitsFor, inputHex, ...item }) => ({
    ...item,
    inputText: item.inputMessageId === null ? null : cut(readBeginning(inputHex), SHOWN_INPUT),
    kind: KINDS[waitsFor],
  }));
}

/**
 * Adds the input, only to the calls of a page. The page's size, computed before, includes the messages that contain the
 * inputs and the approval decisions. Keeps the order.
 */
function withInput(page: SQL): SQL {
  return sql`select p.id as "toolCallId", p.waits_for as "waitsFor", p.context_id as "contextId", p.worker_id as "workerId",
    p.worker_name as "workerName", p.job_id as "jobId", p.input_message_id as "inputMessageId", p.name, p.requested_at as "requestedAt", p.expires_at as "expiresAt", p.total,
    coalesce(case when p.approval ->> 'input' is not null then p.approval -> 'input' end, (
      select b -> 'input' from messages m cross join lateral json_array_elements(m.content) b
      where m.id = p.message_id and b ->> 'id' = p.id::text limit 1)) as input,
    (select ${beginningOf(sql`i.content`, SHOWN_INPUT)} from messages i where i.id = p.input_message_id) as "inputHex"
  from (${page}) p order by p.asked_at, p.id`;
}

const WAITS_FOR = { approval: 'approval', input: 'answer', unknown_outcome: 'outcome' } as const;
const KINDS = { approval: 'approval', answer: 'input', outcome: 'unknown_outcome' } as const;
