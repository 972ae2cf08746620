// Failed jobs that are retried together under keys, with an API process that is killed during one of these requests; and
// jobs that are run again in forks. All of a tenant of their own, which is deleted at the end.
import { setTimeout as sleep } from 'node:timers/promises';
import { connected } from '../../services/connected.ts';
import { DATABASE_SCHEMA } from '../../../src/core/database-schema.ts';
import type { Random } from '../random.ts';
import { readRepairs, REPAIR_TENANT, type Batch, type Repairs, type Replay, type Retried } from '../world/repairs.ts';
import { word } from './inputs.ts';
import type { Answer, Asker, Method } from './requests.ts';
import { isDeleted } from './tenants.ts';

const JOBS_OF_A_BATCH = 10;
/** How long jobs may take to end, in milliseconds. */
const ENDED_WITHIN_MS = 120_000;

/** A bulk retry whose answer gets lost: `send` sends it to the API process at `url`, and `kill` kills that. */
export type LostRetry = { ready: Promise<void>; send(url: string, kill: () => Promise<void>): Promise<void> };

export type RepairClients = {
  /** Each is to be sent by a fault. */
  lost: readonly LostRetry[];
  /** Resolves once all have ended; then the tenant is deleted. */
  finish(): Promise<Repairs>;
};

type Plan = { ms: number; batches: number; replays: number };

