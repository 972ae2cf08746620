/** What tools report: entries of logs, and a summary of each execution that reported anything. */
import { sql, type SQL } from 'drizzle-orm';
import type { ContextId, JobId, TenantId, ToolCallId } from '../../core/ids.ts';
import { levelsFrom, type CallProgress, type EntryLevel, type LogEntry } from '../../core/tools/report.ts';
import type { Executor } from '../connection/client.ts';
import { encodeJson } from '../connection/codec.ts';
import { millis } from '../connection/instant.ts';
import { recordset } from '../rows/recordset.ts';
import { written } from '../rows/written-columns.ts';
import { toolLogs, toolReports } from '../schema/tool-calls.ts';

/** One execution of a call within a run. `epoch`: that of the claim of the run. `ordinal`: counts the run's executions. */
export type ExecutionId = {
  tenantId: TenantId;
  contextId: ContextId;
  jobId: JobId;
  toolCallId: ToolCallId;
  attempt: number;
  epoch: number;
  ordinal: number;
};

/** `number`: its place among all entries of its run. */
export type StoredEntry = Omit<ExecutionId, 'ordinal'> & LogEntry & { number: number };

/** `version`: a higher one replaces lower ones. `entries`, `dropped`: of the log. */
export type StoredReport = ExecutionId & {
  version: number;
  progress: CallProgress | null;
  entries: number;
  dropped: number;
};

const entryColumns = written<typeof toolLogs, StoredEntry>(
  toolLogs,
  {
    contextId: ({ contextId }) => contextId,
    jobId: ({ jobId }) => jobId,
    epoch: ({ epoch }) => epoch,
    number: ({ number }) => number,
    tenantId: ({ tenantId }) => tenantId,
    toolCallId: ({ toolCallId }) => toolCallId,
    attempt: ({ attempt }) => attempt,
    level: ({ level }) => level,
    message: ({ message }) => message,
    fields: ({ fields }) => fields,
    at: ({ at }) => at,
  },
  { given: 'e' },
);
const givenEntries = recordset('e', entryColumns.fields);

const reportColumns = written<typeof toolReports, StoredReport>(
  toolReports,
  {
    toolCallId: ({ toolCallId }) => toolCallId,
    epoch: ({ epoch }) => epoch,
    ordinal: ({ ordinal }) => ordinal,
    tenantId: ({ tenantId }) => tenantId,
    contextId: ({ contextId }) => contextId,
    version: ({ version }) => version,
    progress: ({ progress }) => progress,
    entries: ({ entries }) => entries,
    dropped: ({ dropped }) => dropped,
  },
  { given: 'r' },
);
const givenReports = recordset('r', reportColumns.fields);

/**
 * One statement for many contexts, which may be sent again. It waits for no row of a context: of one that is being
 * deleted, nothing is stored.
 */
export async function storeReports(
  executor: Executor,
  entries: readonly StoredEntry[],
  reports: readonly StoredReport[],
): Promise<void> {
  const contexts = [...new Set([...entries, ...reports].map(({ contextId }) => contextId))];
  await executor.execute(sql`/* tool_reports.store */
    with locked as materialized (
      select c.id, c.tenant_id from contexts c
      where c.id = any(array(select i::uuid from jsonb_array_elements_text(${encodeJson(contexts)}::jsonb) i))
      for key share skip locked
    ), reported as (
      ${sql.raw(reportColumns.insert)} from ${givenReports.table(reports)}
      join locked on locked.id = r.context_id and locked.tenant_id = r.tenant_id
      on conflict (tool_call_id, epoch, ordinal) do update
      set version = excluded.version, progress = excluded.progress, entries = excluded.entries,
        dropped = excluded.dropped
      where tool_reports.version < excluded.version
    )
    ${sql.raw(entryColumns.insert)} from ${givenEntries.table(entries)}
    join locked on locked.id = e.context_id and locked.tenant_id = e.tenant_id
    on conflict do nothing`);
}

/** What the executions of a call reported. `progress`: the last one. */
export type ReportView = { progress: CallProgress | null; entries: number; dropped: number };

/** JSON of `ReportView` of a call. */
export function reportOf(callId: SQL, tenantId: SQL): SQL {
  return sql`(select json_build_object('entries', coalesce(sum(p.entries), 0), 'dropped', coalesce(sum(p.dropped), 0),
      'progress', (array_agg(p.progress order by p.epoch desc, p.ordinal desc)
        filter (where p.progress is not null))[1])
    from tool_reports p where p.tool_call_id = ${callId} and p.tenant_id = ${tenantId})`;
}

/** The place of an entry in the log of its job. */
export type EntryPlace = { epoch: number; number: number };

export type EntryView = LogEntry & EntryPlace & { toolCallId: ToolCallId; attempt: number };

/** `level`: the least important one. `after` null: from the beginning. */
type LogRequest = { level: EntryLevel; toolCallId: ToolCallId | null; after: EntryPlace | null; limit: number };

/** In order. Null: the tenant has no such job. */
export async function listLog(
  executor: Executor,
  tenantId: TenantId,
  jobId: JobId,
  { level, toolCallId, after, limit }: LogRequest,
): Promise<EntryView[] | null> {
  const ofCall = toolCallId === null ? sql`true` : sql`e.tool_call_id = ${toolCallId}::uuid`;
  const ofLevel = level === 'debug' ? sql`true` : sql`e.level in (${sql.raw(listed(levelsFrom(level)))})`;
  const rows = await executor.execute<EntryView | { epoch: null }>(sql`/* tool_logs.list */
    select l.* from jobs j left join lateral (
      select e.epoch, e.number, e.tool_call_id as "toolCallId", e.attempt, e.level, e.message, e.fields,
        ${millis(sql`e.at`)} as at
      from tool_logs e
      where e.context_id = j.context_id and e.job_id = j.id and e.tenant_id = ${tenantId}
        and (e.epoch, e.number) > (${after?.epoch ?? 0}::bigint, ${after?.number ?? 0}::int)
        and ${ofCall} and ${ofLevel}
      order by e.epoch, e.number limit ${limit}
    ) l on true
    where j.id = ${jobId} and j.tenant_id = ${tenantId}
    order by l.epoch, l.number`);
  if (rows.length === 0) return null;
  return rows.filter((row): row is EntryView => row.epoch !== null);
}

function listed(levels: readonly EntryLevel[]): string {
  return levels.map((level) => `'${level}'`).join(', ');
}
