// Parts of ids: a unique beginning or end is accepted wherever an id is; several matches are listed; the search is bounded.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiKey, Job, Schedule, Worker } from '../../src/client/index.ts';
import { PAGE, SEARCHED, pickId, type Kind } from '../../src/cli/find/pick.ts';
import { hasPart, isId, isPartOfId, shortIds } from '../../src/cli/find/ids.ts';
import { openPlatform, type Platform } from './command-line.ts';

let platform: Platform;
let worker: Worker;
let jobs: Job[] = [];
beforeAll(async () => {
  platform = await openPlatform();
  worker = await platform.client.workers.create({ name: 'ada', config: {} });
  const run = (input: string): Promise<Job> => platform.client.contexts.run(worker.context_id, { input });
  jobs = [await run('say: one'), await run('say: two')];
});
afterAll(() => platform.close());

const end = (id: string): string => id.slice(-8);

test('a job is named by the end of its id, or by a unique beginning', async () => {
  const [one, two] = jobs;
  for (const named of [end(one?.id ?? ''), one?.id.slice(-6) ?? '', one?.id.slice(0, 30) ?? '', one?.id.toUpperCase()])
    expect((await platform.json<{ job: Job }>(['job', named ?? '', '--json'])).job.id).toBe(one?.id);
  expect((await platform.run(['cancel', end(two?.id ?? '')])).out).toBe(`${two?.id}: had already ended (completed).\n`);
  expect((await platform.run(['logs', end(one?.id ?? '')])).out).toMatch(/completed\n$/);
});

test('several matches are refused with their ids, and tell what each is', async () => {
  const [one, two] = jobs;
  const { code, out, err } = await platform.run(['job', one?.id.slice(0, 6) ?? '']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/ids begin or end with \S+\. Use more characters, or a whole id:\n/);
  for (const id of [one?.id, two?.id]) expect(err).toContain(`  ${id}  job, completed, created `);
});

test('what is not found names where it was searched; what is no part of an id is refused', async () => {
  const none = await platform.run(['job', 'ffffff']);
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining('among the newest 1,000 jobs') });
  expect((await platform.run(['contexts', '--limit', '1'])).code).toBe(0);
  expect((await platform.run(['export', 'ffffff'])).code).toBe(1);
  expect((await platform.run(['grants', 'ffffff'])).err).toContain('the newest 1,000 contexts');
  for (const text of ['12345', 'ada-of-x'])
    expect((await platform.run(['job', text])).err).toContain('is no id of a job');
});

test('contexts and workers are named by a part, too, as arguments and as options', async () => {
  const context = end(worker.context_id);
  expect((await platform.run(['grants', context])).out).toBe('No grants.\n');
  expect((await platform.run(['export', context, '--format', 'markdown'])).out).toContain('one');
  expect((await platform.run(['run', 'say: three', '--context', context])).out).toBe('three\n');
  const listed = await platform.json<{ data: Job[] }>(['jobs', '--context', context, '--json']);
  expect(listed.data).toHaveLength(3);
  const shown = await platform.json<{ worker: Worker }>(['workers', 'show', end(worker.id), '--json']);
  expect(shown.worker.id).toBe(worker.id);
  expect((await platform.run(['tree', end(worker.id)])).out).toContain(worker.id);
  expect((await platform.run(['interrupt', end(worker.id)])).out).toBe('No job is running in this context.\n');
});

test('a name that looks like a part of an id still names its worker', async () => {
  const { id } = await platform.client.workers.create({ name: 'facade', config: {} });
  const { worker: found } = await platform.json<{ worker: Worker }>(['workers', 'show', 'facade', '--json']);
  expect(found.id).toBe(id);
});

test('schedules, keys, webhooks and calls are named by a part', async () => {
  const { client } = platform;
  const schedule: Schedule = await client.schedules.create({
    name: 'report',
    every_s: 86_400,
    content: 'say: x',
    target: { context_id: worker.context_id },
  });
  expect((await platform.run(['schedules', 'pause', end(schedule.id)])).out).toContain('report is paused.');
  const key: ApiKey = await client.keys.create({ name: 'k', scopes: ['read'] });
  expect((await platform.run(['keys', 'revoke', end(key.id)])).out).toBe(`${key.id} is revoked.\n`);
  const { id } = await client.contexts.create({ config: { tools: ['ask_user'] } });
  const { job_id } = await client.contexts.send(id, 'ask: which?');
  const waiting = async () =>
    (await client.approvals.list({}).all()).find((item) => item.context_id === id)?.tool_call_id;
  await expect.poll(waiting).toBeDefined();
  expect((await platform.run(['answer', end((await waiting()) ?? ''), 'this'])).code).toBe(0);
  expect((await client.jobs.wait(job_id)).status).toBe('completed');
});

test('a part is searched in a bounded number of rows', async () => {
  let read = 0;
  const rows = async function* (): AsyncGenerator<{ id: string }> {
    for (;;) yield { id: `00000000-0000-7000-8000-${String((read += 1)).padStart(12, '0')}` };
  };
  const kind: Kind<{ id: string }> = {
    one: 'job',
    where: 'here',
    lists: 'this',
    rows,
    idOf: ({ id }) => id,
    about: () => '',
  };
  expect(await pickId('000000000777', kind)).toBe('00000000-0000-7000-8000-000000000777');
  expect(read).toBe(SEARCHED);
  expect(SEARCHED % PAGE).toBe(0);
  await expect(pickId('ffffff', kind)).rejects.toThrow('among here');
  await expect(pickId('0000000', kind)).rejects.toThrow('… and 990 more');
});

test('what an id is, what a part is, and when ends are enough', () => {
  const id = '01a21fdc-ef8f-77df-a7c5-204f1478119d';
  expect([isId(id), isId(id.slice(1)), isPartOfId('78119d'), isPartOfId('8119d'), isPartOfId(id)]).toEqual([
    true,
    false,
    true,
    false,
    false,
  ]);
  expect([hasPart(id, '01A21F'), hasPart(id, '78119D'), hasPart(id, 'ef8f-77df')]).toEqual([true, true, false]);
  const other = '02a21fdc-ef8f-77df-a7c5-204f1478119d';
  expect(shortIds([id, id, '–'])).toEqual(['1478119d', '1478119d', '–']);
  expect(shortIds([id, other])).toEqual([id, other]);
});
