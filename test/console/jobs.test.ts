// The list of jobs: the address holds its filter, and many jobs are cancelled at once.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { ENDLESS, openContext } from './rig/scenes.ts';

const platform = useTenant('jobs');
const { visit } = useBrowser(platform);

const link = (page: Page, id: string | undefined) => page.getByRole('link', { name: `Job ${id?.slice(-6)}` });
const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('link', { name: /^Job / }) });

test('it filters by status in the address, and cancels a selection made with shift', async () => {
  const { client, url } = platform();
  const { jobs } = await openContext(client, 'a queue', [ENDLESS, 'say: a', 'say: b', 'say: c']);
  const done = await openContext(client, 'done', ['say: it is done']);
  await client.jobs.wait(done.jobs[0] ?? '');
  await expect.poll(async () => (await client.jobs.get(jobs[0] ?? '')).status).toBe('running');
  const page = await visit(`${url}/jobs`);
  await rows(page).nth(4).waitFor();
  await page.getByLabel('Status').click();
  await page.getByRole('option', { name: 'Queued' }).click();
  await page.getByText('it is done', { exact: true }).waitFor({ state: 'detached' });
  await page.waitForURL('**/jobs?status=queued');
  await page.reload();
  await rows(page).nth(2).waitFor();
  expect(await rows(page).count()).toBe(3);
  await rows(page).nth(0).getByRole('checkbox').click();
  await rows(page)
    .nth(2)
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] });
  await page.getByText('3 selected').waitFor();
  await page.getByRole('button', { name: 'Cancel selected' }).click();
  await page.getByRole('dialog').getByText('3 jobs will be cancelled').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Cancel 3 jobs' }).click();
  await page.getByText('Cancellation of 3 jobs requested').waitFor();
  await page.getByText('No matching jobs').waitFor();
  for (const id of jobs.slice(1)) expect((await client.jobs.wait(id)).status).toBe('cancelled');
  expect((await client.jobs.get(jobs[0] ?? '')).status).toBe('running');
  await client.jobs.cancel(jobs[0] ?? '', { wait_ms: 20_000 });
});

test('it filters by the user on whose behalf jobs run', async () => {
  const { client, url } = platform();
  const made = await Promise.all(
    ['ann@example.com', 'bo'].map((user) =>
      client.workers.create({ name: user, user, input: { content: `say: for ${user}` } }),
    ),
  );
  for (const { job_id } of made) await client.jobs.wait(job_id ?? '');
  const page = await visit(`${url}/jobs`);
  await page.getByText('bo · for bo').waitFor();
  await page.getByLabel('User').fill('ann@example.com');
  await page.getByLabel('User').press('Enter');
  await page.waitForURL('**/jobs?user=ann*');
  await page.getByText('bo · for bo').waitFor({ state: 'detached' });
  await page.getByText('ann@example.com · for ann@example.com').waitFor();
  expect(await rows(page).count()).toBe(1);
  await page.goto(`${url}/contexts/${made[0]?.context_id}`);
  await page
    .getByText('ann@example.com · simulated')
    .or(page.getByText('ann@example.com', { exact: true }))
    .first()
    .waitFor();
});

test('it ignores an unknown status in the address, also the name of a member that every object has', async () => {
  const { client, url } = platform();
  const { jobs } = await openContext(client, 'for every status', ['say: a']);
  for (const status of ['nonsense', 'constructor']) {
    const page = await visit(`${url}/jobs?status=${status}`);
    await page.getByRole('link', { name: `Job ${jobs[0]?.slice(-6)}` }).waitFor();
  }
});

test('it cancels all matching jobs, and shows their number before', async () => {
  const { client, url } = platform();
  const one = await openContext(client, 'to be cancelled', [ENDLESS, 'say: a']);
  const other = await openContext(client, 'to be kept', [ENDLESS]);
  const page = await visit(`${url}/jobs?context_id=${one.context.id}`);
  await rows(page).nth(1).waitFor();
  await page.getByRole('button', { name: 'Cancel all matching' }).click();
  await page.getByRole('button', { name: 'Cancel 2 jobs' }).click();
  await page.getByText('Cancellation of 2 jobs requested').waitFor();
  for (const id of one.jobs) expect((await client.jobs.wait(id)).status).toBe('cancelled');
  await page.getByRole('button', { name: /Remove filter: Context/ }).click();
  await rows(page).nth(2).waitFor();
  expect((await client.jobs.get(other.jobs[0] ?? '')).status).not.toBe('cancelled');
  await client.jobs.cancel(other.jobs[0] ?? '', { wait_ms: 20_000 });
  await page.getByRole('link', { name: `Job ${other.jobs[0]?.slice(-6)}` }).click();
  await page.waitForURL(`**/jobs/${other.jobs[0]}`);
});

