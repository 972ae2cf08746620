// JSON that a client or a person writes into a conversation keeps its bytes in prompts: the worker process that
// receives it, and one that reads it from the database afterwards, send the same. The members of all objects here are
// not sorted.
import { afterEach, expect, test } from 'vitest';
import { answerCall } from '../../../src/commands/calls/answer-call.ts';
import type { ResultPart } from '../../../src/core/conversation/blocks.ts';
import { DEFAULT_TENANT, type JobId, type ToolCallId } from '../../../src/core/ids.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { ProviderName } from '../../../src/core/model/model.ts';
import type { ToolInvocation } from '../../../src/core/tools/tool.ts';
import { createModels } from '../../../src/llm/models.ts';
import { startFakeProvider, type FakeProvider, type FakeRequest } from '../../llm/fake-provider.ts';
import { result, startFleet, type Fleet } from '../worker-fleet.ts';
import { expectPrefixes, replaceProcess } from './prompts.ts';

let fleet: Fleet | null = null;
let provider: FakeProvider | null = null;
afterEach(async () => {
  await fleet?.close();
  await provider?.close();
  [fleet, provider] = [null, null];
});

const ASKED: JsonObject = { zone: 'north', a: { yellow: 1, blue: 2 } };
const APPROVED: JsonObject = { zone: 'south', to: 'ann', a: { yellow: [{ two: 2, one: 1 }], blue: 2 } };
const PARTS: ResultPart[] = [
  { text: '{"zz": 1, "a": {"y": 2, "b": 3}}', type: 'text' },
  { source: { url: 'https://example.com/map.png', type: 'url' }, type: 'image' },
];

/** In each job: a call that the client answers, one that a person approves, then the answer. */
function reply({ entries }: FakeRequest) {
  // The chat format sends images of results as messages of the user, so inputs are identified by their text.
  const input = entries.findLastIndex(({ role, text }) => role === 'user' && text.startsWith('input '));
  const called = entries.slice(input).flatMap(({ calls }) => calls.map((call) => call.name));
  if (called.length === 0) return { text: 'Where?', toolCalls: [{ name: 'locate', arguments: ASKED }] };
  if (called.length === 1) return { text: 'Then I send it.', toolCalls: [{ name: 'send', arguments: ASKED }] };
  return { text: 'That is all.' };
}

async function waitingCall(made: Fleet, jobId: JobId, name: string): Promise<ToolCallId> {
  const waiting = () =>
    made.query(`select id from tool_calls
      where job_id = '${jobId}' and name = '${name}' and status = 'waiting'`);
  await made.until(async () => (await waiting()).length > 0);
  const [call] = await waiting();
  return call?.['id'] as ToolCallId;
}

test.each<ProviderName>(['anthropic', 'openai', 'openai-chat'])(
  'results of a client’s tool, and arguments that a person changed: %s',
  async (name) => {
    const fake = await startFakeProvider(reply);
    const models = createModels({
      anthropic: { apiKey: 'test', baseURL: fake.anthropicURL },
      openai: { apiKey: 'test', baseURL: fake.openaiURL },
      idleTimeoutMs: 50_000,
    });
    const ran: Json[] = [];
    const made = await startFleet({
      model: () => Promise.reject(new Error('no model but the provider')),
      provider: { models, name },
      tools: {
        locate: {
          answered_by: 'client',
          effect: 'once',
          execute: () => Promise.reject(new Error('the client answers it')),
        },
        send: {
          effect: 'once',
          approval: 'always',
          execute({ input }: ToolInvocation) {
            ran.push(input);
            return result(`sent: ${JSON.stringify(input)}`);
          },
        },
      },
    });
    [fleet, provider] = [made, fake];
    const { contextId } = await made.createContext();
    const converse = async (text: string, content: string | ResultPart[]): Promise<void> => {
      const { jobId } = await made.post(contextId, text);
      const located = await waitingCall(made, jobId, 'locate');
      const target = { tenantId: DEFAULT_TENANT, contextId, toolCallId: located };
      await made.perform(answerCall(made.ports, target, { content, isError: false }));
      const sent = await waitingCall(made, jobId, 'send');
      await made.judge(contextId, { toolCallId: sent, input: APPROVED, reason: 'to Ann, not to all' });
      expect(await made.ended(jobId)).toMatchObject({ status: 'completed' });
    };
    await converse('input 1', '{"zz": 1, "a": {"y": 2, "b": 3}}');
    await replaceProcess(made);
    await converse('input 2', PARTS);
    await replaceProcess(made);
    await converse('input 3', PARTS);
    expect(fake.requests).toHaveLength(9);
    expectPrefixes(fake.requests);
    // The tool, and so its result, has the person's JSON as it was written.
    expect(ran.map((input) => JSON.stringify(input))).toEqual(Array(3).fill(JSON.stringify(APPROVED)));
  },
);
