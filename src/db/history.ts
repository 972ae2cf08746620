/** Reads the history of a context, which only its holder writes. */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Block } from '../core/blocks.ts';
import type { ContextId, JobId, MessageId } from '../core/ids.ts';
import type { Message, MessageRole, MessageType } from '../core/message.ts';
import type { Lease } from '../core/snapshot.ts';
import type { Turn } from '../core/turn.ts';
import type { Executor } from './client.ts';
import { encodeJson } from './codec.ts';
import { toModelMeta } from './model-meta.ts';
import type { ModelColumns } from './model-meta.ts';

/** Which context, and whose. */
export type Place = Pick<Lease, 'contextId' | 'tenantId'>;

/**
 * Which contexts a statement reads, as the table `at(context_id, tenant, branch, steers)`. Each is then looked up by
 * itself, whatever the planner believes of the tables.
 */
export function places(those: readonly (Place & { branch?: string; steers?: number })[]): SQL {
  const list = those.map(({ contextId, tenantId, branch = 'main', steers = 0 }) => ({
    context_id: contextId,
    tenant: tenantId,
    branch,
    steers,
  }));
  return sql`jsonb_to_recordset(${encodeJson(list)}::jsonb) as at(context_id uuid, tenant text, branch text, steers int)`;
}

const messageColumns: SQL = sql`m.id, m.seq, m.role, m.type, m.turn, m.content, m.job_id, m.model_id, m.provider_id,
  m.finish_reason, m.input_tokens, m.output_tokens, m.cache_read_tokens, m.cache_write_tokens`;

/** The visible messages of a branch, in order. */
export async function readHistory(executor: Executor, place: Place, branch: string): Promise<Message[]> {
  return (await readHistories(executor, places([{ ...place, branch }]))).get(place.contextId) ?? [];
}

/** Those without any message are missing. */
export async function readHistories(executor: Executor, at: SQL): Promise<Map<ContextId, Message[]>> {
  const rows = await executor.execute<MessageRow & OfContext>(sql`
    select m.* from ${at} cross join lateral (
      select m.context_id, ${messageColumns} from messages m where m.context_id = at.context_id and m.tenant_id = at.tenant and m.branch = at.branch
        and m.status = 'completed' order by m.seq) m`);
  return byContext(rows, toMessage);
}

/** The visible messages that a job added to history. */
export async function readAdded(
  executor: Executor,
  { contextId, tenantId }: Place,
  jobId: JobId,
): Promise<Message[]> {
  const rows = await executor.execute<MessageRow>(sql`
    select ${messageColumns} from jobs j join messages m on m.context_id = j.context_id and m.branch = j.branch
      and m.seq > j.first_seq and m.job_id = j.id
    where j.id = ${jobId} and j.context_id = ${contextId} and j.tenant_id = ${tenantId} and m.status = 'completed'
    order by m.seq`);
  return rows.map(toMessage);
}

/** The last visible message of a branch that is of a turn: what stands for a history that is not read. */
export async function readLastTurn(
  executor: Executor,
  { contextId, tenantId }: Place,
  branch: string,
): Promise<Pick<Message, 'role' | 'turn'>[]> {
  return executor.execute<{ role: MessageRole; turn: Turn }>(sql`
    select role, turn from messages where context_id = ${contextId} and tenant_id = ${tenantId} and branch = ${branch}
      and status = 'completed' and role <> 'system' order by seq desc limit 1`);
}

type MessageRow = ModelColumns & {
  id: MessageId;
  seq: number;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  content: Block[];
  job_id: JobId | null;
};

function toMessage(row: MessageRow): Message {
  const { id, seq, role, type, turn, content, job_id: jobId } = row;
  return { id, seq, role, type, turn, content, jobId, model: toModelMeta(row) };
}

export type OfContext = { context_id: ContextId };

/** In the order of `rows`. */
export function byContext<Row extends OfContext, Value>(
  rows: readonly Row[],
  parse: (row: Row) => Value,
): Map<ContextId, Value[]> {
  const groups = new Map<ContextId, Value[]>();
  for (const row of rows) {
    const group = groups.get(row.context_id);
    if (group === undefined) groups.set(row.context_id, [parse(row)]);
    else group.push(parse(row));
  }
  return groups;
}
