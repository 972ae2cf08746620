// The command line against production processes: `logs -f` and `run` over an API that is killed and started again.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createClient, type Client } from '../../src/client/index.ts';
import { run, start, type Done, type Env } from '../cli/command-line.ts';
import { killChildren } from './rig/children.ts';
import { startApi, startWorker } from './rig/platform.ts';
import { openEnvironment, type TestEnvironment } from './rig/environment.ts';
import { until } from './rig/until.ts';

const redis = inject('redisUrl') !== null;
const TIMES = {
  NIGHTSHIFT_HEARTBEAT_INTERVAL_MS: '100',
  NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS: '400',
  NIGHTSHIFT_SWEEP_MS: '200',
};

describe.skipIf(!redis)('beside an API process and a worker process', () => {
  let environment: TestEnvironment;
  let api: Awaited<ReturnType<typeof startApi>>;
  let client: Client;
  let here: Env;
  beforeAll(async () => {
    environment = await openEnvironment();
    const env = { ...environment.env, ...TIMES };
    api = await startApi(env);
    await startWorker(env);
    const url = `http://127.0.0.1:${api.env['PORT']}`;
    client = createClient({ url });
    here = { NIGHTSHIFT_URL: url };
  });
  afterAll(async () => {
    await killChildren();
    await environment.close();
  });

  test('a followed stream continues over a restart of the API, without gap or repeat', async () => {
    const { id } = await client.contexts.create({ config: { tools: ['ask_user'] } });
    // The job waits for an answer while the API is down, so that there are events on both sides of the cut.
    const running = start(['run', 'ask: ready?\n---\nsay: done', '--context', id], here);
    const [, question = ''] = await running.says('err', /nightshift answer (\S+)/);
    const logs = start(['logs', id, '-f', '--json'], here);
    await logs.says('out', /"InputRequested"/);

    api.child.signal('SIGKILL');
    await api.child.exited;
    await logs.says('err', /Connection lost/);
    await running.says('err', /Connection lost/);
    api = await startApi(api.env);

    const answered = await run(['answer', question, 'yes'], here);
    expect(answered.code).toBe(0);
    expect(await running.done).toMatchObject({ code: 0, out: 'done\n' });
    await logs.says('out', /"JobFinished"/);
    logs.signal('SIGINT');
    const { code, out } = await logs.done;
    expect(code).toBe(130);
    const numbers = out
      .trimEnd()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as { id: number | null }).id ?? []);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(out.match(/"InputRequested"/g)).toHaveLength(1);
  }, 240_000);

  test('a worker is stopped, started and deleted while another terminal follows it', async () => {
    const { id } = await client.workers.create({ name: 'ada', config: {} });
    const done = (...args: string[]): Promise<Done> => run(args, here);

    const running = start(['run', 'wait: 1h', '--worker', 'ada'], here);
    const [, job = ''] = await running.says('err', /job (\S+) · context/);
    // Queued inputs stay queued: a stop ends the running job.
    await until('the job to run', async () => (await client.jobs.get(job)).status === 'running');
    expect((await done('workers', 'stop', 'ada')).code).toBe(0);
    expect((await running.done).code).toBe(5);
    expect(await done('run', 'say: hello', '--worker', id)).toMatchObject({
      code: 1,
      err: expect.stringContaining('worker_stopped'),
    });
    expect((await done('workers', 'start', 'ada')).code).toBe(0);
    expect(await done('run', 'say: hello', '--worker', id)).toMatchObject({ code: 0, out: 'hello\n' });

    const last = start(['run', 'wait: 1h', '--worker', 'ada'], here);
    await last.says('err', /job \S+ · context/);
    expect((await done('workers', 'delete', 'ada', '--yes')).code).toBe(0);
    // It gets the end, or that the job is gone.
    expect([1, 5]).toContain((await last.done).code);
    expect((await done('tree', id)).code).toBe(1);
  }, 240_000);
});
