// JSON that goes back to a provider keeps its text in the database: the members of its objects keep their order.
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addProcess, take } from '../api/manual-worker.ts';
import { ids, openApi, type Api } from '../api/harness.ts';

const INPUT = { zone: 1, a: { yellow: [{ two: 2, one: 1 }], blue: null }, bb: 'b' };

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

async function textsOf(statement: ReturnType<typeof sql>): Promise<string[]> {
  const rows = await api.database.db.execute<{ text: string }>(statement);
  return rows.map(({ text }) => text);
}

async function bodyOf(url: string): Promise<string> {
  const answer = await api.app.inject({ url, headers: { host: 'localhost' } });
  expect(answer.statusCode).toBe(200);
  return answer.body;
}

test('a call, in its context, a fork of it, a fork of that, and an import', async () => {
  const { id, context_id: contextId } = await api.worker();
  await api.post(`/api/workers/${id}/messages`, { content: 'look' });
  const hand = await take(api, contextId, await addProcess(api));
  await hand.admit();
  await hand.answer([{ type: 'tool_use', id: ids.next(), name: 'look', input: INPUT }]);
  await hand.results('seen');
  await hand.complete('done');
  const forked = await api.post(`/api/contexts/${contextId}/fork`, {});
  const again = await api.post(`/api/contexts/${forked.body.id}/fork`, {});
  const file = await bodyOf(`/api/contexts/${contextId}/export?format=json`);
  const imported = await api.post('/api/contexts/import', file);
  for (const one of [contextId, forked.body.id, again.body.id, imported.body.id]) {
    const messages = await bodyOf(`/api/contexts/${one}/messages`);
    expect(messages).toContain(`"name":"look","input":${JSON.stringify(INPUT)}`);
  }
});

test('a config and a role, in their original order', async () => {
  const text = { type: 'string' };
  const schema = { type: 'object', properties: { zone: text, a: text, bb: text }, description: 'Where.' };
  const config = {
    streaming: false,
    model: 'simulated/default',
    client_tools: [{ name: 'pick', description: 'Picks.', input_schema: schema }],
  };
  const made = await api.worker(config);
  expect(JSON.stringify((await api.get(`/api/workers/${made.id}`)).body.config.client_tools)).toBe(
    JSON.stringify(config.client_tools),
  );
  await api.call('PUT', '/api/roles/picker', { client_tools: config.client_tools });
  expect(JSON.stringify((await api.get('/api/roles/picker')).body)).toContain(JSON.stringify(schema));
});

test('which columns keep their text', async () => {
  expect(
    await textsOf(sql`
    select table_name || '.' || column_name as text from information_schema.columns
    join information_schema.tables t using (table_schema, table_name)
    where data_type = 'json' and table_schema = 'nightshift' and table_type = 'BASE TABLE' order by 1`),
  ).toEqual([
    'event_batches.events',
    'jobs.output_schema',
    'messages.call',
    'messages.content',
    'roles.definition',
    'schedules.content',
    'schedules.worker',
    'submissions.body',
    'tool_calls.approval',
    'tool_calls.reply',
    'tool_lists.tools',
    'tool_logs.fields',
    'tool_steps.result',
    'workers.config',
  ]);
});
