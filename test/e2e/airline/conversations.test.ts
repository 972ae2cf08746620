// Real input: recorded conversations run through the whole platform, all at once. Each user message is posted as an
// input, a fake provider serves the recorded assistant over HTTP, the tools answer as recorded; the stored messages are
// the recording, message by message, in each wire format. Every recording ends with a message without an answer: the
// user's last message, or (tasks 4, 18 and 28, cut short) a tool's result. The platform asks the model once more, which
// answers CLOSING: the one message that is not in the recording.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { startFakeProvider, type FakeProvider } from '../../llm/fake-provider.ts';
import { ABSENT, readConversations, readTools, type Conversation } from './airline.ts';
import { Actor, CLOSING, promptOf, toRecorded } from './airline-actor.ts';
import { depth } from '../../services/depth.ts';
import { RECORDED_DATA_ENV } from '../../services/recorded-data.ts';
import { killChildren, type Child } from '../rig/children.ts';
import type { Client } from '../rig/client.ts';
import { openToolServer, type ToolServer } from './tool-server.ts';
import { startApi, startWorker } from '../rig/platform.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';

type Setup = {
  environment: TestEnvironment;
  provider: FakeProvider;
  toolServer: ToolServer;
  client: Client;
  workers: Child[];
};
let setup: Setup | null = null;

const SKIPPED = ABSENT ?? (inject('redisUrl') === null ? 'this run has no Redis' : null);

beforeAll(async () => {
  if (SKIPPED !== null) return;
  const [environment, provider, toolServer] = await Promise.all([
    openEnvironment(),
    startFakeProvider(),
    openToolServer(),
  ]);
  const env = {
    ...environment.env,
    ...RECORDED_DATA_ENV,
    NIGHTSHIFT_CONFIG: 'test/e2e/airline/airline.config.ts',
    AIRLINE_TOOL_SERVER: toolServer.url,
    ANTHROPIC_API_KEY: 'test',
    ANTHROPIC_BASE_URL: provider.anthropicURL,
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: provider.openaiURL,
  };
  const [{ client }, ...workers] = await Promise.all([startApi(env), startWorker(env), startWorker(env)]);
  setup = { environment, provider, toolServer, client, workers };
});

afterAll(async () => {
  await killChildren();
  await setup?.provider.close();
  await setup?.toolServer.close();
  await setup?.environment.close();
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
    if (SKIPPED !== null || setup === null) return context.skip(SKIPPED ?? '');
    const { provider, client, toolServer } = setup;
    const conversations = readConversations().filter((_, at) => depth(at % FORMATS.length === place, true));
    const actor = new Actor(conversations);
    provider.answer((request) => actor.answer(request));
    const names = readTools().map((tool) => tool.name);
    const finished = await Promise.all(
      conversations.map((conversation) =>
        runConversation(setup, conversation, {
          model,
          streaming,
          tools: names,
          system_prompt: promptOf(conversation),
        }),
      ),
    );
    expect(actor.faults).toEqual([]);
    expect(toolServer.faults).toEqual([]);
    expect(actor.streamed).toEqual(new Set([streaming]));
    for (const { conversation, contextId } of finished) {
      const recorded = toRecorded(await client.messages(contextId));
      expect(recorded, `task ${conversation.task}`).toEqual([
        ...conversation.recorded,
        { role: 'assistant', text: CLOSING, calls: [] },
      ]);
      expect(toolServer.left(contextId)).toBe(0);
    }
    expect(finished.length).toBeGreaterThanOrEqual(depth(7, 30));
    for (const worker of setup.workers) {
      expect(worker.lines.filter((line) => /job ended/.test(line)).length).toBeGreaterThan(0);
    }
  },
);

/** Posts each of the user's messages once the job of the one before has ended. */
async function runConversation(
  of: Setup | null,
  conversation: Conversation,
  config: WorkerConfig,
): Promise<{ conversation: Conversation; contextId: string }> {
  if (of === null) throw new Error('no job runs');
  const { id: contextId } = await of.client.createContext(config);
  of.toolServer.open(contextId, conversation.recorded);
  for (const message of conversation.recorded) {
    if (message.role !== 'user') continue;
    const { job_id: jobId } = await of.client.post(contextId, message.text);
    const job = await of.client.ended(jobId);
    expect(job, `task ${conversation.task}`).toMatchObject({ status: 'completed', error: null });
  }
  return { conversation, contextId };
}
