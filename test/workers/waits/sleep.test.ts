// `sleep_until`: a wait for a time costs a row and no slot, outlives every process, and ends with the time slept.
import { afterEach, expect, test } from 'vitest';
import { openApi, type Api } from '../../api/harness.ts';
import { result, says, startFleet, transcript, type Fleet, type FleetOptions } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
let api: Api | null = null;
afterEach(async () => {
  await api?.close();
  await fleet?.close();
  fleet = null;
  api = null;
});

/** Sleeps and looks, then repeats the results. */
const sleeps = (input: { seconds: number } | { until: string }): FleetOptions['model'] => {
  return ({ messages }) => {
    const results = messages.at(-1)?.content.filter((block) => block.type === 'tool_result') ?? [];
    return results.length === 0
      ? says('', { name: 'sleep_until', input }, { name: 'look', input: {} })
      : says(results.map(({ content }) => JSON.stringify(content)).join(' '));
  };
};

const TOOLS = {
  sleep_until: { answered_by: 'timer' as const, execute: () => result('never') },
  look: { execute: () => result('seen') },
};

/** As if it had been requested an hour ago, and were over. */
async function passTime(of: Fleet): Promise<void> {
  await of.query(`update tool_calls set asked_at = asked_at - interval '1 hour', expires_at = now() - interval '1 second'
    where name = 'sleep_until'`);
  await of.query(`update contexts set next_check_at = now() - interval '1 second' where scheduling_status = 'waiting'`);
}

/** As the result of a sleep is rounded. */
const tenths = (seconds: unknown): number => Math.round(Number(seconds) * 10) / 10;

const slept = (text: string | undefined): number => Number(/slept_s\W+([0-9.]+)/.exec(text ?? '')?.[1] ?? Number.NaN);

test('calls of the same answer run at once, and the model learns how long it slept', async () => {
  const of = (fleet = await startFleet({ model: sleeps({ seconds: 3_600 }), tools: TOOLS, concurrency: 1 }));
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'go');
  await of.until(async () =>
    (await of.history(contextId)).some(({ content }) => JSON.stringify(content).includes('seen')),
  );
  await of.atRest();
  expect(await of.job(jobId)).toMatchObject({ status: 'waiting' });
  await passTime(of);
  await of.ended(jobId);
  const last = transcript(await of.history(contextId)).at(-1);
  expect(slept(last)).toBeGreaterThanOrEqual(3_600);
  expect(slept(last)).toBeLessThan(3_700);
});

test('the reason of the wait shows the call and its time, and no client can answer it', async () => {
  const of = (fleet = await startFleet({ model: sleeps({ seconds: 3_600 }), tools: TOOLS }));
  api = await openApi({}, of.url);
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'go');
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  const state = (await api.get(`/api/contexts/${contextId}/state`)).body;
  const [timer] = state['waiting_for'] as { tool_call_id: string; until: string }[];
  expect(state).toMatchObject({
    state: 'ExecutingTools',
    waiting_for: [{ kind: 'timer', name: 'sleep_until' }],
    why: `The job waits until ${timer?.until}, requested by sleep_until`,
  });
  expect((await api.get(`/api/jobs/${jobId}`)).body['waiting_for']).toEqual(state['waiting_for']);
  const posted = await api.post(`/api/contexts/${contextId}/tools/${timer?.tool_call_id}/result`, {
    content: 'wake up',
  });
  expect(posted.status).toBe(422);
  await of.cancel(jobId);
  await of.ended(jobId);
  expect(await of.query(`select status from tool_calls where name = 'sleep_until'`)).toEqual([{ status: 'cancelled' }]);
});

test('the wait outlives the process that set it', async () => {
  const of = (fleet = await startFleet({ model: sleeps({ seconds: 3 }), tools: TOOLS }));
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'go');
  const set = `select 1 from tool_calls where name = 'sleep_until'`;
  await of.until(async () => (await of.query(set)).length === 1);
  await of.processes[0]?.drain();
  await of.startProcess();
  await of.ended(jobId);
  // The wait is stored some time after it was requested, and the time slept is counted from then on.
  const [wait] = await of.query(`select extract(epoch from expires_at - asked_at)::float8 as stored_for,
    finished_at >= expires_at as is_over from tool_calls where name = 'sleep_until'`);
  expect(wait).toMatchObject({ is_over: true });
  expect(slept(transcript(await of.history(contextId)).at(-1))).toBeGreaterThanOrEqual(tenths(wait?.['stored_for']));
});
