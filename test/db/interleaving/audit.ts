// Every change of a context's row, recorded by a trigger: the writer, the old and the new row.
import { sql } from 'drizzle-orm';
import type { ContextId, ProcessId } from '../../../src/core/ids.ts';
import type { Database } from '../../../src/db/connection/client.ts';

export type Change = {
  /** The name of the connection. */
  actor: string;
  status: string;
  previousStatus: string;
  owner: ProcessId | null;
  previousOwner: ProcessId | null;
  /** Whether the previous owner was alive, by its heartbeat. */
  ownerLived: boolean;
  epoch: number;
  previousEpoch: number;
  head: number;
  previousHead: number;
  wake: number;
  queued: number;
  previousQueued: number;
  stopped: boolean;
  /** A stop request was pending. */
  signalled: boolean;
  /** A job was running, waiting or queued. */
  unfinished: boolean;
};

export async function installAudit({ db }: Database): Promise<void> {
  await db.execute(sql`
    create table audit (n bigserial primary key, context_id uuid not null, change jsonb not null)`);
  await db.execute(sql`create index on audit (context_id)`);
  await db.execute(sql`
    create function write_audit() returns trigger language plpgsql as $$
    begin
      insert into audit (context_id, change) values (new.id, jsonb_build_object(
        'actor', current_setting('application_name'),
        'status', new.scheduling_status, 'previousStatus', old.scheduling_status,
        'owner', new.lease_owner, 'previousOwner', old.lease_owner,
        'ownerLived', exists (select 1 from processes p where p.id = old.lease_owner
          and p.dead_at is null and p.heartbeat_at > clock_timestamp() - interval '10 minutes'),
        'epoch', new.lease_epoch, 'previousEpoch', old.lease_epoch,
        'head', new.head_seq, 'previousHead', old.head_seq,
        'wake', new.wake_seq, 'queued', new.queued, 'previousQueued', old.queued, 'stopped', new.stopped,
        'signalled', old.next_check_at is not null and old.scheduling_status = 'running',
        'unfinished', exists (select 1 from jobs j where j.context_id = new.id and j.finished_at is null)));
      return null;
    end $$`);
  await db.execute(sql`
    create trigger audit after update on contexts for each row execute function write_audit()`);
}

/** In the order of commits: the row's lock admits one writer at a time. */
export async function changesOf({ db }: Database, contextId: ContextId): Promise<Change[]> {
  const rows = await db.execute<{ change: Change }>(
    sql`select change from audit where context_id = ${contextId} order by n`,
  );
  return rows.map(({ change }) => change);
}
