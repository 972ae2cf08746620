// Streams over real processes: the worker that publishes is killed in the middle, another one starts again, and
// subscribers are informed; the API process is killed too, and the client continues at another one with its cursor.
import { afterEach, expect, inject, test } from 'vitest';
import { addUp, numbered, openSse, type SseClient } from '../../events/sse-client.ts';
import { killChildren } from '../rig/children.ts';
import { startApi, startWorker } from '../rig/platform.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';

/** Separate processes communicate over Redis. */
const redis = inject('redisUrl') !== null;

let environment: TestEnvironment | null = null;
afterEach(async () => {
  await killChildren();
  await environment?.close();
  environment = null;
});

/** Resolves once it received the last event of a job: that its context is idle after it. */
async function receiveRest(stream: SseClient, job: string): Promise<void> {
  const end = await stream.until(({ event, data }) => event === 'JobFinished' && data.job_id === job);
  await stream.until(
    ({ id, event, data }) => (id ?? 0) > (end.id ?? 0) && event === 'StateChanged' && data.new_state === 'Idle',
  );
}

const TIMES = {
  NIGHTSHIFT_HEARTBEAT_INTERVAL_MS: '100',
  NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS: '400',
  NIGHTSHIFT_SWEEP_MS: '200',
};

test.skipIf(!redis)(
  'a worker is killed in the middle of a message: the next attempt voids the received text',
  async () => {
    const of = (environment = await openEnvironment());
    const env = { ...of.env, ...TIMES };
    const apis = await Promise.all([startApi(env), startApi(env)]);
    const workers = await Promise.all([startWorker(env), startWorker(env)]);
    const urls = apis.map((api) => `http://127.0.0.1:${api.env['PORT']}`);
    const [url = '', other = ''] = urls;
    const id = await of.createContext({});
    const streams = await Promise.all(urls.map((one) => openSse(one, id, { after: 0 })));
    const job = await of.post(id, 'say: begins\ntokens: 300 over 8s');
    await Promise.all(
      streams.map((one) => one.until(({ event, data }) => event === 'ContentDelta' && data.sequence > 5)),
    );
    const [owner] = await of.query(
      `select p.pid from processes p join contexts c on c.lease_owner = p.id where c.id = '${id}'`,
    );
    const speaker = workers.find(({ pid }) => pid === owner?.['pid']);
    speaker?.signal('SIGKILL');
    await Promise.all(
      streams.map((one) => one.until(({ event, data }) => event === 'JobFinished' && data.job_id === job)),
    );
    const [stored] = await of.query(
      `select id, content->0->>'text' as text from messages where context_id = '${id}' and role = 'assistant'`,
    );
    for (const { received } of streams) {
      const deltas = received.filter(({ event }) => event === 'ContentDelta');
      expect(new Set(deltas.map(({ data }) => data.message_id))).toEqual(new Set([stored?.['id']]));
      expect(new Set(deltas.map(({ data }) => data.attempt))).toEqual(new Set([1, 2]));
      expect([...addUp(received).values()]).toMatchObject([{ attempt: 2, text: stored?.['text'] }]);
    }

    const next = await of.post(id, 'tokens: 100 over 1s');
    await streams[0]?.until(({ event, data }) => event === 'JobStarted' && data.job_id === next);
    apis[0]?.child.signal('SIGKILL');
    await streams[0]?.ended;
    const again = await openSse(other, id, { lastEventId: streams[0]?.lastId() ?? '0' });
    // Either may receive the last of it a little before the other.
    await Promise.all([...streams.slice(1), again].map((one) => receiveRest(one, next)));
    const pieced = numbered([...(streams[0]?.received ?? []), ...again.received]);
    expect(pieced).toEqual(numbered(streams[1]?.received ?? []));
    expect(url).not.toBe(other);
    for (const one of [...streams, again]) one.close();
    for (const { child } of apis) child.signal('SIGTERM');
    for (const worker of workers) worker.signal('SIGTERM');
    await Promise.all([...apis.map(({ child }) => child), ...workers].map(({ exited }) => exited));
  },
);
