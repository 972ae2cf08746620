// The stored rows, read directly from the database, and the answers of the API.
import type { JobStatus } from '../../../src/core/run/job.ts';
import type { Answer, Asker, More } from '../clients/requests.ts';
import type {
  StoredBranch,
  StoredCall,
  StoredCompaction,
  StoredContext,
  StoredEvent,
  StoredJob,
  StoredMessage,
} from './stored.ts';
import { SALES } from '../service-tools.ts';
import { all, withDatabase } from './database.ts';
import type { StoredStep } from './service.ts';
import type { ReturnedContext, ReturnedBranch, World } from './world.ts';

export type Stored = Pick<World, 'contexts' | 'branches' | 'compactions' | 'jobs' | 'messages' | 'events' | 'calls'>;

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8 as ${column}`;

/** Its own connection, straight to the service. */
export async function readStored(databaseUrl: string): Promise<Stored> {
  return withDatabase(databaseUrl, async (db) => ({
    contexts: await all<StoredContext>(
      db,
      `select c.id, c.scheduling_status, c.state, c.head_seq, c.lease_owner, ${ms('next_check_at')}, c.stopped, c.queued, c.steers,
        c.failed_claims, c.stored_bytes, c.message_count, c.turn_count, c.request_count, c.input_tokens, c.output_tokens,
        c.active_branch, w.config, w.version, w.id as worker_id, w.detached,
        (select p.context_id from workers p where p.id = w.parent_worker_id) as parent_context_id from contexts c join workers w on w.context_id = c.id order by c.id`,
    ),
    branches: await all<StoredBranch>(
      db,
      `select context_id, name, parent_name, fork_seq, spans, message_count, request_count, input_tokens, output_tokens
        from branches order by context_id, created_at, name`,
    ),
    compactions: await all<StoredCompaction>(
      db,
      `select id, context_id, branch, seq, upto_seq, type, tokens_before, tokens_after, job_id from compactions
        order by context_id, seq`,
    ),
    jobs: await all<StoredJob>(
      db,
      `select id, context_id, kind, branch, status, priority, position, message_id, steps, input_tokens, output_tokens,
        output_message_id, error->>'code' as error_code, stop_kind, stop_mode, stop_reason, ${ms('stop_requested_at')},
        ${ms('stop_delivered_at')}, ${ms('stopped_at')}, ${ms('starts_at')}, ${ms('started_at')}, ${ms('finished_at')},
        parent_job_id, parent_tool_call_id, parent_notice, cascade, notice_of_job_id, ${ms('created_at')} from jobs order by context_id, position`,
    ),
    messages: await all<StoredMessage>(
      db,
      `select id, context_id, branch, seq, role, type, turn, status, content, bytes, job_id, model_id, input_tokens,
        output_tokens, attempt, ${ms('completed_at')} from messages order by context_id, seq`,
    ),
    events: await all<StoredEvent>(db, 'select context_id, seq, name, data from events order by context_id, seq'),
    calls: await all<StoredCall>(
      db,
      `select id, context_id, job_id, message_id, name, effect, status, ${ms('started_at')}, asked_at is not null and coalesce(waits_for, 'answer') = 'answer' as asked,
        approval, ${ms('approval_at')}, reply from calls`,
    ),
  }));
}

/** Rows of the service, by the calls that wrote them, and the stored results of steps. */
export async function readOfTools(databaseUrl: string): Promise<{ rows: string[]; steps: StoredStep[] }> {
  return withDatabase(databaseUrl, async (db) => ({
    rows: (await all<{ id: string }>(db, `select call_id as id from ${SALES} order by id`)).map(({ id }) => id),
    steps: await all<StoredStep>(db, `select tool_call_id, name, result ->> 'value' as value from tool_steps`),
  }));
}

/** The work that is left, as text; empty once all is idle. A database that does not answer counts as work left. */
export async function readUnrest(databaseUrl: string): Promise<string[]> {
  const rows = await withDatabase(databaseUrl, (db) =>
    all<{ what: string }>(
      db,
      `select 'job ' || id || ' of context ' || context_id || ' is ' || status as what from jobs where finished_at is null
       union all select 'context ' || id || ' is ' || scheduling_status || coalesce(', owned by ' || lease_owner, '') from contexts
         where scheduling_status <> 'idle'
       union all select 'the end of job ' || id || ' is still to be reported' from jobs
         where cascade is not null or parent_notice = 'due'`,
    ),
  ).catch((error: unknown) => [{ what: `Postgres does not answer: ${String(error)}` }]);
  return rows.map(({ what }) => what);
}

/** Page by page; contexts without an answer are left out. */
export async function readReturned(ask: Asker, contexts: readonly string[]): Promise<ReturnedContext[]> {
  const returned: ReturnedContext[] = [];
  for (const id of contexts) {
    const context = await ask.insist('GET', `/api/contexts/${id}`);
    if (context?.status !== 200) continue;
    const { body } = context;
    const usage = body['usage'] as Record<string, number>;
    const branches = await pages(ask, `/api/contexts/${id}/branches?limit=200`);
    const jobs = await pages(ask, `/api/jobs?context_id=${id}&limit=200`);
    returned.push({
      contextId: id,
      state: String(body['state']),
      messageCount: Number(body['message_count']),
      turnCount: Number(body['turn_count']),
      requestCount: Number(body['request_count']),
      inputTokens: Number(usage['input_tokens']),
      outputTokens: Number(usage['output_tokens']),
      branches: await readBranches(ask, id, branches),
      jobs: jobs.map((job) => ({
        id: String(job['id']),
        status: job['status'] as JobStatus,
        steps: Number(job['steps']),
        output: (job['output'] as { message_id: string } | null)?.message_id ?? null,
        code: (job['error'] as { code: string } | null)?.code ?? null,
      })),
    });
  }
  return returned;
}

async function readBranches(
  ask: Asker,
  contextId: string,
  branches: readonly Record<string, unknown>[],
): Promise<ReturnedBranch[]> {
  const returned: ReturnedBranch[] = [];
  for (const branch of branches) {
    const name = String(branch['name']);
    const usage = branch['usage'] as Record<string, number>;
    const path = `/api/contexts/${contextId}/messages?limit=200&include=compacted&branch=${encodeURIComponent(name)}`;
    const messages = await pages(ask, path);
    returned.push({
      name,
      active: branch['active'] === true,
      length: Number(branch['length']),
      messageCount: Number(branch['message_count']),
      requestCount: Number(branch['request_count']),
      inputTokens: Number(usage['input_tokens']),
      outputTokens: Number(usage['output_tokens']),
      messages: messages.map((message) => ({
        id: String(message['id']),
        seq: message['seq'] as number | null,
        role: String(message['role']),
        turn: message['turn'] as string | null,
        content: message['content'],
      })),
    });
  }
  return returned;
}

export async function pages(ask: Asker, path: string, more: More = {}): Promise<Record<string, unknown>[]> {
  const list: Record<string, unknown>[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Answer | null = await ask.insist(
      'GET',
      `${path}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      undefined,
      undefined,
      more,
    );
    if (page === null) return list;
    list.push(...(page.body['data'] as Record<string, unknown>[]));
    cursor = page.body['next_cursor'] as string | null;
  }
  return list;
}
