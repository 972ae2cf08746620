import { runTool } from 'nightshift/testing';
import { expect, test } from 'vitest';
import { orderStatus } from './order-status.ts';

test('an order is found', async () => {
  const { output } = await runTool(orderStatus, { order: 'A-17' });
  expect(output).toEqual({ order: 'A-17', status: 'shipped', parcel: 'P-9001' });
});

test('the model reads that an order does not exist', async () => {
  const { error } = await runTool(orderStatus, { order: 'X-99' });
  expect(error).toContain('X-99');
});

test('the arguments of a model are checked', async () => {
  const { error } = await runTool(orderStatus, { order: 17 });
  expect(error).toContain('order');
});
