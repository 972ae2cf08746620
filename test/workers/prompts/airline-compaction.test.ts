// Real text: the recorded conversations of an airline's support, one after the other in one context, longer than the
// limit of the model. The fake provider receives the compacted prompt over HTTP, in both wire formats. Figures go to
// the output.
import { afterEach, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { sql } from 'drizzle-orm';
import { COMPACTION_DEFAULTS } from '../../../src/core/compaction/settings.ts';
import type { CompactorType } from '../../../src/core/compaction/type.ts';
import { SUMMARISER } from '../../../src/core/compaction/summary.ts';
import type { Block } from '../../../src/core/conversation/blocks.ts';
import type { ContextId, ToolCallId } from '../../../src/core/ids.ts';
import type { ProviderName } from '../../../src/core/model/model.ts';
import { encodeJson } from '../../../src/db/connection/codec.ts';
import { ABSENT, readConversations, readPolicy, type Conversation } from '../../e2e/airline/airline.ts';
import { modelsFor } from '../../llm/model-calls.ts';
import { startFakeProvider, type FakeProvider } from '../../llm/fake-provider.ts';
import { startFleet, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
let provider: FakeProvider | null = null;
afterEach(async () => {
  await fleet?.close();
  await provider?.close();
  fleet = null;
  provider = null;
});

type Row = { role: string; type: string; turn: string; content: Block[] };

/** All of them as one conversation, as it would have been stored. */
function rowsOf(conversations: readonly Conversation[]): Row[] {
  const rows: Row[] = [];
  let turn = 0;
  for (const message of conversations.flatMap(({ recorded }) => recorded)) {
    const waiting: ToolCallId[] = openCalls(rows);
    switch (message.role) {
      case 'user':
        turn += 1;
        rows.push({
          role: 'user',
          type: 'text',
          turn: `u${turn}`,
          content: [{ type: 'text', text: message.text }],
        });
        break;
      case 'assistant': {
        const uses = message.calls.map((call) => ({
          type: 'tool_use' as const,
          id: v7() as ToolCallId,
          ...call,
        }));
        const recorded: Block[] = message.text === '' ? [] : [{ type: 'text', text: message.text }];
        rows.push({
          role: 'assistant',
          type: uses.length > 0 ? 'tool_call' : 'text',
          turn: `a${turn}`,
          content: [...recorded, ...uses],
        });
        break;
      }
      case 'tool': {
        const [id] = waiting;
        if (id === undefined) throw new Error('a result without a call');
        const content: Block[] = [{ type: 'tool_result', tool_use_id: id, content: message.text, is_error: false }];
        rows.push({ role: 'tool', type: 'tool_result', turn: `a${turn}`, content });
        break;
      }
    }
  }
  return rows;
}

function openCalls(rows: readonly Row[]): ToolCallId[] {
  const last = rows.findLastIndex(({ role }) => role === 'assistant');
  const asked = rows[last]?.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])) ?? [];
  return asked.slice(rows.length - 1 - last);
}

async function store(of: Fleet, contextId: ContextId, rows: readonly Row[]): Promise<void> {
  const numbered = rows.map((row, index) => ({ ...row, id: v7(), seq: index + 1 }));
  await of.database.db.execute(sql`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    select id, 1, ${contextId}::uuid, 'main', seq, role, type, turn, 'completed', content, now()
    from jsonb_to_recordset(${encodeJson(numbered)}::jsonb)
      as r(id uuid, seq bigint, role text, type text, turn text, content jsonb)`);
  await of.database.db.execute(sql`
    update contexts set head_seq = ${rows.length}, message_count = ${rows.length} where id = ${contextId}`);
}

test.for<{ type: CompactorType; name: ProviderName }>([
  { type: 'threshold', name: 'anthropic' },
  { type: 'threshold', name: 'openai' },
  { type: 'llm', name: 'anthropic' },
  { type: 'llm', name: 'openai' },
])('conversations beyond the limit: $type, $name', { timeout: 120_000 }, async ({ type, name }, context) => {
  if (ABSENT !== null) return context.skip(ABSENT);
  provider = await startFakeProvider((request) => {
    const isSummary = request.entries[0]?.text === SUMMARISER;
    const input = Math.ceil(JSON.stringify(request.body).length / 4);
    return { text: isSummary ? 'The customers were helped.' : 'Understood.', usage: { input, output: 10 } };
  });
  const seen = provider;
  const contextLimit = type === 'threshold' ? 70_000 : 40_000;
  const of = await startFleet({
    model: () => {
      throw new Error('a real provider is asked');
    },
    provider: { models: modelsFor(seen), name },
    settings: () => ({
      contextLimit,
      systemPrompt: readPolicy(),
      pinned: [{ title: 'House rule', text: 'Be brief.' }],
      compaction: { ...COMPACTION_DEFAULTS, type },
    }),
  });
  fleet = of;
  const { contextId } = await of.createContext();
  const rows = rowsOf(readConversations());
  await store(of, contextId, rows);
  const { jobId } = await of.post(contextId, 'And what about my refund?');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', error: null });
  const made = await of.query(`select type, tokens_before, tokens_after, upto_seq from compactions order by seq`);
  expect(made.length).toBeGreaterThan(0);
  const received = made.map((one) => `${String(one['tokens_before'])} → ${String(one['tokens_after'])}`).join(', ');
  process.stdout.write(
    `tau-airline, ${rows.length} messages, ${type}, ${name}, limit ${contextLimit}: ${received} tokens\n`,
  );
  for (const one of made) expect(Number(one['tokens_after'])).toBeLessThan(Number(one['tokens_before']));
  expect(Number(made.at(-1)?.['tokens_after'])).toBeLessThan(contextLimit * 0.8);
  const answered = seen.requests.at(-1);
  const standing = answered?.entries[0]?.text ?? '';
  expect(standing).toContain(readPolicy().slice(0, 200));
  expect(standing).toMatch(/<pinned title="House rule">\nBe brief\.\n<\/pinned>$/);
  expect(answered?.entries.at(-1)?.text).toContain('And what about my refund?');
  const prompt = JSON.stringify(answered?.body);
  expect(prompt.length / 4).toBeLessThan(contextLimit);
  if (type === 'llm') {
    expect(answered?.entries[1]?.text).toContain('The customers were helped.');
    const before = seen.requests.slice(0, -1);
    expect(before.length).toBe(made.length);
    for (const request of before) expect(JSON.stringify(request.body).length / 4).toBeLessThan(contextLimit * 1.2);
  } else {
    expect(seen.requests).toHaveLength(1);
    expect(prompt).toContain('An old result, shortened');
  }
  if (name === 'anthropic') {
    const system = answered?.body['system'];
    expect(Array.isArray(system) ? system.at(-1) : null).toMatchObject({
      cache_control: { type: 'ephemeral' },
    });
  }
  // The stored history is complete.
  expect(await of.history(contextId)).toHaveLength(rows.length + 2);
  expect((await of.history(contextId)).at(-1)?.turn).toBe(`a${Number(rows.at(-1)?.turn.slice(1)) + 1}`);
});
