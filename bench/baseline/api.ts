/** The API of the baseline: an input is one INSERT and one queue entry. */
import { randomUUID } from 'node:crypto';
import { Queue, QueueEvents, type Job } from 'bullmq';
import fastify from 'fastify';
import { Redis } from 'ioredis';
import { openStore } from './store.ts';

const { DATABASE_URL = '', REDIS_URL = '', PORT } = process.env;
const store = openStore(DATABASE_URL);
const queue = new Queue('runs', { connection: new Redis(REDIS_URL) });
const events = new QueueEvents('runs', { connection: new Redis(REDIS_URL, { maxRetriesPerRequest: null }) });
const app = fastify({ logger: true });
// Each long poll has a listener at both.
events.setMaxListeners(0);
queue.setMaxListeners(0);

const id = { type: 'string', format: 'uuid' };
const content = { type: 'string' };
const input = { type: 'object', required: ['content'], properties: { content } };

type Config = { config?: object };
type Input = { content: string };

app.post<{ Body: Config }>('/api/contexts', async ({ body }, reply) =>
  reply.code(201).send({ id: await createContext(body) }),
);

/** A worker is a context and its config. With an input, it starts to run at once. */
app.post<{ Body: Config & { input?: Input } }>(
  '/api/workers',
  { schema: { body: { type: 'object', properties: { input } } } },
  async ({ body }, reply) => {
    const contextId = await createContext(body);
    const job = body.input === undefined ? {} : { job_id: await submit(contextId, body.input) };
    return reply.code(201).send({ id: contextId, context_id: contextId, ...job });
  },
);

app.post<{ Params: { id: string }; Body: Input }>(
  '/api/contexts/:id/messages',
  { schema: { params: { type: 'object', properties: { id } }, body: input } },
  async ({ params, body }, reply) => reply.code(202).send({ job_id: await submit(params.id, body) }),
);

app.get<{ Params: { id: string }; Querystring: { wait_ms?: number } }>(
  '/api/jobs/:id',
  { schema: { querystring: { type: 'object', properties: { wait_ms: { type: 'integer' } } } } },
  async ({ params, query }) => ({ id: params.id, status: await statusOf(params.id, query.wait_ms ?? 0) }),
);

async function createContext({ config = {} }: Config): Promise<string> {
  const contextId = randomUUID();
  await store.createContext(contextId, config);
  return contextId;
}

async function submit(contextId: string, { content }: Input): Promise<string> {
  await store.add(contextId, { role: 'user', content });
  const job = await queue.add('run', { contextId }, { removeOnComplete: true, removeOnFail: 1_000 });
  return job.id ?? '';
}

/** The queue removes completed jobs. */
async function statusOf(jobId: string, waitMs: number): Promise<string> {
  const job = await queue.getJob(jobId);
  if (job === undefined) return 'completed';
  if (waitMs > 0 && (await hasCompleted(job, waitMs))) return 'completed';
  const state = await queue.getJobState(jobId);
  return state === 'unknown' ? 'completed' : state;
}

/** False: it failed, is still running, or was removed before this began to wait. */
async function hasCompleted(job: Job, waitMs: number): Promise<boolean> {
  return job.waitUntilFinished(events, waitMs).then(
    () => true,
    () => false,
  );
}

await app.listen({ port: Number(PORT), host: '127.0.0.1' });

process.once('SIGTERM', () => {
  void (async () => {
    await app.close();
    await events.close();
    await queue.close();
    await store.close();
    process.exit(0);
  })();
});
