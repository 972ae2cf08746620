// The times of messages: none is complete before it was created, also where a call ran before its request was stored.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { result, says, startFleet, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
afterAll(() => fleet?.close());

test('a call that runs at once ends after its creation', async () => {
  let calls = 0;
  const made = await startFleet({
    model: () => ((calls += 1) < 3 ? says('I look.', { name: 'look', input: {} }) : says('Done.')),
    tools: { look: { effect: 'none', execute: () => sleep(2).then(() => result('seen')) } },
  });
  fleet = made;
  const { contextId } = await made.createContext();
  const { jobId } = await made.post(contextId, 'hello');
  await made.ended(jobId);
  const rows = await made.query(`
    select role, completed_at >= created_at as in_order from messages where context_id = '${contextId}' order by seq`);
  expect(rows.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']);
  expect(rows.every(({ in_order: inOrder }) => inOrder === true)).toBe(true);
});
