// Failed jobs that were retried together, and jobs that were run again in forks: the answers that clients got, and what is
// stored at the end. All are of a tenant of their own.
import { rows } from './database.ts';

/** An answer to a bulk retry, for each job that it names: its retry, or null. */
export type Retried = { key: string; retries: { id: string; retry: string | null }[] };

export type Batch = {
  tag: string;
  /** Jobs that failed. */
  jobs: string[];
  /** The API process was killed during the first request under the first key, and gave no answer. */
  isLost: boolean;
  /** Final answers, one for each key. */
  answers: Retried[];
  /** Another answer came when the request was sent once more under its key. */
  differs: boolean;
};

/** `posted`: the fork ends before the input, which was posted to it. `asked`: it ends with the input, and is answered. */
export type Replay = {
  tag: string;
  kind: 'posted' | 'asked';
  contextId: string;
  /** Null: never accepted. */
  forkId: string | null;
  jobId: string | null;
  differs: boolean;
};

export type RepairJob = { id: string; context: string; kind: string; status: string; tag: string | null };

/** `forks`: of each context. `texts`: of the history of each context, in order. */
export type RepairRows = {
  jobs: RepairJob[];
  forks: { id: string; of: string }[];
  texts: { context: string; texts: string[] }[];
};

export type Repairs = { batches: Batch[]; replays: Replay[]; stored: RepairRows };

export const REPAIR_TENANT = 'repaired';

export async function readRepairs(databaseUrl: string): Promise<RepairRows> {
  const ofTenant = `tenant_id = (select id from tenants where name = '${REPAIR_TENANT}')`;
  return {
    jobs: await rows<RepairJob>(
      databaseUrl,
      `select id, context_id as context, kind, status, metadata ->> 'batch' as tag from jobs where ${ofTenant} order by id`,
    ),
    forks: await rows<RepairRows['forks'][number]>(
      databaseUrl,
      `select context_id as id, parent_context_id as of from workers where ${ofTenant} and parent_context_id is not null`,
    ),
    texts: await rows<RepairRows['texts'][number]>(
      databaseUrl,
      `select context_id as context, json_agg(content -> 0 ->> 'text' order by seq) as texts from messages
       where ${ofTenant} and status = 'completed' group by context_id`,
    ),
  };
}
