// The simulated model of the recorded conversations: it gives the recorded answers, and converts stored messages to the
// format of the recordings.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Message } from '../../../src/api/schemas/messages/message.ts';
import type { Json } from '../../../src/core/json.ts';
import type { FakeEntry, FakeReply, FakeRequest } from '../../llm/fake-provider.ts';
import { readPolicy, type Conversation, type RecordedMessage } from './airline.ts';

export const CLOSING = 'Thank you for calling. Goodbye!';

/** Part of the result of a denied call. */
export const DENIED = 'Denied by the operator: ';

/** The prompt contains the id of the conversation. */
export function promptOf({ task }: Conversation): string {
  return `Task ${task}.\n\n${readPolicy()}`;
}

/** Plays the recorded assistant: gives its next message where the request contains exactly the messages before it. */
export class Actor {
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
    const fault = differenceOf(entries, conversation.recorded.slice(0, entries.length));
    if (fault !== null) return this.#refuse(`task ${task}, ${request.format}: ${fault}`);
    const next = conversation.recorded[entries.length];
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

/** The difference between the request to the provider and the recorded messages; null where they are the same. */
function differenceOf(entries: readonly FakeEntry[], recorded: readonly RecordedMessage[]): string | null {
  const open: string[] = [];
  for (const [place, entry] of entries.entries()) {
    const message = recorded[place];
    if (message === undefined) return `entry ${place} is not in the recording`;
    if (!isDeepStrictEqual(plain(entry), plainRecorded(message))) {
      return `entry ${place} is ${JSON.stringify(plain(entry))}, not ${JSON.stringify(message)}`;
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

function plainRecorded(recorded: RecordedMessage) {
  return {
    role: recorded.role,
    text: recorded.text,
    calls: recorded.role === 'assistant' ? recorded.calls : [],
  };
}

/** Stored messages in the format of a recording. A result is named by the call it answers. */
export function toRecorded(messages: readonly Message[]): RecordedMessage[] {
  const names = new Map<string, string>();
  return messages.map((message): RecordedMessage => {
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
        throw new Error('no other message follows');
    }
  });
}

function toResult({ content }: Message, names: ReadonlyMap<string, string>): RecordedMessage {
  const [block] = content;
  if (content.length !== 1 || block?.type !== 'tool_result') throw new Error('not one result');
  if (typeof block.content !== 'string' || block.is_error !== block.content.startsWith(DENIED))
    throw new Error('not a result as recorded');
  return { role: 'tool', name: names.get(block.tool_use_id) ?? '', text: block.content };
}
