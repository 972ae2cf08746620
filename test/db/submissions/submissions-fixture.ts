// Submissions of a test's database: how they are made and turned, and what became of them.
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { DEFAULT_TENANT_NAME, type ContextId, type JobId, type WorkerId } from '../../../src/core/ids.ts';
import { PEER_LIMITS } from '../../../src/core/workers/peer-limits.ts';
import type { Database } from '../../../src/db/connection/client.ts';
import { createWorkerMetrics } from '../../../src/workers/process/metrics/metrics.ts';
import { turnDueSubmissions } from '../../../src/workers/scheduling/submissions.ts';
import { readParsed } from '../../workers/scheduling/read-parsed.ts';
import { ids, type Given } from '../database-fixture.ts';

export type State = Parameters<typeof turnDueSubmissions>[0];

const input = (content = 'go') => ({ input: { content } });

export const newWorker = (over: object = {}) => ({
  context_id: ids.next<ContextId>(),
  worker_id: ids.next<WorkerId>(),
  name: 'w',
  ...input(),
  ...over,
});

export const QUEUED_JOB = { kind: 'job', status: 'queued', code: null };
export const WAITING = { kind: 'submission', status: 'queued', code: null };
export const failed = (code: string) => ({ kind: 'submission', status: 'failed', code });

export function submissionsOf(the: () => Given) {
  const stateOf = (database: Database = the().database, over: Partial<State> = {}): State => ({
    ...the().ports(database),
    peers: PEER_LIMITS,
    log: pino({ level: 'silent' }),
    metrics: createWorkerMetrics({ running: 0, capacity: 0 }, []),
    readSubmission: readParsed,
    ...over,
  });

  /** Until nothing more becomes a job. */
  async function turnAll(state: State = stateOf()): Promise<void> {
    while ((await turnDueSubmissions(state)) === 0);
  }

  async function submit(body: object, tenant = DEFAULT_TENANT_NAME): Promise<JobId> {
    const jobId = ids.next<JobId>();
    const whole = JSON.stringify({ job_id: jobId, message_id: ids.next(), ...body });
    await the().database.db.execute(sql`select nightshift_submit_v1(${tenant}, ${whole})`);
    return jobId;
  }

  const toContext = (contextId: ContextId, content?: string) => submit({ context_id: contextId, ...input(content) });

  const statusOf = async (id: JobId): Promise<unknown[]> => [
    ...(await the().rows(`select 'job' as kind, status, null as code from jobs where id = '${id}'
    union all select 'submission', status, error ->> 'code' from submissions where id = '${id}'`)),
  ];

  return { stateOf, turnAll, submit, toContext, statusOf };
}
