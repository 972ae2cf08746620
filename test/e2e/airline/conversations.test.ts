// Real input: recorded conversations run through the whole platform, all at once. Each user message is posted as an
// input, a fake provider serves the recorded assistant over HTTP, the tools answer as recorded; the stored messages are
// the recording, message by message, in each wire format. Every recording ends with a message without an answer: the
// user's last message, or (tasks 4, 18 and 28, cut short) a tool's result. The platform asks the model once more, which
// answers CLOSING: the one message that is not in the recording.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { startFakeProvider } from '../../llm/fake-provider.ts';
import type { FakeProvider } from '../../llm/fake-provider.ts';
import { ABSENT, readConversations, readTools } from './airline.ts';
import type { Conversation } from './airline.ts';
import { Actor, CLOSING, promptOf, toSaid } from './airline-actor.ts';
import { depth } from '../../services/depth.ts';
import { killChildren } from '../rig/children.ts';
import type { Child } from '../rig/children.ts';
import type { Client } from '../rig/client.ts';
import { openDesk } from './desk.ts';
import type { Desk } from './desk.ts';
import { startApi, startWorker } from '../rig/platform.ts';
import { openStage } from '../rig/stage.ts';
import type { Stage } from '../rig/stage.ts';

type House = { stage: Stage; provider: FakeProvider; desk: Desk; client: Client; workers: Child[] };
let house: House | null = null;

const SKIPPED = ABSENT ?? (inject('redisUrl') === null ? 'this run has no Redis' : null);

beforeAll(async () => {
  if (SKIPPED !== null) return;
  const [stage, provider, desk] = await Promise.all([openStage(), startFakeProvider(), openDesk()]);
  const env = {
    ...stage.env,
    NIGHTSHIFT_CONFIG: 'test/e2e/airline/airline.config.ts',
    AIRLINE_DESK: desk.url,
    ANTHROPIC_API_KEY: 'test',
    ANTHROPIC_BASE_URL: provider.anthropicURL,
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: provider.openaiURL,
  };
  const [{ client }, ...workers] = await Promise.all([startApi(env), startWorker(env), startWorker(env)]);
  house = { stage, provider, desk, client, workers };
});

afterAll(async () => {
  await killChildren();
  await house?.provider.close();
  await house?.desk.close();
  await house?.stage.close();
});

/** The gate plays the conversations of its place in each format; full depth plays all. */
const FORMATS = [
  { model: 'anthropic/recorded', streaming: true, place: 0 },
  { model: 'openai/recorded', streaming: true, place: 1 },
  { model: 'openai-chat/recorded', streaming: true, place: 2 },
  { model: 'anthropic/recorded', streaming: false, place: 3 },
];

test.for(FORMATS)(
  'recorded conversations are stored as they were recorded: $model, streaming $streaming',
  { timeout: 180_000 },
  async ({ model, streaming, place }, context) => {
    if (SKIPPED !== null || house === null) return context.skip(SKIPPED ?? '');
    const { provider, client, desk } = house;
    const conversations = readConversations().filter((_, at) => depth(at % FORMATS.length === place, true));
    const actor = new Actor(conversations);
    provider.answer((request) => actor.answer(request));
    const names = readTools().map((tool) => tool.name);
    const held = await Promise.all(
      conversations.map((conversation) =>
        hold(house, conversation, { model, streaming, tools: names, system_prompt: promptOf(conversation) }),
      ),
    );
    expect(actor.faults).toEqual([]);
    expect(desk.faults).toEqual([]);
    expect(actor.streamed).toEqual(new Set([streaming]));
    for (const { conversation, contextId } of held) {
      const said = toSaid(await client.messages(contextId));
      expect(said, `task ${conversation.task}`).toEqual([
        ...conversation.said,
        { role: 'assistant', text: CLOSING, calls: [] },
      ]);
      expect(desk.left(contextId)).toBe(0);
    }
    expect(held.length).toBeGreaterThanOrEqual(depth(7, 30));
    for (const worker of house.workers) {
      expect(worker.lines.filter((line) => /job ended/.test(line)).length).toBeGreaterThan(0);
    }
  },
);

/** Posts each of the user's messages once the job of the one before has ended. */
async function hold(
  of: House | null,
  conversation: Conversation,
  config: WorkerConfig,
): Promise<{ conversation: Conversation; contextId: string }> {
  if (of === null) throw new Error('no job runs');
  const { id: contextId } = await of.client.createContext(config);
  of.desk.open(contextId, conversation.said);
  for (const message of conversation.said) {
    if (message.role !== 'user') continue;
    const { job_id: jobId } = await of.client.post(contextId, message.text);
    const job = await of.client.ended(jobId);
    expect(job, `task ${conversation.task}`).toMatchObject({ status: 'completed', error: null });
  }
  return { conversation, contextId };
}
