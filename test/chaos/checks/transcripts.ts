// Every history, of each branch, is one that a model provider accepts: each call has one result before the next answer, roles alternate
// once it is a prompt; turns follow each other.
import { isToolResult, isToolUse } from '../../../src/core/conversation/blocks.ts';
import type { JobId, MessageId } from '../../../src/core/ids.ts';
import type { Message, MessageType } from '../../../src/core/conversation/message.ts';
import { assemble, type PromptMessage } from '../../../src/core/conversation/prompt.ts';
import { parseTurn, type Turn } from '../../../src/core/conversation/turn.ts';
import { coursesOf } from '../world/expected-branches.ts';
import type { StoredCall, StoredMessage } from '../world/stored.ts';
import type { Check, Violation } from '../world/world.ts';
import { reporter } from './violation.ts';

const violation = reporter('transcripts');

export const transcripts: Check = {
  name: 'transcripts',
  find(world) {
    const lines = [...coursesOf(world).values()].flatMap((course) => course.lines);
    return [
      ...lines.flatMap(({ contextId, messages }) => {
        const history = messages.filter(({ status }) => status === 'completed');
        return [...callFaults(history), ...turnFaults(history), ...promptFaults(contextId, history)];
      }),
      ...rowFaults(world.messages, world.calls),
    ];
  },
};

/** A message of a history, in order, with the fields that the laws need. */
type HistoryMessage = Pick<StoredMessage, 'id' | 'context_id' | 'role' | 'turn' | 'content'>;

export function callFaults(history: readonly HistoryMessage[]): Violation[] {
  const faults: Violation[] = [];
  const open = new Set<string>();
  for (const { id, context_id: context, role, content } of history) {
    if (role === 'assistant' && open.size > 0)
      faults.push(violation('an answer while calls were open', context, id, ...open));
    for (const block of content) {
      if (isToolUse(block)) open.add(block.id);
      if (isToolResult(block) && !open.delete(block.tool_use_id)) {
        faults.push(violation('a result without its open call', context, id, block.tool_use_id));
      }
      if (isToolResult(block) && id !== (block.tool_use_id as string))
        faults.push(violation('a result has another id than its call', context, id, block.tool_use_id));
    }
  }
  const [first] = history;
  if (open.size > 0) faults.push(violation('calls without a result', first?.context_id ?? null, ...open));
  return faults;
}

/** Inputs count up by one; an answer is of the turn of the last input before it. */
export function turnFaults(history: readonly HistoryMessage[]): Violation[] {
  const faults: Violation[] = [];
  let inputs = 0;
  for (const { id, context_id: context, role, turn } of history) {
    if (role === 'system') continue;
    const found = parseTurn(turn ?? '');
    if (role === 'user') inputs += 1;
    if (found?.side !== (role === 'user' ? 'u' : 'a') || found.number !== inputs) {
      faults.push(violation(`a message of ${role} is of turn ${turn}, after ${inputs} inputs`, context, id));
    }
  }
  return faults;
}

function promptFaults(contextId: string, history: readonly StoredMessage[]): Violation[] {
  const prompt = assemble(history.map(toMessage));
  const faults: Violation[] = [];
  if (prompt.length > 0 && prompt[0]?.role !== 'user')
    faults.push(violation('the prompt begins with an answer', contextId));
  for (const [at, message] of prompt.entries()) {
    const next = prompt[at + 1];
    if (next?.role === message.role) faults.push(violation(`two of ${message.role} in a row in the prompt`, contextId));
    if (message.role === 'assistant') faults.push(...resultFaults(contextId, message, next));
  }
  return faults;
}

function resultFaults(
  contextId: string,
  { content }: Extract<PromptMessage, { role: 'assistant' }>,
  next: PromptMessage | undefined,
): Violation[] {
  const uses = content.filter(isToolUse).map(({ id }) => id);
  const results = (next?.content ?? [])
    .slice(0, uses.length)
    .map((block) => (isToolResult(block) ? block.tool_use_id : null));
  return uses.join() === results.join()
    ? []
    : [violation('calls are not answered at once in the prompt', contextId, ...uses)];
}

/** Each call that a model asked for has a row that is closed, and each row was asked for. */
function rowFaults(messages: readonly StoredMessage[], calls: readonly StoredCall[]): Violation[] {
  const asked = new Map(
    messages.flatMap(({ id, content }) => content.filter(isToolUse).map((use) => [use.id as string, id] as const)),
  );
  const rows = new Map(calls.map((call) => [call.id, call]));
  return [
    ...[...asked]
      .filter(([id]) => !rows.has(id))
      .map(([id, message]) => violation('a call without a row', null, id, message)),
    ...calls.flatMap((call) => [
      ...(asked.get(call.id) === call.message_id
        ? []
        : [violation('a row of a call that no model asked for', call.context_id, call.id)]),
      ...(['pending', 'started', 'waiting'].includes(call.status)
        ? [violation(`a call is still ${call.status}`, call.context_id, call.id)]
        : []),
    ]),
  ];
}

function toMessage(row: StoredMessage): Message {
  return {
    id: row.id as MessageId,
    seq: row.seq ?? 0,
    role: row.role,
    type: row.type as MessageType,
    turn: row.turn as Turn,
    content: row.content,
    jobId: row.job_id as JobId | null,
    model: null,
  };
}
