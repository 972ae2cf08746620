// Operations: what waits and why, and the worker processes, which the operator pauses, resumes and drains.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useOwnPlatform } from './rig/platform.ts';
import { openContext, waitingFor } from './rig/scenes.ts';

const { visit } = useBrowser();
const platform = useOwnPlatform();

const rowOf = (page: Page, text: string | RegExp) => page.getByRole('row').filter({ hasText: text });

test('the queue tells what contexts wait for, and how fast jobs end', async () => {
  const { client, url } = platform();
  const page = await visit(`${url}/operations`);
  await page.getByText('Nothing waits').waitFor();
  const ended = await openContext(client, 'ended', ['say: one', 'say: two']);
  for (const id of ended.jobs) await client.jobs.wait(id);
  await openContext(client, 'asks', ['ask: well?']);
  await waitingFor(client, 1);
  await rowOf(page, 'An answer').getByRole('cell', { name: '1', exact: true }).waitFor();
  await page.reload();
  const figure = page.getByRole('definition').filter({ hasText: 'less than one a minute' });
  await figure.getByText('2', { exact: true }).waitFor();
});

test('a process is paused and resumed; while it is paused, jobs wait for a slot', async () => {
  const { client, url } = platform();
  const page = await visit(`${url}/operations?tab=processes`);
  const [alive] = (await client.processes.list({ live: true }).page()).data;
  const row = rowOf(page, new RegExp(`pid ${alive?.pid}`));
  await row.getByText('Running', { exact: true }).waitFor();
  await row.getByRole('button', { name: /^Pause / }).click();
  await row.getByText('Paused', { exact: true }).waitFor();
  // This process also serves the API.
  expect(await row.getByRole('button', { name: /^Drain / }).count()).toBe(0);
  const { context, jobs } = await openContext(client, 'waits', ['say: hello']);
  const { why } = await client.contexts.state(context.id);
  expect(why).toBe('All worker processes are paused or draining: resume one, or start another.');
  await page.getByRole('tab', { name: 'Queue' }).click();
  await rowOf(page, 'A slot').waitFor();
  await page.getByRole('tab', { name: 'Worker processes' }).click();
  await row.getByRole('button', { name: /^Resume / }).click();
  await row.getByText('Running', { exact: true }).waitFor();
  expect((await client.jobs.wait(jobs[0] ?? '')).status).toBe('completed');
});

test('a drain asks first, and says what it does; ended processes stay in the list', async () => {
  const { url } = platform();
  const page = await visit('about:blank');
  const at = new Date().toISOString();
  const process = {
    id: '0190a000-0000-7000-8000-000000000000',
    host: 'worker-1',
    pid: 7,
    version: '0.1.0',
    status: 'running',
    requested_status: 'running',
    can_drain: true,
    started_at: at,
    heartbeat_at: at,
    ended_at: null as string | null,
    running: 3,
    concurrency: 100,
    providers: ['simulated'],
    mcp_servers: [],
  };
  const asked: string[] = [];
  await page.route('**/api/processes**', async (route) => {
    const request = route.request();
    if (request.method() === 'POST') {
      asked.push(new URL(request.url()).pathname);
      Object.assign(process, { status: 'stopped', requested_status: 'draining', ended_at: at, running: 0 });
      return route.fulfill({ status: 202, json: { id: process.id, requested_status: 'draining' } });
    }
    const isLive = new URL(request.url()).searchParams.get('live') === 'true';
    const data = isLive === (process.ended_at === null) ? [process] : [];
    return route.fulfill({ json: { data, next_cursor: null } });
  });
  await page.goto(`${url}/operations?tab=processes`);
  await page.getByRole('button', { name: 'Drain worker-1, pid 7' }).click();
  const dialog = page.getByRole('dialog', { name: 'Drain worker-1, pid 7?' });
  await dialog.getByText('It runs 3 contexts now.').waitFor();
  await dialog.getByText('No other worker process begins runs').waitFor();
  await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await rowOf(page, 'worker-1').getByText('Stopped', { exact: true }).waitFor();
  await page.getByText('No worker process is running').waitFor();
  expect(asked).toEqual([`/api/processes/${process.id}/drain`]);
});

for (const { theme, size } of LOOKS) {
  test(`it is accessible and fits: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    await openContext(client, `asks ${size}`, ['ask: well?']);
    await waitingFor(client, 1);
    const page = await visit(`${url}/operations`, { theme, size });
    await page.getByText('An answer').waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await page.getByRole('tab', { name: 'Worker processes' }).click();
    const process = size === 'phone' ? page.getByRole('listitem') : page.getByRole('row');
    await process
      .filter({ hasText: /pid \d/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
