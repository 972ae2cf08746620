// Query values that fit no integer and no key of a list: refused, and never an error of the database.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { indexBacklog } from '../../../src/db/search/search-index.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, withKey, type Api, type Body } from '../harness.ts';
import { HOSTILE_KEYS } from '../fuzz/hostile.ts';

let api: Api;
let worker: Body;
let jobId: string;
beforeAll(async () => {
  api = withKey(await openApi({ NIGHTSHIFT_API_KEYS: 'key-of-the-test:default' }), 'key-of-the-test');
  const owner = await addProcess(api);
  worker = await api.worker();
  await api.worker();
  await converse(api, worker.context_id, owner, 'one word', 'two words');
  await converse(api, worker.context_id, owner, 'three words', 'four words');
  while (await indexBacklog(api.database.db));
  for (let n = 0; n < 2; n += 1) {
    const other = await api.worker();
    await api.post(`/api/contexts/${other.context_id}/messages`, { content: 'look' });
    const manual = await take(api, other.context_id, owner);
    await manual.admit();
    await manual.answer([{ type: 'tool_use', id: other.id, name: 'lookup', input: {} }]);
    await manual.askApproval();
    jobId = (await api.get('/api/jobs?limit=1')).body.data[0].id;
  }
  for (const name of ['a', 'b']) {
    await api.post(`/api/contexts/${worker.context_id}/branches`, { name });
    await api.call('PUT', `/api/roles/${name}`, { system_prompt: name });
    await api.post('/api/keys', { name, scopes: ['read'] });
  }
  for (const content of ['queued', 'queued too']) {
    await api.post(`/api/contexts/${worker.context_id}/messages`, { content });
  }
});
afterAll(() => api.close());

const url = (path: string): string =>
  path.replace(':c', worker.context_id).replace(':j', jobId).replace(':w', worker.id);

const HOSTILE = [...HOSTILE_KEYS, 'a\0b', 'x'.repeat(150)];

describe('a tampered cursor', () => {
  test.each([
    ['/api/workers'],
    ['/api/contexts'],
    ['/api/jobs'],
    ['/api/roles'],
    ['/api/keys'],
    ['/api/approvals'],
    ['/api/search?q=words'],
    ['/api/contexts/:c/branches'],
    ['/api/contexts/:c/turns'],
    ['/api/contexts/:c/messages'],
    ['/api/contexts/:c/messages?order=desc'],
    ['/api/jobs/:j/steps'],
  ])('of %s is refused, or read by its content', async (path) => {
    const first = `${url(path)}${path.includes('?') ? '&' : '?'}limit=1`;
    const { body } = await api.get(first);
    expect(body.next_cursor).not.toBeNull();
    const key: unknown[] = JSON.parse(Buffer.from(body.next_cursor, 'base64url').toString());
    const tampered = [
      ...key.flatMap((_, at) => HOSTILE.map((value) => key.with(at, value))),
      ...key.flatMap((member, at) =>
        Array.isArray(member)
          ? member.flatMap((_inner, within) => HOSTILE.map((value) => key.with(at, member.with(within, value))))
          : [],
      ),
      key.slice(1),
      [...key, 1],
      [],
    ];
    const statuses = new Set<number>();
    for (const one of tampered) {
      const cursor = Buffer.from(JSON.stringify(one)).toString('base64url');
      const { status, body: answer } = await api.get(`${first}&cursor=${cursor}`);
      // 404: it names a branch that does not exist.
      expect([200, 404, 422], JSON.stringify(one)).toContain(status);
      if (status === 422) expect(answer.error.param).toBe('cursor');
      statuses.add(status);
    }
    expect(statuses).toContain(422);
  });
});

describe('an integer of a query', () => {
  const NONE = [
    'Infinity',
    '-Infinity',
    'NaN',
    '1e400',
    '1e2',
    '0x10',
    '1.5',
    '',
    ' 5',
    '5 ',
    '+5',
    '9007199254740993',
  ];

  test('is digits, and nothing else, wherever the document has one', async () => {
    let asked = 0;
    for (const [path, operations] of Object.entries(api.contract.document.paths)) {
      // Of the operator, who has another key.
      if (path.startsWith('/api/tenants') || path.startsWith('/api/processes')) continue;
      for (const [method, operation] of Object.entries(operations)) {
        const { parameters = [] } = operation as {
          parameters?: { in: string; name: string; schema: { type?: string } }[];
        };
        for (const { name } of parameters.filter((one) => one.in === 'query' && one.schema.type === 'integer')) {
          asked += 1;
          for (const text of NONE) {
            const target = path.replace('{id}', path.startsWith('/api/jobs') ? jobId : worker.context_id);
            const { status, body } = await api.call(
              method.toUpperCase(),
              `${target.replace('{name}', 'a')}?${name}=${encodeURIComponent(text)}`,
            );
            expect([status, body.error?.param], `${method} ${path} ${name}=${text}`).toEqual([422, name]);
          }
        }
      }
    }
    expect(asked).toBeGreaterThan(13);
  });
});
