// Real input behind approval: the recorded conversations, whose tools with an effect wait for a person. A script is
// that person, by the API alone. Where it approves, the stored messages are the recording; where it denies, the result
// tells the model so, and the tool was not run.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { startFakeProvider, type FakeProvider } from '../../llm/fake-provider.ts';
import { ABSENT, readConversations, readTools, type Conversation } from './airline.ts';
import { Actor, CLOSING, DENIED, promptOf, toRecorded } from './airline-actor.ts';
import { depth } from '../../services/depth.ts';
import { RECORDED_DATA_ENV } from '../../services/recorded-data.ts';
import { killChildren } from '../rig/children.ts';
import type { Client } from '../rig/client.ts';
import { openToolServer, type ToolServer } from './tool-server.ts';
import { startApi, startWorker } from '../rig/platform.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';

const WRITES = ['book_*', 'cancel_*', 'update_*', 'send_*', 'transfer_*'];
const APPROVAL: WorkerConfig['approval'] = WRITES.map((tool) => ({ tool, decision: 'always' }));
const REASON = 'the caller did not agree';
/** Short compared with a conversation, and long compared with the cost of reading the inbox. */
const LOOKS_EVERY_MS = 150;
const isWrite = (name: string): boolean => WRITES.some((glob) => name.startsWith(glob.slice(0, -1)));

type Setup = { environment: TestEnvironment; provider: FakeProvider; toolServer: ToolServer; client: Client };
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
  const [{ client }] = await Promise.all([startApi(env), startWorker(env), startWorker(env)]);
  setup = { environment, provider, toolServer, client };
});

afterAll(async () => {
  await killChildren();
  await setup?.provider.close();
  await setup?.toolServer.close();
  await setup?.environment.close();
});

/** The gate plays the conversations of its place; full depth plays all. */
const CASES = [
  { model: 'anthropic/recorded', deny: 0, place: 0 },
  { model: 'openai/recorded', deny: 0, place: 1 },
  { model: 'anthropic/recorded', deny: 3, place: 2 },
];

test.for(CASES)(
  'every write waits for approval, and runs only with it: $model, one of $deny denied',
  { timeout: 240_000 },
  async ({ model, deny, place }, context) => {
    if (SKIPPED !== null || setup === null) return context.skip(SKIPPED ?? '');
    const { environment, provider, client, toolServer } = setup;
    const began = String((await environment.query('select clock_timestamp() as now'))[0]?.['now']);
    const conversations = readConversations().filter((_, at) => depth(at % CASES.length === place, true));
    const actor = new Actor(conversations);
    provider.answer((request) => actor.answer(request));
    const person = new Person(setup, deny);
    const names = readTools().map((tool) => tool.name);
    const all = Promise.all(
      conversations.map((conversation) =>
        runConversation(setup, person, conversation, {
          model,
          tools: names,
          system_prompt: promptOf(conversation),
          approval: APPROVAL,
        }),
      ),
    ).finally(() => person.leave());
    const [finished] = await Promise.all([all, person.decide()]);
    expect(actor.faults).toEqual([]);
    expect(toolServer.faults).toEqual([]);
    for (const { conversation, contextId } of finished) {
      expect(toRecorded(await client.messages(contextId)), `task ${conversation.task}`).toEqual([
        ...conversation.recorded,
        { role: 'assistant', text: CLOSING, calls: [] },
      ]);
      expect(toolServer.left(contextId)).toBe(0);
    }
    const writes = conversations.flatMap(({ recorded }) =>
      recorded.flatMap((one) => (one.role === 'assistant' ? one.calls.filter(({ name }) => isWrite(name)) : [])),
    );
    expect(writes.length).toBeGreaterThan(depth(8, 40));
    const calls = await environment.query(`
      select t.name, t.status, t.started_at >= t.approval_at as after, t.approval ->> 'decision' as decision,
        t.started_at is null as unbegun from tool_calls t
      where t.created_at >= '${began}'`);
    const [behind, free] = [calls.filter(isBehind), calls.filter((call) => !isBehind(call))];
    expect(behind).toHaveLength(writes.length);
    expect(behind.filter(({ decision }) => decision === 'deny')).toHaveLength(person.denied);
    for (const call of behind) {
      expect(call).toMatchObject(
        call['decision'] === 'approve'
          ? { status: 'completed', after: true }
          : { status: 'denied', decision: 'deny', unbegun: true },
      );
    }
    expect(free.every(({ decision }) => decision === null)).toBe(true);
    expect(person.denied).toBe(deny === 0 ? 0 : Math.floor(writes.length / deny));
  },
);

const isBehind = ({ name }: Record<string, unknown>): boolean => isWrite(String(name));

/** Reads the inbox and decides, until it is stopped. Denies each `deny`th call; 0: none. */
class Person {
  readonly #setup: Setup;
  readonly #deny: number;
  readonly #conversations = new Map<string, Conversation>();
  #decided = 0;
  #rest = false;
  denied = 0;

  constructor(of: Setup, deny: number) {
    this.#setup = of;
    this.#deny = deny;
  }

  knows(contextId: string, conversation: Conversation): void {
    this.#conversations.set(contextId, conversation);
  }

  leave(): void {
    this.#rest = true;
  }

  async decide(): Promise<void> {
    const { client } = this.#setup;
    while (!this.#rest) {
      const items = await client.approvals();
      for (const { context_id: contextId, tool_call_id, name } of items) {
        expect(isWrite(name)).toBe(true);
        this.#decided += 1;
        const denies = this.#deny > 0 && this.#decided % this.#deny === 0;
        if (denies) this.#note(contextId);
        const approval = denies ? { decision: 'deny', reason: REASON } : { decision: 'approve' };
        const { resolved } = await client.approve(contextId, { tool_call_id, ...approval });
        expect(resolved).toEqual([tool_call_id]);
      }
      if (items.length === 0) await sleep(LOOKS_EVERY_MS);
    }
  }

  /** From here on the recording contains the denial in place of the tool's result. */
  #note(contextId: string): void {
    this.denied += 1;
    const conversation = this.#conversations.get(contextId);
    if (conversation === undefined) throw new Error('the context of no conversation');
    const { toolServer } = this.#setup;
    const made = conversation.recorded.filter(({ role }) => role === 'tool').length - toolServer.left(contextId);
    toolServer.pass(contextId);
    let place = -1;
    for (let count = 0; count <= made; count += 1) {
      place = conversation.recorded.findIndex(({ role }, at) => at > place && role === 'tool');
    }
    const result = conversation.recorded[place];
    if (result?.role !== 'tool') throw new Error('no result is left');
    conversation.recorded[place] = { ...result, text: `${DENIED}${REASON}` };
  }
}

/** Posts each of the user's messages once the job of the one before has ended. */
async function runConversation(
  of: Setup | null,
  person: Person,
  conversation: Conversation,
  config: WorkerConfig,
): Promise<{ conversation: Conversation; contextId: string }> {
  if (of === null) throw new Error('no job runs');
  const { id: contextId } = await of.client.createContext(config);
  person.knows(contextId, conversation);
  of.toolServer.open(contextId, conversation.recorded);
  for (const message of conversation.recorded) {
    if (message.role !== 'user') continue;
    const { job_id: jobId } = await of.client.post(contextId, message.text);
    const job = await of.client.ended(jobId);
    expect(job, `task ${conversation.task}`).toMatchObject({ status: 'completed', error: null });
  }
  return { conversation, contextId };
}
