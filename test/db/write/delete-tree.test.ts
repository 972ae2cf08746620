// A child that is made while its tree is being deleted is deleted with it, or is never made.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { perform } from '../../../src/commands/perform.ts';
import { DEFAULT_TENANT, type WorkerId } from '../../../src/core/ids.ts';
import { tagOf } from '../../services/statements.ts';
import { given, type Given } from '../database-fixture.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

function makeChild(parentWorkerId: WorkerId) {
  const ports = the.ports();
  const child = {
    tenantId: DEFAULT_TENANT,
    user: null,
    name: 'child',
    title: null,
    role: null,
    config: {},
    parentWorkerId,
  };
  return perform(ports, createWorker(ports, child));
}

test('a child that is made after the search for children is deleted with its parent', async () => {
  const { workerId } = await the.context();
  let looked = false;
  const deleting = the.open({
    max: 2,
    hook: async (text) => {
      if (looked || tagOf(text) !== 'workers.read_version') return;
      looked = true;
      expect(await makeChild(workerId)).toMatchObject({ kind: 'done' });
    },
  });
  const outcome = await deleteWorker(the.ports(deleting), DEFAULT_TENANT, workerId);
  expect(looked).toBe(true);
  expect(outcome).toEqual({ kind: 'done', deleted: 2 });
  expect(await the.rows('select 1 from workers')).toEqual([]);
  expect(await the.rows('select 1 from contexts')).toEqual([]);
});

test('a child whose parent is just being deleted is not made', async () => {
  const { workerId } = await the.context();
  const children: ReturnType<typeof makeChild>[] = [];
  const deleting = the.open({
    max: 2,
    hook: (text) => {
      // The parent is locked by now.
      if (tagOf(text) === 'workers.find_child') children.push(makeChild(workerId));
    },
  });
  expect(await deleteWorker(the.ports(deleting), DEFAULT_TENANT, workerId)).toEqual({
    kind: 'done',
    deleted: 1,
  });
  expect(await Promise.all(children)).toMatchObject([{ kind: 'refused', code: 'not_found' }]);
  expect(await the.rows('select 1 from workers')).toEqual([]);
});
