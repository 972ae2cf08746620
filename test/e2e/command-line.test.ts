// The command line against production processes: `logs -f` and `run` over an API that is killed and started again.
import { afterEach, expect, inject, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { start } from '../cli/command-line.ts';
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

let environment: TestEnvironment | null = null;
afterEach(async () => {
  await killChildren();
  await environment?.close();
  environment = null;
});

test.skipIf(!redis)(
  'a followed stream continues over a restart of the API, without gap or repeat',
  async () => {
    const of = (environment = await openEnvironment());
    const env = { ...of.env, ...TIMES };
    let api = await startApi(env);
    await startWorker(env);
    const url = `http://127.0.0.1:${api.env['PORT']}`;
    const { id } = await createClient({ url }).contexts.create({ config: { tools: ['ask_user'] } });
    const here = { NIGHTSHIFT_URL: url };
    // The job waits for an answer while the API is down, so that there are events on both sides of the cut.
    const running = start(['run', 'ask: ready?\n---\nsay: done', '--context', id], here);
    const [, question = ''] = await running.says('err', /nightshift answer (\S+)/);
    const logs = start(['logs', id, '-f', '--json'], here);
    await logs.says('out', /"InputRequested"/);

    api.child.signal('SIGKILL');
    await api.child.exited;
    await logs.says('err', /Connection lost/);
    await running.says('err', /Connection lost/);
    api = await startApi({ ...env, PORT: api.env['PORT'] ?? '' });

    const answered = await start(['answer', question, 'yes'], here).done;
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
  },
  240_000,
);

test.skipIf(!redis)(
  'a worker is stopped, started and deleted while another terminal follows it',
  async () => {
    const of = (environment = await openEnvironment());
    const env = { ...of.env, ...TIMES };
    const api = await startApi(env);
    await startWorker(env);
    const url = `http://127.0.0.1:${api.env['PORT']}`;
    const here = { NIGHTSHIFT_URL: url };
    const client = createClient({ url });
    const { id } = await client.workers.create({ name: 'ada', config: {} });
    const done = (...args: string[]) => start(args, here).done;

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
  },
  240_000,
);
