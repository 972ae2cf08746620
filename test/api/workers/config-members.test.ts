// Every member of a config: set, replaced and removed, on worker and context alike, each time as a new version.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerConfig } from '../../../src/core/workers/settings.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let worker: Body;
beforeAll(async () => {
  api = await openApi();
  worker = await api.worker();
});
afterAll(() => api.close());

const tool = { name: 'locate', description: 'd', input_schema: { type: 'object' } };
const MEMBERS: Readonly<Record<string, [unknown, unknown]>> = {
  model: ['simulated/a', 'anthropic/b'],
  streaming: [false, true],
  system_prompt: ['Be good.', ''],
  mode: ['plan', 'act'],
  tools: [['ask_user'], []],
  client_tools: [[tool], []],
  mcp_servers: [['files', 'memory'], []],
  approval: [[{ tool: 'mail', decision: 'always' }], [{ tool: '*', decision: 'deny' }]],
  max_tokens: [5, 6],
  max_steps: [7, 8],
  output_schema: [{ type: 'object', properties: { b: {}, a: {} } }, false],
  output_retries: [0, 5],
  parameters: [{ temperature: 0 }, {}],
  idle_timeout_s: [60, 61],
  context_limit: [10_000, 20_000],
  compaction: [{ type: 'none' }, { type: 'llm', keep_turns: 2 }],
  pinned: [[{ title: 'Rules', text: 'Be kind.' }], []],
  limits: [{ depth: 2, children: 3, workers: 4 }, { depth: 0 }],
} satisfies { [Member in keyof Required<WorkerConfig>]: [WorkerConfig[Member], WorkerConfig[Member]] };

describe.each(Object.entries(MEMBERS))('%s', (member, [first, second]) => {
  test.each([
    ['a worker', () => `/api/workers/${worker.id}`],
    ['a context', () => `/api/contexts/${worker.context_id}`],
  ])('of %s', async (_, url) => {
    let etag = (await api.get(url())).headers['etag'] ?? '';
    for (const value of [first, second, null]) {
      const stale = etag;
      const { status, headers, body } = await api.call(
        'PATCH',
        url(),
        { config: { [member]: value } },
        { 'if-match': etag },
      );
      expect(status).toBe(200);
      expect(body.config).toEqual(value === null ? {} : { [member]: value });
      etag = headers['etag'] ?? '';
      expect(etag).not.toBe(stale);
      const refused = await api.call('PATCH', url(), { config: {} }, { 'if-match': stale });
      expect([refused.status, refused.body.error.code]).toEqual([412, 'version_conflict']);
    }
  });

  test('of a context as a whole, by PUT', async () => {
    const url = `/api/contexts/${worker.context_id}`;
    const { body } = await api.call('PUT', url, { config: { max_steps: 3, [member]: first } });
    expect(body.config).toEqual({ max_steps: 3, [member]: first });
    const { body: replaced } = await api.call('PUT', url, { config: {} });
    expect(replaced.config).toEqual({});
  });
});

test('the run of the context gets a control signal', async () => {
  const seq = async () =>
    (await api.database.db.execute(`select control_seq from contexts where id = '${worker.context_id}'`))[0];
  const before = await seq();
  await api.call('PATCH', `/api/contexts/${worker.context_id}`, { config: { mode: 'plan' } });
  expect(await seq()).not.toEqual(before);
});
