// The list of jobs while it changes: which jobs it shows, which job a key acts on, and what a selection covers.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { ENDLESS, openContext } from './rig/scenes.ts';

const platform = useTenant('job-list');
const { visit, excuse } = useBrowser(platform);

const link = (page: Page, id: string | undefined) => page.getByRole('link', { name: `Job ${id?.slice(-6)}` });
const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('link', { name: /^Job / }) });

/** So many jobs that end. Returns the ids, oldest first. */
async function completed(title: string, count: number): Promise<{ contextId: string; ids: string[] }> {
  const { client } = platform();
  const { context } = await openContext(client, title, []);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1)
    ids.push((await client.contexts.send(context.id, { content: `say: ${n}` })).job_id);
  await client.jobs.wait(ids.at(-1) ?? '');
  return { contextId: context.id, ids };
}

test('back in the default order the newest jobs are shown, also under the pointer', async () => {
  const { contextId, ids } = await completed('sorted twice', 60);
  const page = await visit(`${platform().url}/jobs?context_id=${contextId}&sort=-created`);
  await link(page, ids[0]).waitFor();
  await page.getByRole('button', { name: 'Created', exact: true }).click();
  await page.waitForURL((address) => !address.searchParams.has('sort'));
  await link(page, ids.at(-1)).waitFor();
  expect(await rows(page).count()).toBe(50);
  expect(await page.getByRole('button', { name: /new jobs?$/ }).count()).toBe(0);
});

test('newer jobs can be shown after all shown ones have left the list', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'all of them leave', [ENDLESS, 'say: a']);
  const page = await visit(`${url}/jobs?context_id=${context.id}&status=queued`);
  await link(page, jobs[1]).waitFor();
  await page.getByRole('checkbox', { name: 'Show new jobs as they come' }).click();
  await client.jobs.cancel(jobs[1] ?? '', { wait_ms: 20_000 });
  await link(page, jobs[1]).waitFor({ state: 'detached' });
  const { job_id: newer } = await client.contexts.send(context.id, { content: 'say: b' });
  await page.getByRole('button', { name: '1 new job' }).click();
  await link(page, newer).waitFor();
  await client.jobs.cancel(jobs[0] ?? '', { wait_ms: 20_000 });
});

test('a key acts on no other job after the focused one has left the list', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'under the focus', [ENDLESS, 'say: a', 'say: b']);
  const page = await visit(`${url}/jobs?context_id=${context.id}&status=queued`);
  await link(page, jobs[2]).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: `Cancel job ${jobs[2]?.slice(-6)}?` });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await client.jobs.cancel(jobs[2] ?? '', { wait_ms: 20_000 });
  await link(page, jobs[2]).waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Jobs' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('c');
  await page.keyboard.press('j');
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: `Cancel job ${jobs[1]?.slice(-6)}?` }).waitFor();
  await page.keyboard.press('Escape');
  await client.jobs.cancelAll({ context_id: context.id });
});

test('the question names all selected jobs, and another filter ends the selection', async () => {
  const { contextId } = await completed('two ended', 1);
  const { client, url } = platform();
  const { job_id: failed } = await client.contexts.send(contextId, { content: 'fail: bad_request' });
  await client.jobs.wait(failed);
  const page = await visit(`${url}/jobs?context_id=${contextId}`);
  await link(page, failed).waitFor();
  await page.getByRole('checkbox', { name: 'Select all jobs shown' }).click();
  await page.getByRole('button', { name: 'Retry selected' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 job will be retried.').waitFor();
  await dialog.getByText('1 job: completed').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('2 selected').waitFor();
  await page.getByRole('button', { name: 'Duration' }).click();
  await page.getByText('2 selected').waitFor({ state: 'detached' });
});

test('a dry run goes on at older jobs if none of the newest can be retried', async () => {
  const { url } = platform();
  const page = await visit(`${url}/jobs?role=of_no_worker`);
  const error = { code: 'superseded', message: 'Later jobs ran on branch main.' };
  const idOf = (at: number): string => `00000000-0000-7000-8000-${`${at}`.padStart(12, '0')}`;
  let asked = 0;
  await page.route('**/api/jobs/retry', (route) => {
    asked += 1;
    const isOld = asked > 5;
    const data = Array.from({ length: isOld ? 1 : 200 }, (_, at) => ({
      id: idOf(asked * 1_000 + at),
      context_id: idOf(1),
      retry_job_id: null,
      error: isOld ? null : error,
    }));
    return route.fulfill({ json: { data, next_cursor: isOld ? null : `after ${asked}`, retried: 0, refused: 0 } });
  });
  await page.getByRole('button', { name: 'Retry failed and incomplete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Retry matching failed and incomplete jobs?' });
  await dialog.getByText('more than 1,000 jobs cannot be retried:').waitFor();
  await dialog.getByRole('button', { name: 'Check older jobs' }).click();
  await dialog.getByText('1 job will be retried.').waitFor();
  await dialog.getByText('1,000 jobs cannot be retried:').waitFor();
  expect(asked).toBe(6);
});

test('after an error a retry shows what happened, and goes on from there', async () => {
  excuse(/403/);
  const { url } = platform();
  const page = await visit(`${url}/jobs?role=of_no_worker`);
  const id = '00000000-0000-7000-8000-000000000001';
  const refused = { code: 'queue_full', message: 'The queue is full.' };
  const cursors: string[] = [];
  let isDown = true;
  await page.route('**/api/jobs/retry', (route) => {
    const body = route.request().postDataJSON() as { dry_run: boolean; cursor?: string };
    if (!body.dry_run) {
      cursors.push(body.cursor ?? 'the first');
      if (body.cursor !== undefined && isDown)
        return route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'The key was revoked.' } } });
    }
    const isFirst = body.cursor === undefined;
    const one = { id, context_id: id, retry_job_id: null, error: isFirst && !body.dry_run ? refused : null };
    return route.fulfill({ json: { data: [one], next_cursor: isFirst ? 'next' : null, retried: 0, refused: 0 } });
  });
  await page.getByRole('button', { name: 'Retry failed and incomplete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Retry 2 jobs' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByText('Stopped after 1 job: 0 retried.').waitFor();
  await dialog.getByText('The queue is full.').waitFor();
  isDown = false;
  await dialog.getByRole('button', { name: 'Retry the rest' }).click();
  await page.getByRole('dialog', { name: '1 job retried' }).getByText('1 job could not be retried:').waitFor();
  expect(cursors).toEqual(['the first', 'next', 'next']);
});

test('it counts what it cancels in a search over all pages, and without the order of the list', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'to be counted', [ENDLESS]);
  const page = await visit(`${url}/jobs?context_id=${context.id}&q=whatever&sort=cost`);
  await page.getByRole('button', { name: 'Cancel all matching' }).waitFor();
  const asked: URL[] = [];
  await page.route('**/api/jobs?**', async (route) => {
    const address = new URL(route.request().url());
    asked.push(address);
    const job = await client.jobs.get(jobs[0] ?? '');
    const isFirst = !address.searchParams.has('cursor');
    await route.fulfill({ json: { data: isFirst ? [] : [job], next_cursor: isFirst ? 'next' : null } });
  });
  await page.getByRole('button', { name: 'Cancel all matching' }).click();
  await page.getByRole('dialog').getByText('1 job will be cancelled').waitFor();
  const counting = asked.filter(({ searchParams }) => searchParams.has('status'));
  expect(counting.map(({ searchParams }) => [searchParams.get('cursor'), searchParams.get('sort')])).toEqual([
    [null, null],
    ['next', null],
  ]);
  await client.jobs.cancelAll({ context_id: context.id });
});
