// The versions of a role: newest first, with deletions, in pages; an older one is put again as a new version.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/core/ids.ts';
import type { Role } from '../../../src/core/workers/settings.ts';
import { addVersion } from '../../../src/db/write/workers/roles.ts';
import { openApi, type Api, type Body } from '../harness.ts';

const FILE: ReadonlyMap<string, Role> = new Map([['clerk', { system_prompt: 'You file.' }]]);

let api: Api;
beforeAll(async () => {
  api = await openApi({}, undefined, FILE);
});
afterAll(() => api.close());

let count = 0;
/** A role that had these definitions, one after the other; null deletes it. */
async function roleOf(...definitions: (Role | null)[]): Promise<string> {
  const name = `role-${(count += 1)}`;
  for (const definition of definitions) {
    if (definition === null) await api.call('DELETE', `/api/roles/${name}`);
    else await api.call('PUT', `/api/roles/${name}`, definition);
  }
  return name;
}
const versions = (name: string, query = '') => api.get(`/api/roles/${name}/versions${query}`);

describe('the versions of a role', () => {
  test('are listed newest first, each with its definition and time', async () => {
    const name = await roleOf({ max_steps: 1 }, { max_steps: 2, system_prompt: 'x' });
    const { status, body } = await versions(name);
    expect([status, body]).toEqual([
      200,
      {
        data: [
          { version: 2, definition: { max_steps: 2, system_prompt: 'x' }, created_at: expect.any(String) },
          { version: 1, definition: { max_steps: 1 }, created_at: expect.any(String) },
        ],
        next_cursor: null,
      },
    ]);
  });

  test('have a version without a definition where the role was deleted, and go on when it is created again', async () => {
    const name = await roleOf({ max_steps: 1 }, null, { max_steps: 3 }, null);
    const { body } = await versions(name);
    expect(body.data.map(({ version, definition }: Body) => [version, definition])).toEqual([
      [4, null],
      [3, { max_steps: 3 }],
      [2, null],
      [1, { max_steps: 1 }],
    ]);
  });

  test('come in pages without a gap', async () => {
    const name = await roleOf(...[1, 2, 3, 4, 5].map((max_steps) => ({ max_steps })));
    const first = (await versions(name, '?limit=2')).body;
    const second = (await versions(name, `?limit=2&cursor=${first.next_cursor}`)).body;
    const third = (await versions(name, `?limit=2&cursor=${second.next_cursor}`)).body;
    const found = [first, second, third].flatMap(({ data }) => data.map(({ version }: Body) => version));
    expect(found).toEqual([5, 4, 3, 2, 1]);
    expect(third.next_cursor).toBeNull();
    expect((await versions(name, '?cursor=bm8')).status).toBe(422);
  });

  test('have an older one as a new version when it is put again, unless the role was changed meanwhile', async () => {
    const name = await roleOf({ max_steps: 1 }, { max_steps: 2 });
    const [, old] = (await versions(name)).body.data;
    const put = (tag: string) => api.call('PUT', `/api/roles/${name}`, old.definition, { 'if-match': tag });
    expect((await put('"1"')).status).toBe(412);
    expect((await put('"2"')).body).toMatchObject({ version: 3, max_steps: 1 });
    expect((await versions(name)).body.data).toHaveLength(3);
  });

  test('are none of a role of the config file; an unknown role is not found', async () => {
    expect((await versions('clerk')).body).toEqual({ data: [], next_cursor: null });
    expect((await versions('nobody')).status).toBe(404);
    expect((await versions('not%20a%20name')).status).toBe(404);
  });

  test('are hidden, as the role is, by a role of the config file with the same name', async () => {
    for (const [version, definition] of [{ max_steps: 1 }, { max_steps: 2 }].entries())
      await addVersion(api.database.db, DEFAULT_TENANT, { name: 'clerk', version: version + 1, definition });
    expect((await api.get('/api/roles/clerk?version=1')).status).toBe(404);
    expect((await versions('clerk')).body).toEqual({ data: [], next_cursor: null });
  });
});
