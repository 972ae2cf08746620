// The history that a model gets in a session: all messages of the session, and after a clear none from before.
import { afterEach, expect, test } from 'vitest';
import { clearContext } from '../../../src/commands/contexts/clear-context.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import type { ModelRequest } from '../../../src/core/model/model.ts';
import { says, startFleet, transcript, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

const textOf = ({ messages }: ModelRequest): string => JSON.stringify(messages);

const clear = (of: Fleet, contextId: ContextId) =>
  of.perform(clearContext(of.ports, { tenantId: DEFAULT_TENANT, contextId, isCurrent: () => true }));

test('the model remembers the conversation, until the session is cleared', async () => {
  const asked: string[] = [];
  const of = (fleet = await startFleet({
    model: (request) => {
      asked.push(textOf(request));
      return says(/What's my name/.test(asked.at(-1) ?? '') && /Alice/.test(asked.at(-1) ?? '') ? 'Alice' : 'ok');
    },
  }));
  const { contextId, jobId } = await of.begin('My name is Alice.');
  await of.ended(jobId);
  const second = await of.post(contextId, "What's my name?");
  await of.ended(second.jobId);
  expect(transcript(await of.history(contextId)).at(-1)).toBe('a2 assistant: Alice');
  await clear(of, contextId);
  const third = await of.post(contextId, "What's my name?");
  await of.ended(third.jobId);
  expect(transcript(await of.history(contextId))).toEqual(["u1 user: What's my name?", 'a1 assistant: ok']);
  expect(asked.at(-1)).not.toContain('Alice');
});

test('a run without an input on a cleared context finds no message', async () => {
  const of = (fleet = await startFleet({ model: () => says('ok') }));
  const { contextId } = await of.createContext();
  await of.ended((await of.post(contextId, 'hello')).jobId);
  await clear(of, contextId);
  const { jobId } = await of.retry(contextId);
  expect(await of.ended(jobId)).toMatchObject({ status: 'failed', error: { code: 'empty_context' } });
});
