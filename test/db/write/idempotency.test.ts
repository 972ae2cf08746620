// One request of a client is executed once, however often it is sent.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { done, performOnce, type Command } from '../../../src/commands/perform.ts';
import { refuse } from '../../../src/core/errors.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import { forgetOldKeys } from '../../../src/db/write/inputs/idempotency.ts';
import { submit } from '../../../src/db/write/inputs/submit.ts';
import { given, type Given } from '../database-fixture.ts';
import { submissionTo } from '../inputs.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

let count = 0;
const newKey = () => `key-${(count += 1)}`;

/** Submits, and sends a wake-up. */
function submits(contextId: ContextId): Command<{ id: string }> {
  return async (tx) => {
    const submission = submissionTo(contextId);
    const submitted = await submit(tx, submission);
    if (submitted === null) return refuse('queue_full', 'full');
    return done({ id: submission.jobId }, { kind: 'wake_up', wakeUp: { contextId, wakeSeq: 1, epoch: 0 } });
  };
}

const jobs = async (contextId: ContextId) =>
  (await the.rows(`select id from jobs where context_id = '${contextId}'`)).map(({ id }) => id);

test('equal requests at once are one: each gets the same answer, and one wake-up is sent', async () => {
  const { contextId } = await the.context();
  const ports = the.ports();
  const request = { tenantId: DEFAULT_TENANT, key: newKey(), request: 'r' };
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, () => performOnce(ports, request, submits(contextId), (value) => value)),
  );
  const [id] = await jobs(contextId);
  expect(outcomes.map((outcome) => outcome.kind === 'done' && outcome.value)).toEqual(outcomes.map(() => ({ id })));
  expect(await jobs(contextId)).toHaveLength(1);
  expect(ports.wakeUps).toHaveLength(1);
});

test('another request under the same key is refused, and changes nothing', async () => {
  const { contextId } = await the.context();
  const ports = the.ports();
  const key = newKey();
  const ask = (request: string) =>
    performOnce(ports, { tenantId: DEFAULT_TENANT, key, request }, submits(contextId), (value) => value);
  expect(await ask('one')).toMatchObject({ kind: 'done' });
  expect(await ask('other')).toMatchObject({ kind: 'refused', code: 'idempotency_conflict' });
  expect(await jobs(contextId)).toHaveLength(1);
});

test('keys of different tenants are independent', async () => {
  const { contextId } = await the.context();
  const ports = the.ports();
  const key = newKey();
  for (const tenantId of [DEFAULT_TENANT, await ensureTenant(the.database.db, 'other')]) {
    const outcome = await performOnce(
      ports,
      { tenantId, key, request: 'the same' },
      submits(contextId),
      (value) => value,
    );
    expect(outcome.kind).toBe('done');
  }
  expect(await jobs(contextId)).toHaveLength(2);
});

test('a refusal is not stored: the request may succeed later', async () => {
  const { contextId } = await the.context();
  const ports = the.ports();
  const request = { tenantId: DEFAULT_TENANT, key: newKey(), request: 'r' };
  let open = false;
  const sometimes: Command<{ id: string }> = async (tx) => {
    const outcome = await submits(contextId)(tx);
    return open ? outcome : refuse('queue_full', 'full');
  };
  const ask = () => performOnce(ports, request, sometimes, (value) => value);
  expect(await ask()).toMatchObject({ kind: 'refused', code: 'queue_full' });
  expect(await jobs(contextId)).toEqual([]);
  open = true;
  expect(await ask()).toMatchObject({ kind: 'done' });
  expect(await jobs(contextId)).toHaveLength(1);
});

test('a request that failed in the middle leaves neither work nor key', async () => {
  const { contextId } = await the.context();
  const ports = the.ports();
  const request = { tenantId: DEFAULT_TENANT, key: newKey(), request: 'r' };
  const broken: Command<{ id: string }> = async (tx) => {
    await submits(contextId)(tx);
    throw new Error('broken');
  };
  await expect(performOnce(ports, request, broken, (value) => value)).rejects.toThrow('broken');
  expect(await jobs(contextId)).toEqual([]);
  expect(await performOnce(ports, request, submits(contextId), (value) => value)).toMatchObject({
    kind: 'done',
  });
});

test('one that waits for an equal one which fails is executed itself', async () => {
  const { contextId } = await the.context();
  const ports = the.ports();
  const request = { tenantId: DEFAULT_TENANT, key: newKey(), request: 'r' };
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const { promise: barrier, resolve: open } = Promise.withResolvers<void>();
  const failing: Command<{ id: string }> = async () => {
    enter();
    await barrier;
    throw new Error('broken');
  };
  const first = performOnce(ports, request, failing, (value) => value);
  await entered;
  const second = performOnce(ports, request, submits(contextId), (value) => value);
  open();
  await expect(first).rejects.toThrow('broken');
  expect(await second).toMatchObject({ kind: 'done' });
  expect(await jobs(contextId)).toHaveLength(1);
});

test('keys are deleted after a day', async () => {
  const { contextId } = await the.context();
  const ports = the.ports();
  const request = { tenantId: DEFAULT_TENANT, key: newKey(), request: 'r' };
  const ask = () => performOnce(ports, request, submits(contextId), (value) => value);
  await ask();
  await forgetOldKeys(the.database.db, 100);
  await ask();
  expect(await jobs(contextId)).toHaveLength(1);
  await the.rows(`update idempotency_keys set created_at = now() - interval '25 hours' where key = '${request.key}'`);
  await forgetOldKeys(the.database.db, 100);
  await ask();
  expect(await jobs(contextId)).toHaveLength(2);
});
