/** The worker of the baseline: a BullMQ consumer that runs the agent loop of one context per queue entry. */
import Anthropic from '@anthropic-ai/sdk';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import OpenAI from 'openai';
import { runAnthropic } from './run-anthropic.ts';
import { askRaw } from './ask-raw.ts';
import { runChat, type AskChat } from './run-chat.ts';
import { openStore } from './store.ts';

const { DATABASE_URL = '', REDIS_URL = '', FORMAT, CLIENT, CONCURRENCY } = process.env;
const { OPENAI_BASE_URL = '', OPENAI_API_KEY = '' } = process.env;
const store = openStore(DATABASE_URL);
const openai = new OpenAI({ maxRetries: 2 });
const anthropic = new Anthropic({ maxRetries: 2 });
const ask: AskChat =
  CLIENT === 'raw' ? askRaw(OPENAI_BASE_URL, OPENAI_API_KEY) : (request) => openai.chat.completions.create(request);

const worker = new Worker<{ contextId: string }>(
  'runs',
  async ({ data }) => {
    if (FORMAT === 'anthropic') await runAnthropic(anthropic, store, data.contextId);
    else await runChat(ask, store, data.contextId);
  },
  {
    connection: new Redis(REDIS_URL, { maxRetriesPerRequest: null }),
    concurrency: Number(CONCURRENCY),
    maxStalledCount: 10,
  },
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
worker.on('completed', (job) => say(`run ${job.id} of ${job.data.contextId} ended`));
worker.on('failed', (job, error) => say(`run ${job?.id} failed: ${error.message}`));
worker.on('error', (error) => say(error.message));
await worker.waitUntilReady();
say('worker is ready');

process.once('SIGTERM', () => {
  void (async () => {
    await worker.close();
    await store.close();
    process.exit(0);
  })();
});
