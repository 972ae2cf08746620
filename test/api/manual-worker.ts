// A worker process driven step by step: claims a context, admits, answers and settles by the protocols, one commit at a
// time.
import { sql } from 'drizzle-orm';
import { jobNews, progressOf } from '../../src/bus/bus.ts';
import { newsOf } from '../../src/workers/run/stream-publisher.ts';
import { NOTHING_COMPACTED, type NewCompaction } from '../../src/core/compaction/compacted.ts';
import { asAsked, planCompaction, tokensAfter } from '../../src/core/compaction/plan.ts';
import { ASKING_DEFAULTS } from '../../src/core/run/policy.ts';
import { inputOf } from '../../src/agent/calls/invocation.ts';
import type { Append } from '../../src/core/run/append.ts';
import type { Block } from '../../src/core/conversation/blocks.ts';
import { DEFAULT_TENANT, type ContextId, type ProcessId } from '../../src/core/ids.ts';
import { requestedEnd, throttledBy, type ActiveJob, type JobOutcome } from '../../src/core/run/job.ts';
import type { ModelAnswer } from '../../src/core/model/model.ts';
import { admit } from '../../src/core/transitions/admit.ts';
import { answer } from '../../src/core/transitions/answer.ts';
import { letCallsWait } from '../../src/core/transitions/approval.ts';
import { compaction } from '../../src/core/transitions/compact.ts';
import { delay, releaseUntil, throttledUntil, sleep } from '../../src/core/transitions/park.ts';
import { awaitCalls, endWaits } from '../../src/core/transitions/waits.ts';
import { end, withPartial } from '../../src/core/transitions/end.ts';
import { settle } from '../../src/core/transitions/settle.ts';
import { closeCalls, ended } from '../../src/core/transitions/tools.ts';
import type { Snapshot } from '../../src/core/run/snapshot.ts';
import type { ToolDescriptor } from '../../src/core/tools/tool.ts';
import { isReplied } from '../../src/core/tools/tool-call.ts';
import { askedWait, isOver, type EndedWaits } from '../../src/core/run/wait.ts';
import { append } from '../../src/db/run/append/append.ts';
import { claim } from '../../src/db/run/claims.ts';
import { read } from '../../src/db/run/contexts.ts';
import { readHistory } from '../../src/db/run/history.ts';
import { readMailbox } from '../../src/db/run/mailbox/mailbox.ts';
import { register, type Published } from '../../src/db/processes/processes.ts';
import { settings } from '../core/builders.ts';
import { ids, type Api } from './harness.ts';

const SETTINGS = settings({ model: { provider: 'simulated', model: 'test' } });

/** A row of a process that counts as alive as long as its test takes: its next heartbeat is in the future. */
export async function addProcess(api: Api, published: Partial<Published> = {}): Promise<ProcessId> {
  const id = ids.next<ProcessId>();
  const lockKey = Math.floor(Math.random() * 2 ** 40);
  const serves = { tools: [], roles: [], models: ['simulated'], mcpServers: [], ...published };
  const { db } = api.database;
  await register(db, { id, lockKey, host: 'test', pid: 1, version: '0', ...serves });
  await db.execute(sql`update processes set heartbeat_at = heartbeat_at + interval '1 day' where id = ${id}`);
  return id;
}

export type ManualWorker = {
  /** The next queued job becomes the running one. */
  admit(): Promise<void>;
  /** The model answered. */
  answer(content: Block[], costNanos?: number): Promise<void>;
  /** Every open call ended with this text. */
  results(text: string): Promise<void>;
  /** The model call failed and is made again at `at`. */
  delay(at: number): Promise<void>;
  /** The key of the model is throttled until `until`; the next call is at `at`. */
  throttledUntil(until: number, at: number): Promise<void>;
  /** Every call that is to be run waits for approval instead, until then. */
  askApproval(until?: number | null): Promise<void>;
  /** Waits for answers from outside, until `until`. */
  awaitCalls(until: number): Promise<void>;
  /** The answers from outside enter history. */
  endWaits(): Promise<void>;
  /** Waits without a slot. */
  sleep(until: number): Promise<void>;
  releaseUntil(until: number | null): Promise<void>;
  /** The job ends with `text` as its answer. */
  complete(text: string, costNanos?: number): Promise<void>;
  settle(outcome: JobOutcome): Promise<void>;
  /** The job ends as its stop request says, in the middle of an answer that began with `text`. */
  stop(text: string): Promise<void>;
  /** The context is compacted as its job requests, with this as the summary. */
  compact(summary: string, costNanos?: number): Promise<void>;
};

/** A question to a person, and a tool that the client runs. */
export const OUTSIDE: ToolDescriptor[] = [
  { name: 'ask_user', effect: 'none', answered_by: 'person' } as const,
  { name: 'locate', effect: 'once', answered_by: 'client' } as const,
].map((tool) => ({ ...tool, description: '', input_schema: { type: 'object' }, on_unknown: 'tell' }));

