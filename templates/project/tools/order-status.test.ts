import { ToolError, type ToolContext } from 'nightshift';
import { expect, test } from 'vitest';
import { orderStatus } from './order-status.ts';

const id = '01980000-0000-7000-8000-000000000000';

const context: ToolContext = {
  tenant: 'default',
  user: null,
  metadata: {},
  worker: { id, name: 'ada', role: 'support' },
  attempt: 1,
  tool_call_id: id,
  job_id: id,
  worker_id: id,
  context_id: id,
  idempotency_key: id,
  signal: new AbortController().signal,
  log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  progress: () => undefined,
};

test('an order is found', async () => {
  expect(await orderStatus.execute({ order: 'A-17' }, context)).toEqual({
    order: 'A-17',
    status: 'shipped',
    parcel: 'P-9001',
  });
});

test('the model reads that an order does not exist', async () => {
  await expect(async () => orderStatus.execute({ order: 'X-99' }, context)).rejects.toThrow(ToolError);
});

test('the arguments of a model are checked', () => {
  expect(orderStatus.input.safeParse({ order: 17 }).success).toBe(false);
});
