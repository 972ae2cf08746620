/** Live worker processes, as the API returns them. They belong to no tenant, because they serve all tenants. */
import { sql } from 'drizzle-orm';
import type { ProcessId } from '../../../core/ids.ts';
import type { Json } from '../../../core/json.ts';
import type { Millis } from '../../../core/time.ts';
import type { Executor } from '../../connection/client.ts';
import { millis } from '../../connection/instant.ts';
import { isDead, type LeaseTimes, type Published } from '../../processes/processes.ts';

export type ProcessView = Published & {
  id: ProcessId;
  host: string;
  pid: number;
  version: string;
  startedAt: Millis;
  heartbeatAt: Millis;
  /** The requested metrics that the process has stored, in prom-client's format; null: none yet. */
  figures: Json;
};

/** Maximum number of processes returned. */
const MOST = 500;

/** Newest first. `figures`: names of metrics. */
export async function liveProcesses(
  executor: Executor,
  times: LeaseTimes,
  figures: readonly string[],
): Promise<ProcessView[]> {
  const names = sql.join(
    // A list may not be empty, and no metric is named null.
    figures.length === 0 ? [sql`null`] : figures.map((name) => sql`${name}`),
    sql`, `,
  );
  return executor.execute<ProcessView>(sql`
    select p.id, p.host, p.pid, p.version, ${millis(sql`p.started_at`)} as "startedAt", ${millis(sql`p.heartbeat_at`)} as "heartbeatAt",
      to_jsonb(p.tools) as tools, to_jsonb(p.roles) as roles, to_jsonb(p.models) as models,
      to_jsonb(p.mcp_servers) as "mcpServers", (
        select jsonb_agg(f) from jsonb_array_elements(
          case jsonb_typeof(p.metrics) when 'array' then p.metrics else '[]'::jsonb end) f
        where f ->> 'name' in (${names})) as figures
    from processes p where p.dead_at is null and not ${isDead(times)} order by p.id desc limit ${MOST}`);
}

/** Active throttles of a model, of one or several tenants. */
export type ThrottleView = {
  id: string;
  provider: string;
  model: string;
  reason: string;
  since: Millis;
  until: Millis;
  /** Names, at most `MOST`. */
  tenants: string[];
};

/** At most `MOST`, the longest first. */
export async function activeThrottles(executor: Executor): Promise<ThrottleView[]> {
  return executor.execute<ThrottleView>(sql`
    select g.id, g.provider, (array_agg(g.model order by g.until desc))[1] as model,
      (array_agg(g.reason order by g.until desc))[1] as reason,
      ${millis(sql`min(g.since)`)} as since, ${millis(sql`max(g.until)`)} as until,
      coalesce(to_jsonb((array_agg(t.name order by t.name) filter (where t.name is not null))[1:${sql.raw(String(MOST))}]), '[]') as tenants
    from provider_throttles g left join tenants t on t.id = g.tenant_id
    where g.until > clock_timestamp() group by g.id, g.provider order by max(g.until) desc, g.id limit ${MOST}`);
}
