// An export that was made when each event and each tool call had a row of its own. It has calls, an answer that was
// retracted, a summary, and a branch. Its file is not named as JSON, so that no formatter changes its bytes.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addProcess, converse } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

test('it is imported, exported unchanged, and continued', async () => {
  const text = await readFile(path.join(import.meta.dirname, 'earlier-export.txt'), 'utf8');
  const { status, body: context } = await api.post('/api/contexts/import', text);
  expect({ status, context }).toMatchObject({ status: 201 });
  const url = `/api/contexts/${context.id}`;
  const headers = { host: 'localhost' };
  const exported = await api.app.inject({ url: `${url}/export?format=json`, headers });
  expect(exported.body).toBe(text);
  const { body: compactions } = await api.get(`${url}/compactions`);
  expect(compactions.data).toMatchObject([{ type: 'llm' }]);
  await converse(api, context.id, await addProcess(api), 'and now?', 'Still here.');
  const { body: page } = await api.get(`${url}/messages?limit=100`);
  const texts = page.data.map(({ content }: Body) => content[0].text);
  expect(texts.at(-1)).toBe('Still here.');
  expect(texts).not.toContain('words to retract');
});
