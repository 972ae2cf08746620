/** The API of the baseline: an input is one INSERT and one queue entry. */
import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import fastify from 'fastify';
import { Redis } from 'ioredis';
import { openStore } from './store.ts';

const store = openStore(process.env['DATABASE_URL'] ?? '');
const queue = new Queue('runs', { connection: new Redis(process.env['REDIS_URL'] ?? '') });
const app = fastify({ logger: true });

const id = { type: 'string', format: 'uuid' };

app.post<{ Body: { config?: object } }>('/api/contexts', async ({ body }, reply) => {
  const contextId = randomUUID();
  await store.createContext(contextId, body.config ?? {});
  return reply.code(201).send({ id: contextId });
});

app.post<{ Params: { id: string }; Body: { content: string } }>(
  '/api/contexts/:id/messages',
  {
    schema: {
      params: { type: 'object', properties: { id } },
      body: { type: 'object', required: ['content'], properties: { content: { type: 'string' } } },
    },
  },
  async ({ params, body }, reply) => {
    await store.add(params.id, { role: 'user', content: body.content });
    const job = await queue.add('run', { contextId: params.id }, { removeOnComplete: true, removeOnFail: true });
    return reply.code(202).send({ job_id: job.id });
  },
);

await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });

process.once('SIGTERM', () => {
  void (async () => {
    await app.close();
    await queue.close();
    await store.close();
    process.exit(0);
  })();
});
