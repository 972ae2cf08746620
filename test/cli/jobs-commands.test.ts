// Commands about jobs: several statuses, more rows, inputs, retries, the console's addresses, worker processes.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Accepted, InboxItem, Job, Message, RetriedJob } from '../../src/client/index.ts';
import { openPlatform, run, type Platform } from './command-line.ts';

let platform: Platform;
let contextId = '';
beforeAll(async () => {
  platform = await openPlatform({ NIGHTSHIFT_ADMIN_KEY: 'the-key-of-the-operator' });
  contextId = (await platform.client.contexts.create({})).id;
});
afterAll(() => platform.close());

const NEVER = 'tokens: 100000 over 3600s';

test('jobs takes several statuses, repeated or with commas', async () => {
  const { id } = await platform.client.contexts.create({});
  const failed = await platform.client.contexts.run(id, { input: 'fail: bad_request' });
  const completed = await platform.client.contexts.run(id, { input: 'say: hi' });
  const found = async (...args: string[]): Promise<string[]> => {
    const { data } = await platform.json<{ data: Job[] }>(['jobs', '--context', id, '--json', ...args]);
    return data.map((job) => job.id);
  };
  expect(await found('--status', 'failed,completed')).toEqual([completed.id, failed.id]);
  expect(await found('--status', 'failed', '-s', 'cancelled')).toEqual([failed.id]);
  expect((await platform.run(['jobs', '--status', 'failed,nonsense'])).code).toBe(2);
});

test('a list tells when there are more rows, and how to see them; JSON stays alone', async () => {
  const { id } = await platform.client.contexts.create({});
  for (const text of ['one', 'two', 'three']) await platform.client.contexts.run(id, { input: `say: ${text}` });
  const list = (limit: string, ...more: string[]) => platform.run(['jobs', '--context', id, '--limit', limit, ...more]);
  expect((await list('2')).err).toBe('There are more. Show up to 10: --limit 10\n');
  expect((await list('2')).out.trimEnd().split('\n')).toHaveLength(3);
  expect((await list('3')).err).toBe('');
  expect((await list('2', '--json')).err).toBe('');
});

test('job shows the input that it answers', async () => {
  const job = await platform.client.contexts.run(contextId, { input: 'say: an answer to a visible question' });
  expect((await platform.run(['job', job.id])).out).toMatch(/^Input +say: an answer to a visible question$/m);
  const { input } = await platform.json<{ input: Message }>(['job', job.id, '--json']);
  expect(input).toMatchObject({ id: job.input?.message_id, role: 'user' });
});

test('inbox tells the age, the worker, the context and the task of what waits', async () => {
  const worker = await platform.client.workers.create({
    name: 'asker',
    config: { tools: ['ask_user'] },
    input: { content: '# The task of today\nask: which?' },
  });
  const item = async (): Promise<InboxItem | undefined> =>
    (await platform.client.approvals.list({}).all()).find((one) => one.worker_id === worker.id);
  await expect.poll(item).toMatchObject({ worker_name: 'asker', input_text: '# The task of today\nask: which?' });
  const { out } = await platform.run(['inbox']);
  expect(out).toMatch(/^CALL +KIND +AGE +WORKER +CONTEXT +TASK +ASKS\n/);
  const row = out.split('\n').find((line) => line.includes(worker.context_id)) ?? '';
  expect(row).toMatch(/ input +\S+ +asker +\S+ +# The task of today ask: which\? +which\?$/);
  await platform.client.jobs.cancel(worker.job_id ?? '', { wait_ms: 30_000 });
});

describe('retry', () => {
  test('goes on from the history that a job left', async () => {
    const { id } = await platform.client.contexts.create({ config: { tools: ['recall'] } });
    const input = { content: 'call: recall {}\n---\nsay: better', max_steps: 1, metadata: { batch: 7 } };
    const { job_id } = await platform.client.contexts.send(id, input);
    const failed = await platform.client.jobs.wait(job_id);
    expect(failed.status).toBe('incomplete');
    const { code, out } = await platform.run(['retry', failed.id]);
    expect(code).toBe(0);
    const again = await platform.client.jobs.wait(out.trim());
    expect(again).toMatchObject({ kind: 'retry', status: 'completed', context_id: id, metadata: { batch: 7 } });
    expect(again.output?.text).toBe('better');
    const { data } = await platform.client.contexts.messages.list(id, {}).page();
    expect(data.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  test('sends the input again with --again, and where it was retracted', async () => {
    const { id } = await platform.client.contexts.create({});
    const failed = await platform.client.contexts.run(id, { input: 'fail: bad_request' });
    await platform.client.contexts.run(id, { input: 'say: later' });
    const refused = await platform.run(['retry', failed.id]);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('--again') });
    const { data } = await platform.json<{ data: Accepted[] }>(['retry', failed.id, '--again', '--json']);
    const again = await platform.client.jobs.wait(data[0]?.job_id ?? '');
    expect(again).toMatchObject({ kind: 'input', status: 'failed' });
    const { job_id } = await platform.client.contexts.send(id, NEVER);
    await expect.poll(async () => (await platform.client.jobs.get(job_id)).status).toBe('running');
    await platform.client.contexts.interrupt(id, { mode: 'rollback', wait_ms: 30_000 });
    const { out } = await platform.run(['retry', job_id]);
    const repeated = await platform.client.jobs.get(out.trim());
    expect(repeated).toMatchObject({ kind: 'input', context_id: id });
    await platform.client.jobs.cancel(repeated.id, { wait_ms: 30_000 });
  });

  test('by a filter, shows what would be retried and retries all jobs that match', async () => {
    const { id } = await platform.client.contexts.create({});
    const failed = await platform.client.contexts.run(id, { input: 'fail: bad_request' });
    await platform.client.contexts.run(id, { input: 'fail: bad_request' });
    const filter = ['retry', '--status', 'failed', '--context', id];
    const dry = await platform.run([...filter, '--dry-run']);
    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('1 job would be retried, 1 not.') });
    expect(dry.out).toContain(`${failed.id}: superseded: `);
    const { data } = await platform.json<{ data: RetriedJob[] }>([...filter, '--since', '1h', '--json']);
    expect(data.map(({ error }) => error?.code ?? null)).toEqual([null, 'superseded']);
    expect(await platform.client.jobs.wait(data[0]?.retry_job_id ?? '')).toMatchObject({ kind: 'retry' });
    for (const args of [['retry'], ['retry', failed.id, '--dry-run'], [...filter, '--again'], [...filter, failed.id]])
      expect((await platform.run(args)).code).toBe(2);
  });

  test('refuses jobs that have not ended, and completed ones', async () => {
    const { id } = await platform.client.contexts.create({});
    const completed = await platform.client.contexts.run(id, { input: 'say: hi' });
    expect((await platform.run(['retry', completed.id])).err).toContain('is completed');
    const { job_id } = await platform.client.contexts.send(id, NEVER);
    expect((await platform.run(['retry', job_id])).err).toContain(`nightshift cancel ${job_id}`);
    await platform.client.jobs.cancel(job_id, { wait_ms: 30_000 });
  });
});

