// Schedules from the command line: added, listed, run, paused, removed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Accepted, Schedule, ScheduleRun } from '../../src/client/index.ts';
import { until } from '../e2e/rig/until.ts';
import { openPlatform, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

const SAY = 'say: hello';

test('a schedule is added, found by its name, run, paused and removed', async () => {
  expect((await platform.run(['schedules'])).out).toBe('No schedules.\n');
  const added = await platform.run([
    'schedules',
    'add',
    'report',
    SAY,
    '--cron',
    '0 9 * * MON-FRI',
    '--timezone',
    'Europe/Berlin',
    '--jitter',
    '1m',
  ]);
  expect(added).toMatchObject({ code: 0, err: expect.stringContaining('Its next run is at 20') });
  const id = added.out.trim();
  expect(await platform.json<Schedule>(['schedules', 'show', 'report', '--json'])).toMatchObject({
    id,
    target: { worker: { name: 'report', config: {} } },
    content: SAY,
    jitter_s: 60,
  });
  expect((await platform.run(['schedules'])).out).toMatch(/report\s+0 9 \* \* MON-FRI \(Europe\/Berlin\)\s+20\S+\s+–/);
  const { job_id } = await platform.json<Accepted>(['schedules', 'run', 'report', '--json']);
  expect((await platform.run(['job', job_id, '--wait'])).code).toBe(0);
  expect((await platform.run(['schedules', 'runs', 'report'])).out).toMatch(
    new RegExp(`manual\\s+started\\s+${job_id}`),
  );
  expect((await platform.run(['schedules', 'pause', 'report'])).out).toBe('report is paused.\n');
  expect((await platform.run(['schedules'])).out).toMatch(/paused\s+started 20/);
  expect((await platform.run(['schedules', 'resume', id])).out).toMatch(/^report is active[.] Its next run is at 20/);
  expect((await platform.run(['schedules', 'remove', id])).out).toBe('report is deleted.\n');
  expect(await platform.run(['schedules', 'show', 'report'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('No schedule is named report.'),
  });
});

test('one run at a time from now starts a job in an existing context', async () => {
  const { context_id } = await platform.json<Accepted>(['run', SAY, '--detach', '--json']);
  await platform.run(['schedules', 'add', 'soon', SAY, '--at', '1s', '--context', context_id]);
  const runs = () => platform.json<{ data: ScheduleRun[] }>(['schedules', 'runs', 'soon', '--json']);
  await until('its run', async () => (await runs()).data.length > 0);
  const [run] = (await runs()).data;
  expect(run).toMatchObject({ status: 'started', context_id, manual: false });
  const shown = (await platform.run(['schedules', 'show', 'soon'])).out;
  expect(shown).toMatch(/next run\s+never\n[\s\S]*last run\s+started 20/);
});

test.each([
  [['schedules', 'add', 'x', 'y'], 'Give one of --cron, --every and --at.'],
  [['schedules', 'add', 'x', 'y', '--cron', '@daily', '--every', '1h'], 'Give one of --cron, --every and --at.'],
  [['schedules', 'add', 'x', 'y', '--every', 'often'], 'Expected a duration'],
  [['schedules', 'add', 'x', 'y', '--every', '1h', '--overlap', 'both'], 'Allowed choices are queue, skip, interrupt'],
])('%j is a wrong use', async (args, message) => {
  expect(await platform.run(args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});

test('what the API refuses is printed', async () => {
  expect(await platform.run(['schedules', 'add', 'x', 'y', '--cron', 'at nine'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('cron is not valid: it does not have five fields.'),
  });
});
