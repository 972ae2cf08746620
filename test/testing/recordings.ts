// Exports of contexts, made of short conversations.
import type { Json, JsonObject } from '../../src/core/json.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Conversation } from '../e2e/airline/airline.ts';

type Entry = { role: 'user' | 'assistant' | 'tool'; type: string; turn: string; content: JsonObject[] };

const USED = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
const AT = '2026-11-28T00:00:00.000Z';

/** The export of a context whose worker has this config, and whose history is these entries. */
export function exportOf(entries: readonly Entry[], config: JsonObject, role: string | null = null): JsonObject {
  const counts = { message_count: entries.length, request_count: 0, usage: USED };
  return {
    format: 'nightshift.context',
    version: 1,
    context: {
      title: null,
      worker: { name: 'recorded', role },
      config,
      active_branch: 'main',
      turn_count: entries.filter((entry) => entry.role === 'user').length,
      ...counts,
      created_at: AT,
    },
    entries: entries.map(({ role: by, type, turn, content }, at): Json => ({
      type: 'message',
      number: at + 1,
      branch: 'main',
      role: by,
      message_type: type,
      turn,
      status: 'completed',
      content,
      created_at: AT,
      completed_at: AT,
      model: null,
    })),
    branches: [{ name: 'main', parent: null, fork: null, spans: null, ...counts, created_at: AT }],
  };
}

const CALL = '0198f000-0000-7000-8000-000000000001';

type Recorded = { role?: string | null; config?: JsonObject; input?: JsonObject; isError?: boolean };

/** A conversation with one call. `result` null: it has none yet, so the conversation ends here. */
export function recordedCall(
  tool: string,
  result: string | null,
  { role = null, config = { tools: [tool] }, input = {}, isError = false }: Recorded = {},
): JsonObject {
  const use = { type: 'tool_use', id: CALL, name: tool, input };
  const asked: Entry[] = [
    { role: 'user', type: 'text', turn: 'u1', content: [{ type: 'text', text: 'Pay it back.' }] },
    { role: 'assistant', type: 'tool_call', turn: 'a1', content: [use] },
  ];
  if (result === null) return exportOf(asked, config, role);
  const answer = { type: 'tool_result', tool_use_id: CALL, content: result, is_error: isError };
  const ended: Entry[] = [
    { role: 'tool', type: 'tool_result', turn: 'a1', content: [answer] },
    { role: 'assistant', type: 'text', turn: 'a1', content: [{ type: 'text', text: 'Done.' }] },
  ];
  return exportOf([...asked, ...ended], config, role);
}

/** The entries that a worker would have stored of a recorded conversation. */
export function entriesOf({ recorded }: Conversation): Entry[] {
  let turn = 0;
  let open: string[] = [];
  return recorded.map((message): Entry => {
    switch (message.role) {
      case 'user': {
        turn += 1;
        return { role: 'user', type: 'text', turn: `u${turn}`, content: [{ type: 'text', text: message.text }] };
      }
      case 'assistant': {
        const calls = message.calls.map(({ name, input }) => ({ type: 'tool_use', id: ids.next(), name, input }));
        open = calls.map(({ id }) => id);
        const text = message.text === '' ? [] : [{ type: 'text', text: message.text }];
        const type = calls.length > 0 ? 'tool_call' : 'text';
        return { role: 'assistant', type, turn: `a${turn}`, content: [...text, ...calls] };
      }
      case 'tool': {
        const id = open.shift() ?? '';
        const result = { type: 'tool_result', tool_use_id: id, content: message.text, is_error: false };
        return { role: 'tool', type: 'tool_result', turn: `a${turn}`, content: [result] };
      }
    }
  });
}
