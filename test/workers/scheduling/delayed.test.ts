// Worker processes start delayed inputs when they are due: with Redis and without, and however many processes look.
import { afterEach, expect, test } from 'vitest';
import { delayInput } from '../../../src/commands/inputs/delay-input.ts';
import type { ContextId, JobId } from '../../../src/core/ids.ts';
import { postedInput } from '../../db/inputs.ts';
import { says, startFleet, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

async function post(of: Fleet, contextId: ContextId, seconds: number): Promise<JobId> {
  const content = [{ type: 'text' as const, text: 'go' }];
  const input = { ...postedInput(), contextId, content };
  return (await of.perform(delayInput(of.ports, input, { kind: 'after', seconds }))).jobId;
}

const jobs = (of: Fleet) =>
  of.query(`select j.id, j.status, extract(epoch from j.started_at - j.starts_at)::float8 as late, m.turn
    from jobs j join messages m on m.id = j.message_id order by j.id`);

test.each(['redis', 'deaf'] as const)('a delayed input starts in time, and is answered: %s', async (queue) => {
  const of = (fleet = await startFleet({ model: () => says('done'), processes: 2, queue }));
  const { contextId } = await of.createContext();
  const jobId = await post(of, contextId, 1.5);
  expect(await jobs(of)).toMatchObject([{ id: jobId, status: 'delayed', turn: null }]);
  await of.until(async () => (await jobs(of)).some(({ status }) => status === 'completed'));
  const [job, ...others] = await jobs(of);
  expect(others).toEqual([]);
  expect(job).toMatchObject({ id: jobId, status: 'completed', turn: 'u1' });
  // The release waits for the moment itself. The job begins by a wake-up, or by a sweep.
  expect(job?.['late']).toBeGreaterThanOrEqual(0);
  expect(job?.['late']).toBeLessThan(queue === 'redis' ? 1.5 : 4);
});

test('many that are due at once start once each, in three processes', async () => {
  const of = (fleet = await startFleet({ model: () => says('done'), processes: 3 }));
  const contexts = await Promise.all(Array.from({ length: 6 }, () => of.createContext()));
  for (let count = 0; count < 30; count += 1) {
    const { contextId } = contexts[count % contexts.length] ?? (await of.createContext());
    await post(of, contextId, 1);
  }
  await of.until(async () => (await jobs(of)).every(({ status }) => status === 'completed'));
  expect(await jobs(of)).toHaveLength(30);
  const [begun] = await of.query(`select count(*)::int as n from events where name = 'JobStarted'`);
  expect(begun).toEqual({ n: 30 });
});