test('it retries selected and matching jobs, and shows which were not retried', async () => {
  const { client, url } = platform();
  const failing = async (title: string): Promise<string> => {
    const { context, jobs } = await openContext(client, title, ['fail: bad_request']);
    await client.jobs.wait(jobs[0] ?? '');
    return context.id;
  };
  const [one, other] = [await failing('to retry'), await failing('also to retry')];
  const { job_id: last } = await client.contexts.send(other, { content: 'fail: bad_request' });
  await client.jobs.wait(last);
  const retriesOf = async (context: string) =>
    (await client.jobs.list({ context_id: context, kind: 'retry' }).page()).data.length;

  const page = await visit(`${url}/jobs?context_id=${one}`);
  await rows(page).getByRole('checkbox').click();
  await page.getByText('1 selected').waitFor();
  expect(await page.getByRole('button', { name: 'Cancel selected' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Retry selected' }).click();
  await page.getByRole('dialog').getByText('1 job will be retried.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Retry 1 job' }).click();
  await page.getByText('1 job retried').waitFor();
  await page.getByText('1 selected').waitFor({ state: 'detached' });
  expect(await retriesOf(one)).toBe(1);

  await page.goto(`${url}/jobs?context_id=${other}&status=failed`);
  await page.getByRole('button', { name: 'Retry all matching' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 job cannot be retried:').waitFor();
  await dialog.getByText('1 job: a later job ran on the branch').waitFor();
  await page.getByRole('button', { name: 'Retry 1 job' }).click();
  await dialog.getByRole('heading', { name: '1 job retried' }).waitFor();
  expect(await dialog.getByRole('list', { name: 'Jobs that were not retried' }).textContent()).toContain(
    'its history has gone on',
  );
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await dialog.waitFor({ state: 'detached' });
  expect(await retriesOf(other)).toBe(1);

  await page.goto(`${url}/jobs?context_id=${other}&status=queued`);
  await page.getByRole('button', { name: 'Retry all matching' }).click();
  await dialog.getByText('No jobs can be retried').waitFor();
});

test('it finds a text, and sorts by a column, in the address', async () => {
  const { client, url } = platform();
  const one = await openContext(client, 'to be found', ['say: the needle is here']);
  const other = await openContext(client, 'not to be found', ['say: hay']);
  for (const id of [...one.jobs, ...other.jobs]) await client.jobs.wait(id);
  const page = await visit(`${url}/jobs?range=hour`);
  await link(page, other.jobs[0]).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('the NEEDLE');
  await link(page, other.jobs[0]).waitFor({ state: 'detached' });
  await link(page, one.jobs[0]).waitFor();
  expect(new URL(page.url()).searchParams.get('q')).toBe('the NEEDLE');
  await page.reload();
  await link(page, one.jobs[0]).waitFor();
  await page.getByLabel('Find', { exact: true }).fill('');
  await link(page, other.jobs[0]).waitFor();

  const sorted = page.waitForRequest((request) => request.url().includes('sort=duration'));
  await page.getByRole('button', { name: 'Duration' }).click();
  await sorted;
  expect(await page.getByRole('columnheader', { name: 'Duration' }).getAttribute('aria-sort')).toBe('descending');
  await page.waitForURL('**sort=duration**');
  await page.getByRole('button', { name: 'Duration' }).click();
  await page.waitForURL('**sort=-duration**');
  await page.getByRole('button', { name: 'Duration' }).click();
  await page.waitForURL((address) => !address.searchParams.has('sort'));
});

test('views keep filters and columns, and can be renamed and deleted', async () => {
  const { client, url } = platform();
  const { jobs } = await openContext(client, 'in a view', ['fail: bad_request']);
  await client.jobs.wait(jobs[0] ?? '');
  const page = await visit(`${url}/jobs`);
  const views = page.getByRole('button', { name: 'Views' });
  await views.click();
  await page.getByRole('menuitem', { name: 'Failed today' }).click();
  await page.waitForURL('**/jobs?status=failed&range=today');
  await link(page, jobs[0]).waitFor();

  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Role' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Context' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Role' }).waitFor();
  expect(await page.getByRole('columnheader', { name: 'Context' }).count()).toBe(0);
  await views.click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByLabel('Name', { exact: true }).fill('mine');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();

  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Role' }).click();
  await page.keyboard.press('Escape');
  await page.goto(`${url}/jobs`);
  await views.click();
  await page.getByRole('menuitem', { name: 'mine' }).click();
  await page.waitForURL('**/jobs?status=failed&range=today');
  await page.getByRole('columnheader', { name: 'Role' }).waitFor();

  await views.click();
  await page.getByRole('menuitem', { name: 'Manage views…' }).click();
  await page.getByLabel('Name of mine').fill('yours');
  await page.getByLabel('Name of mine').press('Enter');
  await page.getByLabel('Name of yours').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Delete yours' }).click();
  await page.getByText('No saved views.').waitFor();
});

test('keys move between jobs, select them, and ask to retry or to cancel them', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'by keyboard', ['fail: bad_request', 'fail: bad_request']);
  for (const id of jobs) await client.jobs.wait(id);
  const page = await visit(`${url}/jobs?context_id=${context.id}`);
  await rows(page).nth(1).waitFor();
  const focused = () => page.locator('[data-row]:focus-within').getAttribute('data-row');
  await page.keyboard.press('j');
  expect(await focused()).toBe(jobs[1]);
  await page.keyboard.press('j');
  expect(await focused()).toBe(jobs[0]);
  await page.keyboard.press('k');
  // Ended: nothing can be cancelled.
  await page.keyboard.press('c');
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 job will be retried.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await focused()).toBe(jobs[1]);
  await page.keyboard.press('x');
  await page.getByText('1 selected').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('2 selected').waitFor();
  await page.keyboard.press('r');
  await dialog.getByText('1 job cannot be retried:').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/jobs/**');
});

test('new jobs appear at the top, but not under the pointer or while jobs are selected', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'live', ['say: a']);
  const page = await visit(`${url}/jobs?context_id=${context.id}`);
  await link(page, jobs[0]).waitFor();
  const send = async (): Promise<string> => (await client.contexts.send(context.id, { content: 'say: b' })).job_id;
  await link(page, await send()).waitFor();
  await page.getByRole('checkbox', { name: 'Show new jobs as they come' }).click();
  const held = await send();
  const button = page.getByRole('button', { name: '1 new job' });
  await button.waitFor();
  expect(await link(page, held).count()).toBe(0);
  await expectAccessible(page);
  await button.click();
  await link(page, held).waitFor();
  await page.getByRole('checkbox', { name: 'Show new jobs as they come' }).click();
  await link(page, await send()).waitFor();

  await rows(page).nth(1).hover();
  const pointed = await send();
  await button.waitFor();
  await page.getByRole('heading', { name: 'Jobs' }).hover();
  await link(page, pointed).waitFor();
  await rows(page).nth(0).getByRole('checkbox').click();
  await page.getByRole('heading', { name: 'Jobs' }).hover();
  const selecting = await send();
  await button.waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await link(page, selecting).waitFor();
});

test('a long list has few rows in the document, and scrolls as if it were whole', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'long', []);
  const count = 160;
  const ids: string[] = [...jobs];
  for (let n = 0; n < count; n += 1)
    ids.push((await client.contexts.send(context.id, { content: `say: ${n}` })).job_id);
  await client.jobs.wait(ids.at(-1) ?? '');
  const page = await visit(`${url}/jobs?context_id=${context.id}`);
  const newest = link(page, ids.at(-1));
  const oldest = link(page, ids[0]);
  await newest.waitFor();
  for (let shown = 50; shown < count; shown += 50) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect
      .poll(() => page.getByRole('table').getAttribute('aria-rowcount'))
      .toBe(`${Math.min(shown + 50, count) + 1}`);
  }
  expect(await page.locator('[data-row]').count()).toBe(60);
  await page.locator('#main, main').first().press('End');
  await expect
    .poll(async () => {
      await page.mouse.move(600, 500);
      await page.mouse.wheel(0, 5_000);
      return oldest.count();
    })
    .toBe(1);
  expect(await page.locator('[data-row]').count()).toBe(60);
  expect(await newest.count()).toBe(0);
  await expectAccessible(page);
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, -5_000);
      return newest.count();
    })
    .toBe(1);
});

test('it filters by metadata once it is typed, and by the worker of the link', async () => {
  const { client, url } = platform();
  const [one, other] = [await openContext(client, 'batch 7', []), await openContext(client, 'batch 8', [])];
  const send = async (id: string, batch: number) =>
    (await client.contexts.send(id, { content: ENDLESS, metadata: { batch } })).job_id;
  const [wanted, kept] = [await send(one.context.id, 7), await send(other.context.id, 8)];
  const page = await visit(`${url}/jobs`);
  await link(page, kept).waitFor();
  const metadata = page.getByLabel('Metadata');
  await metadata.fill('batch');
  await page.getByText('Use the form name=value.').waitFor();
  await expectAccessible(page);
  await metadata.fill('batch=7');
  await metadata.press('Enter');
  await link(page, kept).waitFor({ state: 'detached' });
  await link(page, wanted).waitFor();
  await page.getByRole('button', { name: 'Cancel all matching' }).click();
  await page.getByRole('button', { name: 'Cancel 1 job' }).click();
  await page.getByText('Cancellation of 1 job requested').waitFor();
  expect((await client.jobs.wait(wanted)).status).toBe('cancelled');
  expect((await client.jobs.get(kept)).status).not.toBe('cancelled');

  await page.goto(`${url}/workers/${other.context.worker_id}/tree`);
  await page.getByRole('main').getByRole('link', { name: 'Jobs' }).click();
  await link(page, kept).waitFor();
  await link(page, wanted).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /Remove filter: Worker/ }).click();
  await link(page, wanted).waitFor();
  await client.jobs.cancel(kept, { wait_ms: 20_000 });
});

for (const { theme, size } of LOOKS) {
  test(`it is accessible, and shows cards on a phone: ${theme}, ${size}`, async () => {
    const page = await visit(`${platform().url}/jobs`, { theme, size });
    const cards = page.getByRole('list', { name: 'Jobs' }).getByRole('listitem');
    await (size === 'phone' ? cards : rows(page)).first().waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