test('open prints the address of the console: without a terminal no browser is opened', async () => {
  const worker = await platform.client.workers.create({ name: 'opened', config: {} });
  const job = await platform.client.contexts.run(worker.context_id, { input: 'say: hi' });
  for (const [named, path] of [
    [job.id, `/jobs/${job.id}`],
    [worker.context_id, `/contexts/${worker.context_id}`],
    ['opened', `/contexts/${worker.context_id}`],
  ] as const)
    expect(await platform.run(['open', named])).toEqual({ code: 0, out: `${platform.url}${path}\n`, err: '' });
  expect((await platform.run(['open', '--print'])).out).toBe(`${platform.url}/\n`);
});

test('workers show has the settings of a worker and its newest jobs', async () => {
  const config = { model: 'simulated/x', tools: ['recall'], system_prompt: 'You help.' };
  const worker = await platform.client.workers.create({ name: 'shown', config });
  const job = await platform.client.contexts.run(worker.context_id, { input: 'say: an answer' });
  const { out } = await platform.run(['workers', 'show', 'shown']);
  for (const part of [worker.id, worker.context_id, 'simulated/x', 'recall', 'You help.', job.id, 'an answer'])
    expect(out).toContain(part);
});

test('ps shows worker processes to the operator, and tells others why not', async () => {
  const refused = await platform.run(['ps']);
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('admin key') });
  const operator = { ...platform.env, NIGHTSHIFT_API_KEY: 'the-key-of-the-operator' };
  const { code, out } = await run(['ps'], operator);
  expect(code).toBe(0);
  expect(out).toMatch(/^HOST +PID +STATUS +RUNNING/);
  // A process publishes its figures every five seconds.
  await vi.waitFor(async () => expect((await run(['ps'], operator)).out).toMatch(/ of 100 /), {
    timeout: 30_000,
    interval: 500,
  });
});

test('ps pauses and resumes a process by a part of its id, and says what cannot be asked', async () => {
  const operator = { ...platform.env, NIGHTSHIFT_API_KEY: 'the-key-of-the-operator' };
  const { data } = JSON.parse((await run(['ps', '--json'], operator)).out);
  const [{ id }] = data;
  const statusOf = async () => JSON.parse((await run(['ps', '--json'], operator)).out).data[0].status;
  const paused = await run(['ps', 'pause', id.slice(-8)], operator);
  expect(paused).toMatchObject({ code: 0, out: expect.stringContaining(`${id} begins no run`) });
  await vi.waitFor(async () => expect(await statusOf()).toBe('paused'), { timeout: 30_000, interval: 100 });
  expect((await run(['ps', '--all'], operator)).out).toMatch(/ paused /);
  expect(await run(['ps', 'resume', id], operator)).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await statusOf()).toBe('running'), { timeout: 30_000, interval: 100 });
  expect(await run(['ps', 'drain', id], operator)).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  const refused = await run(['ps', 'drain', id, '--yes'], operator);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('also serves the API') });
  expect(await platform.run(['ps', 'pause', id])).toMatchObject({ code: 1, err: expect.stringContaining('admin key') });
  expect(await run(['ps', 'pause', '00000000'], operator)).toMatchObject({
    code: 1,
    err: expect.stringContaining('No worker process has an id'),
  });
});
