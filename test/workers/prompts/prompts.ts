// Prompts as the cache of a provider sees them: instructions and tools, then one text for each message or item.
import { expect } from 'vitest';
import type { ContextId } from '../../../src/core/ids.ts';
import type { FakeRequest } from '../../llm/fake-provider.ts';
import type { Fleet, PostOptions } from '../worker-fleet.ts';

type Prompt = { head: string; messages: string[] };

export function prompt({ format, body }: FakeRequest): Prompt {
  const { system, instructions, tools } = body;
  const messages = format === 'responses' ? body['input'] : body['messages'];
  const text = (value: unknown) =>
    JSON.stringify(value, (key, member) => (key === 'cache_control' ? undefined : member));
  return {
    head: text({ system, instructions, tools }),
    messages: Array.isArray(messages) ? messages.map(text) : [],
  };
}

export function expectPrefix(before: FakeRequest, after: FakeRequest): void {
  const [first, next] = [prompt(before), prompt(after)];
  expect(next.head).toBe(first.head);
  expect(next.messages.slice(0, first.messages.length)).toEqual(first.messages);
}

/** Each request begins with all of the one before it. */
export function expectPrefixes(requests: readonly FakeRequest[]): void {
  for (const [at, request] of requests.entries()) {
    const before = requests[at - 1];
    if (before !== undefined) expectPrefix(before, request);
  }
}

export function startsWith(messages: readonly string[], first: readonly string[]): boolean {
  return first.every((message, at) => messages[at] === message);
}

/** Posts an input, and waits until its job has completed. */
export async function say(fleet: Fleet, contextId: ContextId, text: string, options: PostOptions = {}): Promise<void> {
  const { jobId } = await fleet.post(contextId, text, options);
  expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed' });
}

/** The process that runs the next job has nothing in memory. */
export async function replaceProcess(fleet: Fleet): Promise<void> {
  await fleet.startProcess();
  await fleet.processes.shift()?.drain();
}
