// Real input: recorded conversations run through the whole platform, all at once. Each user message is posted as an
// input, the recorded assistant is served over HTTP by a fake provider, the tools answer as recorded; what is stored in
// the end is the recording, message by message, in each wire format.
//
// Every recording ends with a message that is owed an answer: the user's last word, or (tasks 4, 18 and 28, cut short) a
// tool's result. The platform asks the model once more, which says CLOSING: the one message that is not in the recording.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Message } from '../../src/api/schemas/message.ts';
import type { Json } from '../../src/core/json.ts';
import type { WorkerConfig } from '../../src/core/settings.ts';
import { startFakeProvider } from '../llm/fake-provider.ts';
import type { FakeEntry, FakeProvider, FakeReply, FakeRequest } from '../llm/fake-provider.ts';
import { ABSENT, readConversations, readPolicy, readTools } from './airline.ts';
import type { Conversation, Said } from './airline.ts';
import { killChildren } from './children.ts';
import type { Child } from './children.ts';
import type { Client } from './client.ts';
import { openDesk } from './desk.ts';
import type { Desk } from './desk.ts';
import { startApi, startWorker } from './platform.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

const CLOSING = 'Thank you for calling. Goodbye!';

type House = { stage: Stage; provider: FakeProvider; desk: Desk; client: Client; workers: Child[] };
let house: House | null = null;

const SKIPPED = ABSENT ?? (inject('redisUrl') === null ? 'this run has no Redis' : null);

beforeAll(async () => {
  if (SKIPPED !== null) return;
  const [stage, provider, desk] = await Promise.all([openStage(), startFakeProvider(), openDesk()]);
  const env = {
    ...stage.env,
    NIGHTSHIFT_CONFIG: 'test/e2e/airline.config.ts',
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

const FORMATS: { model: string; streaming: boolean }[] = [
  { model: 'anthropic/recorded', streaming: true },
  { model: 'openai/recorded', streaming: true },
  { model: 'openai-chat/recorded', streaming: true },
  { model: 'anthropic/recorded', streaming: false },
];

test.for(FORMATS)(
  'recorded conversations are stored as they were held: $model, streaming $streaming',
  { timeout: 180_000 },
  async ({ model, streaming }, context) => {
    if (SKIPPED !== null || house === null) return context.skip(SKIPPED ?? '');
    const { provider, client, desk } = house;
    const conversations = readConversations();
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
    expect(held).toHaveLength(30);
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
  if (of === null) throw new Error('nothing runs');
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

/** The prompt says to the actor which conversation it is. */
function promptOf({ task }: Conversation): string {
  return `Task ${task}.\n\n${readPolicy()}`;
}

/** Plays the recorded assistant: says what it said next, where the request holds exactly what was said before. */
class Actor {
  readonly faults: string[] = [];
  readonly streamed = new Set<boolean>();
  readonly #conversations: ReadonlyMap<number, Conversation>;

  constructor(conversations: readonly Conversation[]) {
    this.#conversations = new Map(conversations.map((conversation) => [conversation.task, conversation]));
  }

  answer(request: FakeRequest): FakeReply {
    this.streamed.add(request.stream);
    const [system, ...entries] = request.entries;
    const task = Number(/^Task (\d+)\./.exec(system?.text ?? '')?.[1]);
    const conversation = this.#conversations.get(task);
    if (conversation === undefined || system?.text !== promptOf(conversation)) {
      return this.#refuse(`no conversation begins with: ${system?.text.slice(0, 50)}`);
    }
    const fault = differenceOf(entries, conversation.said.slice(0, entries.length));
    if (fault !== null) return this.#refuse(`task ${task}, ${request.format}: ${fault}`);
    const next = conversation.said[entries.length];
    if (next === undefined) return { text: CLOSING };
    if (next.role !== 'assistant') return this.#refuse(`task ${task}: it is not the assistant's turn`);
    return {
      text: next.text,
      toolCalls: next.calls.map(({ name, input }) => ({ name, arguments: JSON.stringify(input) })),
    };
  }

  #refuse(fault: string): FakeReply {
    this.faults.push(fault);
    return { status: 400, message: fault };
  }
}

/** What the provider was sent against what was said before; null where they are the same. */
function differenceOf(entries: readonly FakeEntry[], said: readonly Said[]): string | null {
  const open: string[] = [];
  for (const [place, entry] of entries.entries()) {
    const recorded = said[place];
    if (recorded === undefined) return `entry ${place} is not in the recording`;
    if (!isDeepStrictEqual(plain(entry), plainSaid(recorded))) {
      return `entry ${place} is ${JSON.stringify(plain(entry))}, not ${JSON.stringify(recorded)}`;
    }
    if (entry.role === 'tool' && entry.callId !== open.shift()) return `entry ${place} answers no call`;
    open.push(...entry.calls.map(({ id }) => id));
  }
  return null;
}

function plain({ role, text, calls }: FakeEntry) {
  return {
    role,
    text,
    calls: calls.map((call) => ({ name: call.name, input: JSON.parse(call.arguments) as Json })),
  };
}

function plainSaid(said: Said) {
  return { role: said.role, text: said.text, calls: said.role === 'assistant' ? said.calls : [] };
}

/** Stored messages as a recording tells them. A result is named by the call it answers. */
function toSaid(messages: readonly Message[]): Said[] {
  const names = new Map<string, string>();
  return messages.map((message): Said => {
    expect(message.status).toBe('completed');
    const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
    for (const call of calls) names.set(call.id, call.name);
    const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    switch (message.role) {
      case 'user':
        return { role: 'user', text: texts.join('') };
      case 'assistant':
        return {
          role: 'assistant',
          text: texts.join(''),
          calls: calls.map(({ name, input }) => ({ name, input })),
        };
      case 'tool':
        return toResult(message, names);
      case 'system':
        throw new Error('nobody says anything else');
    }
  });
}

function toResult({ content }: Message, names: ReadonlyMap<string, string>): Said {
  const [block] = content;
  if (content.length !== 1 || block?.type !== 'tool_result') throw new Error('not one result');
  if (typeof block.content !== 'string' || block.is_error) throw new Error('not a result as recorded');
  return { role: 'tool', name: names.get(block.tool_use_id) ?? '', text: block.content };
}
