// A worker process moved by hand: claims a context, admits, answers and settles by the protocols, one commit at a time.
import { progressOf } from '../../src/bus/bus.ts';
import type { Append } from '../../src/core/append.ts';
import type { Block } from '../../src/core/blocks.ts';
import { DEFAULT_TENANT } from '../../src/core/ids.ts';
import type { ContextId, ProcessId } from '../../src/core/ids.ts';
import type { ActiveJob, Verdict } from '../../src/core/job.ts';
import type { ModelAnswer } from '../../src/core/model.ts';
import { admit } from '../../src/core/moves/admit.ts';
import { answer } from '../../src/core/moves/answer.ts';
import { delay, handBack, holdBack, sleep } from '../../src/core/moves/park.ts';
import { settle } from '../../src/core/moves/settle.ts';
import { closeCalls, ended } from '../../src/core/moves/tools.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { Snapshot } from '../../src/core/snapshot.ts';
import { append } from '../../src/db/append.ts';
import { claim } from '../../src/db/claims.ts';
import { read } from '../../src/db/contexts.ts';
import { readHistory } from '../../src/db/history.ts';
import { readMailbox } from '../../src/db/mailbox.ts';
import { register } from '../../src/db/processes.ts';
import type { Published } from '../../src/db/processes.ts';
import { ids } from './harness.ts';
import type { Api } from './harness.ts';

const SETTINGS: Settings = {
  model: { provider: 'simulated', model: 'test' },
  streaming: true,
  systemPrompt: '',
  tools: [],
  maxTokens: null,
  maxSteps: 10,
  parameters: {},
};

/** A row of a process that lives as long as its test. */
export async function addProcess(api: Api, published: Partial<Published> = {}): Promise<ProcessId> {
  const id = ids.next<ProcessId>();
  const lockKey = Math.floor(Math.random() * 2 ** 40);
  const serves = { tools: [], roles: [], models: ['simulated'], ...published };
  await register(api.database.db, { id, lockKey, host: 'test', pid: 1, version: '0', ...serves });
  return id;
}

export type Hand = {
  /** The next queued job becomes the running one. */
  admit(): Promise<void>;
  /** The model answered. */
  answer(content: Block[]): Promise<void>;
  /** Every open call ended with this text. */
  results(text: string): Promise<void>;
  /** The model call failed and is made again at `at`. */
  delay(at: number): Promise<void>;
  /** The key of the model is held back until `until`; it comes again at `at`. */
  holdBack(until: number, at: number): Promise<void>;
  /** Waits without a slot. */
  sleep(until: number): Promise<void>;
  handBack(until: number | null): Promise<void>;
  /** The job ends with `text` as its answer. */
  complete(text: string): Promise<void>;
  settle(verdict: Verdict): Promise<void>;
};

export async function take(api: Api, contextId: ContextId, owner: ProcessId): Promise<Hand> {
  const { database, bus } = api;
  const claimed = await claim(database.db, contextId, owner);
  if (claimed === null) throw new Error('The context could not be claimed.');
  const look = async (): Promise<Snapshot> => {
    const row = await read(database.db, contextId);
    const stored = row === null ? null : await readMailbox(database.db, row);
    if (stored === null) throw new Error('The context is gone.');
    const history = await readHistory(database.db, { contextId, tenantId: DEFAULT_TENANT }, 'main');
    return {
      ...stored.mailbox,
      lease: claimed.lease,
      history,
      serving: { kind: 'served', settings: SETTINGS },
    };
  };
  /** What is stored is read before each move: others may have written wishes and inputs. */
  const commit = async (decide: (snapshot: Snapshot) => Append): Promise<void> => {
    const move = decide(await look());
    const [outcome] = await append(database.db, [move]);
    if (outcome?.kind !== 'committed') return commit(decide);
    const finished =
      move.job?.kind === 'settle' ? { jobId: move.job.job.id, status: move.job.verdict.status } : null;
    bus.publish(progressOf(contextId), { contextId, headSeq: outcome.headSeq, finished });
  };
  const say = (content: Block[]) =>
    commit((snapshot) => answer(snapshot, jobOf(snapshot), SETTINGS, ids.next(), answerOf(content)));
  const settleWith = (verdict: Verdict) =>
    commit((snapshot) => settle(snapshot, jobOf(snapshot), verdict, ids));
  return {
    admit: () =>
      commit((snapshot) => {
        if (snapshot.next === null) throw new Error('Nothing is queued.');
        return admit(snapshot, snapshot.next);
      }),
    answer: say,
    results: (text) =>
      commit((snapshot) => {
        const result = { kind: 'result', content: text, is_error: false } as const;
        const closed = snapshot.calls.map((call) => ended(call, result));
        return closeCalls(snapshot, jobOf(snapshot), closed, ids);
      }),
    delay: (at) =>
      commit((snapshot) =>
        delay(snapshot, jobOf(snapshot), { code: 'provider_overloaded', message: 'too busy' }, at),
      ),
    holdBack: (until, at) =>
      commit((snapshot) =>
        holdBack(snapshot, jobOf(snapshot), { provider: 'anthropic', reason: 'rate_limited', until }, at),
      ),
    sleep: (until) => commit((snapshot) => sleep(snapshot, jobOf(snapshot), until)),
    handBack: (until) => commit((snapshot) => handBack(snapshot, until)),
    async complete(text) {
      await say([{ type: 'text', text }]);
      const outputId = (await look()).history.at(-1)?.id ?? null;
      await settleWith({ status: 'completed', outputId });
    },
    settle: settleWith,
  };
}

function jobOf({ job }: Snapshot): ActiveJob {
  if (job === null) throw new Error('No job runs.');
  return job;
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
  const hand = await take(api, contextId, owner);
  await hand.admit();
  await hand.complete(answer);
  return body.job_id;
}

function answerOf(content: Block[]): ModelAnswer {
  return {
    content,
    finishReason: content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'stop',
    usage: { input_tokens: 10, output_tokens: 5, cache_read_tokens: 2, cache_write_tokens: 1 },
    modelId: 'test-1',
    responseId: null,
  };
}
