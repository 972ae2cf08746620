/** Worker processes with their history: those that are alive, and those that ended. They belong to no tenant. */
import { sql } from 'drizzle-orm';
import type { ProcessId } from '../../../core/ids.ts';
import type { Json } from '../../../core/json.ts';
import type { EndReason, ProcessStatus } from '../../../core/process-status.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { millis } from '../../connection/instant.ts';
import { isDead, type LeaseTimes } from '../../processes/processes.ts';

export type ListedProcess = {
  id: ProcessId;
  host: string;
  pid: number;
  version: string;
  startedAt: Millis;
  heartbeatAt: Millis;
  status: ProcessStatus;
  requestedStatus: ProcessStatus;
  canDrain: boolean;
  providers: string[];
  mcpServers: string[];
  /** Contexts whose lease it holds. */
  leases: number;
  /** Null: it is alive. */
  ended: { at: Millis; reason: EndReason } | null;
  /** The requested metric as it has stored it, in prom-client's format; null: none. */
  figures: Json;
};

/** `isLive` null: all. `before`: the last process of the page before. `figure`: the name of a metric. */
type Filter = { isLive: boolean | null; before: ProcessId | null; limit: number; figure: string };

/**
 * Newest first. A process that no other has declared dead yet has ended, too, if its heartbeats are late: `lost`, at its
 * last heartbeat.
 */
export async function listProcesses(
  executor: Executor,
  times: LeaseTimes,
  { isLive, before, limit, figure }: Filter,
): Promise<ListedProcess[]> {
  const ofPage = before === null ? sql`` : sql`and p.id < ${before}`;
  const ofKind = isLive === null ? sql`` : isLive ? sql`and not ${isDead(times)}` : sql`and ${isDead(times)}`;
  return executor.execute<ListedProcess>(sql`/* processes.list */
    select p.id, p.host, p.pid, p.version, ${millis(sql`p.started_at`)} as "startedAt",
      ${millis(sql`p.heartbeat_at`)} as "heartbeatAt", p.status, p.requested_status as "requestedStatus",
      p.can_drain as "canDrain", to_jsonb(p.models) as providers, to_jsonb(p.mcp_servers) as "mcpServers",
      (select count(*)::int from contexts c where c.lease_owner = p.id) as leases,
      case when p.is_dead then jsonb_build_object('at', ${millis(sql`coalesce(p.dead_at, p.heartbeat_at)`)},
        'reason', coalesce(p.end_reason, 'lost')) end as ended, (
        select jsonb_agg(f) from jsonb_array_elements(
          case jsonb_typeof(p.metrics) when 'array' then p.metrics else '[]'::jsonb end) f
        where f ->> 'name' = ${figure}) as figures
    from (select p.*, ${isDead(times)} as is_dead from processes p where true ${ofPage} ${ofKind}
      order by p.id desc limit ${limit}) p
    order by p.id desc`);
}