export function startRepairs(ask: Asker, databaseUrl: string, random: Random, plan: Plan): RepairClients {
  const insist = (method: Method, path: string, body?: object, key?: string) =>
    ask.insist(method, path, body, key, { by: REPAIR_TENANT });
  const post = async (tag: string, content: string, metadata: object): Promise<Record<string, unknown>> => {
    const input = { content, metadata };
    return (await insist('POST', '/api/workers', { name: tag, config: CONFIG, input }, tag))?.body ?? {};
  };

  /** Its state, or the last one known when the time is up. */
  async function ended(jobId: unknown): Promise<Record<string, unknown>> {
    const deadline = performance.now() + ENDED_WITHIN_MS;
    for (;;) {
      const body = (await insist('GET', `/api/jobs/${String(jobId)}`))?.body ?? {};
      if (body['finished_at'] || performance.now() > deadline || ask.givenUp.aborted) return body;
      await sleep(200);
    }
  }

  function batch(at: number): { lost: LostRetry; done: Promise<Batch> } {
    const tag = `batch-${at}`;
    const own = random.of(tag);
    const [failed, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
    const contexts: string[] = [];
    const body = { filter: { metadata: { batch: tag }, status: ['failed'] }, limit: 200 };
    const retry = async (key: string): Promise<Answer | null> => insist('POST', '/api/jobs/retry', body, key);
    const lost: LostRetry = {
      ready: failed.promise,
      async send(url, kill) {
        const at = { by: REPAIR_TENANT, at: url } as const;
        const request = (): Promise<Answer> => ask.once('POST', '/api/jobs/retry', body, `${tag}-a`, at);
        const answer = await held(databaseUrl, own.pick(contexts), own.between(0, 400), request, kill);
        sent.resolve(answer.status === 0);
      },
    };
    async function whole(): Promise<Batch> {
      await sleep(own.between(0, plan.ms * 0.2));
      const posted = await Promise.all(
        Array.from({ length: JOBS_OF_A_BATCH }, async (_, one) =>
          post(`${tag}-${one}`, 'fail: bad_request', { batch: tag }),
        ),
      );
      contexts.push(...posted.map((one) => String(one['context_id'])));
      const jobs = posted.map((one) => String(one['job_id']));
      await Promise.all(jobs.map(ended));
      failed.resolve();
      const isLost = await sent.promise;
      const keys = [`${tag}-a`, `${tag}-b`];
      const answers = await Promise.all(keys.map(async (key) => retriedIn(key, await retry(key))));
      const again = await Promise.all(keys.map(async (key) => retriedIn(key, await retry(key))));
      const ids = answers.flatMap(({ retries }) => retries.flatMap(({ retry: id }) => id ?? []));
      await Promise.all(ids.map(ended));
      return { tag, jobs, isLost, answers, differs: JSON.stringify(answers) !== JSON.stringify(again) };
    }
    return { lost, done: whole() };
  }

  /** Two inputs of one worker; the second is run again in two forks. */
  async function replay(at: number): Promise<Replay[]> {
    const tag = `replay-${at}`;
    const own = random.of(tag);
    await sleep(own.between(0, plan.ms * 0.5));
    const { job_id: firstJob, context_id: of } = await post(tag, script(`${tag}-1`), {});
    const contextId = String(of);
    const next = { content: script(`${tag}-2`) };
    const second = await insist('POST', `/api/contexts/${contextId}/messages`, next, `${tag}-2`);
    const { output } = await ended(firstJob);
    await ended(second?.body['job_id']);
    const firstAnswer = (output as { message_id: string } | null | undefined)?.message_id;
    const fork = `/api/contexts/${contextId}/fork`;

    async function attempt(kind: Replay['kind'], upto: unknown, start: (forkId: string) => [string, object]) {
      const once = async (): Promise<[string | null, string | null]> => {
        const made = await insist('POST', fork, { from_message_id: upto }, `${tag}-${kind}-fork`);
        const forkId = textOf(made?.body['id']);
        if (forkId === null) return [null, null];
        const [path, body] = start(forkId);
        const begun = await insist('POST', path, body, `${tag}-${kind}-job`);
        return [forkId, textOf(begun?.body['job_id'])];
      };
      const [forkId, jobId] = await once();
      const [againFork, againJob] = await once();
      if (jobId !== null) await ended(jobId);
      return { tag, kind, contextId, forkId, jobId, differs: forkId !== againFork || jobId !== againJob };
    }
    return Promise.all([
      attempt('asked', second?.body['message_id'], (forkId) => [`/api/contexts/${forkId}/jobs`, {}]),
      attempt('posted', firstAnswer, (forkId) => [`/api/contexts/${forkId}/messages`, next]),
    ]);
  }

  const batches = Array.from({ length: plan.batches }, (_, at) => batch(at));
  const replays = Promise.all(Array.from({ length: plan.replays }, async (_, at) => replay(at)));
  const all = Promise.all([Promise.all(batches.map(({ done }) => done)), replays]);
  return {
    lost: batches.map(({ lost }) => lost),
    async finish() {
      const [done, made] = await all;
      const stored = await readRepairs(databaseUrl);
      const path = `/api/tenants/${REPAIR_TENANT}`;
      await ask.insist('DELETE', path, undefined, undefined, { by: 'operator' });
      await isDeleted(ask, REPAIR_TENANT);
      return { batches: done, replays: made.flat(), stored };
    },
  };
}

const CONFIG = { model: 'simulated/default' };

/** The texts of the input, and of its answer. */
function script(tag: string): string {
  return `say: ${word(tag)}`;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function retriedIn(key: string, answer: Answer | null): Retried {
  const data = (answer?.body['data'] ?? []) as { id: string; retry_job_id: string | null }[];
  return { key, retries: data.map(({ id, retry_job_id: retry }) => ({ id, retry })) };
}

/** The request is held up at this context, so that it is cut off in the middle. A database with a fault holds up nothing. */
async function held(
  databaseUrl: string,
  contextId: string,
  ms: number,
  request: () => Promise<Answer>,
  kill: () => Promise<void>,
): Promise<Answer> {
  const cutOff = async (): Promise<Answer> => {
    const answer = request();
    await sleep(ms);
    await kill();
    return answer;
  };
  let answer: Promise<Answer> | null = null;
  const locked = connected(
    databaseUrl,
    (sql) =>
      sql.begin(async (tx) => {
        await tx.unsafe(`select 1 from ${DATABASE_SCHEMA}.contexts where id = '${contextId}' for update`);
        await (answer = cutOff());
      }),
    { connectTimeoutS: 5 },
  );
  await locked.catch(() => undefined);
  return answer ?? cutOff();
}
