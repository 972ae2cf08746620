// The tools and the role of the examples, in memory: what their programs show with a worker.
import { describe, expect, test } from 'vitest';
import { matchers, runRole, runTool, simulatedModel, type RoleMatchers } from 'nightshift/testing';
import shop from '../../examples/nightshift.config.ts';

declare module 'vitest' {
  // The parameters are those of the declaration in vitest.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends RoleMatchers<R> {}
}
expect.extend(matchers);

const [orderStatus, reserve, refund] = shop.tools ?? [];

describe('the tools', () => {
  test('order_status', async () => {
    const run = await runTool(orderStatus ?? {}, { order: 'A-17' });
    expect(run).toMatchObject({ output: 'A-17 (180 €) left the warehouse this morning.', error: null });
    expect(await runTool(orderStatus ?? {}, { order: 'Z-99' })).toMatchObject({
      error: 'No order has the number Z-99.',
    });
  });

  test('an input that the schema refuses does not reach the tool', async () => {
    const run = await runTool(refund ?? {}, { order: 'A-17', amount: -1 });
    expect(run.output).toBeUndefined();
    expect(run.error).toContain('amount');
  });

  test('reserve runs once for each key', async () => {
    const options = { context: { idempotency_key: 'key' } };
    const first = await runTool(reserve ?? {}, { order: 'A-17', article: 'lamp' }, options);
    const again = await runTool(reserve ?? {}, { order: 'A-17', article: 'chair' }, options);
    expect(first.output).toBe('lamp is reserved for A-17.');
    expect(again.output).toBe(first.output);
  });
});

describe('the role', () => {
  test('looks up an order, and answers', async () => {
    const model = simulatedModel([
      { calls: [{ tool: 'order_status', input: { order: 'A-17' } }] },
      ({ messages }) =>
        `It ${JSON.stringify(messages.at(-1)).includes('left the warehouse') ? 'is on its way' : 'is lost'}.`,
    ]);
    const run = await runRole(shop, { role: 'shop', input: 'Where is A-17?', model });
    expect(run).toHaveFinished();
    expect(run).toHaveCalled('order_status', { order: 'A-17' });
    expect(run).not.toHaveCalled('refund');
    expect(run).toHaveAnswered('It is on its way.');
    expect(model.requests[0]?.system).toContain('You answer questions about orders');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['order_status', 'refund', 'reserve']);
    expect(model.left).toBe(0);
  });

  const payBack = (amount: number) =>
    simulatedModel([{ calls: [{ tool: 'refund', input: { order: 'A-17', amount } }] }, 'Done.']);

  test('a small refund needs no approval', async () => {
    const run = await runRole(shop, { role: 'shop', input: 'Pay 5 back', model: payBack(5) });
    expect(run.calls).toMatchObject([{ tool: 'refund', status: 'completed', result: '5 € were paid back for A-17.' }]);
  });

  test('a large refund waits for a person', async () => {
    const run = await runRole(shop, { role: 'shop', input: 'Pay 180 back', model: payBack(180) });
    expect(run.status).toBe('waiting');
    expect(run).not.toHaveFinished();
    expect(run.waiting_for).toMatchObject([
      { waits_for: 'approval', call: { tool: 'refund', input: { amount: 180 } } },
    ]);
  });

  test('who approves it, approves with another amount, or rejects it', async () => {
    const paid = async (decide: 'approve' | { approve: { order: string; amount: number } } | { reject: string }) =>
      runRole(shop, { role: 'shop', input: 'Pay back', model: payBack(180), approve: () => decide });
    expect((await paid('approve')).calls).toMatchObject([{ status: 'completed', input: { amount: 180 } }]);
    const changed = await paid({ approve: { order: 'A-17', amount: 20 } });
    expect(changed.calls).toMatchObject([{ result: '20 € were paid back for A-17.', input: { amount: 20 } }]);
    const rejected = await paid({ reject: 'Too much.' });
    expect(rejected).toHaveFinished();
    expect(rejected.calls).toMatchObject([
      { status: 'denied', is_error: true, result: 'Denied by the operator: Too much.' },
    ]);
  });

  test('the script of the example runs too', async () => {
    const run = await runRole(shop, {
      role: 'shop',
      input: 'call: order_status {"order": "B-04"}\n---\nsay: It waits.',
    });
    expect(run).toHaveAnswered(/waits/);
    expect(run).toHaveCalled('order_status', { order: 'B-04' });
  });
});