/** `tools`: those of the worker. */
export async function take(
  api: Api,
  contextId: ContextId,
  owner: ProcessId,
  tools: ToolDescriptor[] = [],
): Promise<ManualWorker> {
  const served = { ...SETTINGS, tools };
  const { database, bus } = api;
  const claimed = await claim(database.db, contextId, owner);
  if (claimed === null) throw new Error('The context could not be claimed.');
  const look = async (): Promise<Snapshot> => {
    const row = await read(database.db, contextId);
    const stored = row === null ? null : await readMailbox(database.db, row);
    if (stored === null) throw new Error('The context is gone.');
    const history = await readHistory(
      database.db,
      { contextId, tenantId: DEFAULT_TENANT },
      stored.mailbox.activeBranch,
    );
    return {
      ...stored.mailbox,
      lease: claimed.lease,
      history,
      compacted: NOTHING_COMPACTED,
      unread: null,
      workerName: stored.worker.name,
      role: stored.worker.role,
      serving: { kind: 'served', settings: served },
    };
  };
  /** The stored state is read before each transition: others may have written stop requests and inputs. */
  const commit = async (decide: (snapshot: Snapshot) => Append): Promise<void> => {
    const move = decide(await look());
    const [outcome] = await append(database.db, [move]);
    if (outcome?.kind !== 'committed') return commit(decide);
    const { headSeq } = outcome;
    bus.publish(progressOf(contextId), { contextId, headSeq });
    const status = newsOf(move.job);
    if (move.job !== null && status !== null)
      bus.publish(jobNews(), { tenantId: DEFAULT_TENANT, contextId, jobId: move.job.job.id, headSeq, status });
  };
  const say = (content: Block[], costNanos?: number) =>
    commit((snapshot) =>
      answer(
        snapshot,
        { job: jobOf(snapshot), settings: served },
        { ...answerOf(content, costNanos), id: ids.next() },
        Date.now(),
      ),
    );
  const settleWith = (outcome: JobOutcome) => commit((snapshot) => settle(snapshot, jobOf(snapshot), outcome));
  return {
    admit: () =>
      commit((snapshot) => {
        if (snapshot.next === null) throw new Error('No input is queued.');
        return admit(snapshot, snapshot.next);
      }),
    answer: say,
    results: (text) =>
      commit((snapshot) => {
        const result = { kind: 'result', content: text, is_error: false } as const;
        const closed = snapshot.calls.map((call) => ended(call, result));
        return closeCalls(snapshot, jobOf(snapshot), closed);
      }),
    delay: (at) =>
      commit((snapshot) => delay(snapshot, jobOf(snapshot), { code: 'provider_overloaded', message: 'too busy' }, at)),
    throttledUntil: (until, at) =>
      commit((snapshot) =>
        throttledUntil(
          snapshot,
          throttledBy(
            jobOf(snapshot),
            { id: 't', provider: 'anthropic', model: 'm', reason: 'rate_limited', until },
            Date.now(),
          ),
          at,
        ),
      ),
    askApproval: (until = null) =>
      commit((snapshot) => {
        const asking = { ...ASKING_DEFAULTS, approvalMs: until === null ? null : until - Date.now() };
        const waiting = snapshot.calls
          .filter(({ status }) => status === 'pending')
          .map((call) => ({
            call,
            input: inputOf(snapshot, call),
            answeredBy: 'tool' as const,
            wait: askedWait('approval', asking, Date.now()),
          }));
        return letCallsWait(snapshot, jobOf(snapshot), waiting);
      }),
    awaitCalls: (until) => commit((snapshot) => awaitCalls(snapshot, jobOf(snapshot), until)),
    endWaits: () => commit((snapshot) => endWaits(snapshot, endedWaits(snapshot))),
    sleep: (until) => commit((snapshot) => sleep(snapshot, jobOf(snapshot), until)),
    releaseUntil: (until) => commit((snapshot) => releaseUntil(snapshot, until)),
    async complete(text, costNanos) {
      await say([{ type: 'text', text }], costNanos);
      const outputId = (await look()).history.at(-1)?.id ?? null;
      await settleWith({ status: 'completed', outputId });
    },
    settle: settleWith,
    stop: (text) =>
      commit((snapshot) => {
        const job = jobOf(snapshot);
        if (job.stopRequest === null) throw new Error('The job has no stop request.');
        const settled = end(snapshot, { job, outcome: requestedEnd(job.stopRequest) }, snapshot.history, ids);
        return withPartial(settled, { id: ids.next(), text }, Date.now());
      }),
    compact: (summary, costNanos) =>
      commit((snapshot) => {
        const job = jobOf(snapshot);
        const plan = planCompaction(snapshot, asAsked(SETTINGS, job.asked ?? {}), 'asked');
        if (plan === null) throw new Error('There is nothing to compact.');
        const made: NewCompaction = {
          id: ids.next(),
          type: plan.type,
          branch: job.branch,
          uptoSeq: plan.uptoSeq,
          summary: plan.type === 'llm' ? summary : null,
          model: plan.type === 'llm' ? 'simulated/test' : null,
          tokensBefore: plan.tokensBefore,
          tokensAfter: tokensAfter(plan, summary),
          jobId: job.id,
          usage: answerOf([], costNanos).usage,
        };
        return compaction(snapshot, job, made, { calledAt: Date.now(), firstByteAt: null });
      }),
  };
}

function jobOf({ job }: Snapshot): ActiveJob {
  if (job === null) throw new Error('No job runs.');
  return job;
}

function endedWaits(snapshot: Snapshot): EndedWaits {
  const now = Date.now();
  return {
    job: jobOf(snapshot),
    over: snapshot.calls.filter((call) => isReplied(call) || isOver(call, now)),
    now,
  };
}

/** Posts an input and has it answered. */
export async function converse(
  api: Api,
  contextId: ContextId,
  owner: ProcessId,
  input: string,
  answer: string,
): Promise<string> {
  const { body } = await api.post(`/api/contexts/${contextId}/messages`, { content: input });
  const manual = await take(api, contextId, owner);
  await manual.admit();
  await manual.complete(answer);
  return body.job_id;
}

function answerOf(content: Block[], cost_nanos: number | null = null): ModelAnswer {
  return {
    content,
    finishReason: content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'stop',
    usage: { input_tokens: 10, output_tokens: 5, cache_read_tokens: 2, cache_write_tokens: 1, cost_nanos },
    modelId: 'test-1',
    responseId: null,
  };
}
