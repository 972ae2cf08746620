// Lists: times in one zone, which can be switched, and names in place of ids.
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, settled, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';
import { stopPolling } from './rig/timers.ts';

const platform = useTenant('lists');
const { visit } = useBrowser(platform);

test('all times are local or in UTC, as chosen, and so are the days of filters', async () => {
  const { client, url } = platform();
  const { jobs } = await openContext(client, 'in time', ['say: now']);
  const { created_at: created } = await client.jobs.wait(jobs[0] ?? '');
  const page = await visit(`${url}/healthz`);
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Tokyo' });
  await page.goto(`${url}/jobs`);
  const time = page.locator(`time[datetime="${created}"]`);
  await time.waitFor();
  expect(await time.getAttribute('title')).toMatch(/, \d\d:\d\d:\d\d GMT\+9$/);
  await page.getByRole('button', { name: 'Time zone' }).click();
  await page.getByRole('menuitemradio', { name: 'UTC' }).click();
  await expect.poll(() => time.getAttribute('title')).toBe(`${exactly(created)} UTC`);

  // It is remembered; the day of a filter is one of UTC then.
  const asked = page.waitForRequest((request) => request.url().includes('created_after'));
  await page.goto(`${url}/jobs?from=2026-01-31`);
  expect(new URL((await asked).url()).searchParams.get('created_after')).toBe('2026-01-31T00:00:00.000Z');
  const local = page.waitForRequest((request) => request.url().includes('created_after=2026-01-30T15'));
  await page.getByRole('button', { name: 'Time zone' }).click();
  await page.getByRole('menuitemradio', { name: 'Local time' }).click();
  await local;
});

/** As `Nov 28, 2026, 18:04:05`. */
function exactly(at: string): string {
  return new Intl.DateTimeFormat('en', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    hourCycle: 'h23',
    timeZone: 'UTC',
  }).format(Date.parse(at));
}

test('jobs, filters and schedules name contexts and workers', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'the harvest', ['say: done']);
  await client.jobs.wait(jobs[0] ?? '');
  await client.schedules.create({
    name: 'monthly',
    every_s: 3_600,
    paused: true,
    content: 'say: x',
    target: { context_id: context.id },
  });
  const page = await visit(`${url}/jobs?context_id=${context.id}`);
  await page.getByRole('row', { name: /done/ }).getByRole('link', { name: 'the harvest' }).waitFor();
  await page.getByRole('button', { name: 'Remove filter: Context the harvest' }).waitFor();
  await page.goto(`${url}/jobs?worker_id=${context.worker_id}`);
  await page.getByRole('button', { name: `Remove filter: Worker ${context.worker_name}` }).waitFor();
  await page.goto(`${url}/schedules`);
  await page.getByRole('listitem', { name: 'monthly' }).getByRole('link', { name: 'the harvest' }).waitFor();
});

test('spawned workers are below their parents, and a context without a title is named after its first input', async () => {
  const { client, url } = platform();
  const lead = await client.contexts.create({
    title: 'the lead',
    config: { model: 'simulated/test', tools: ['spawn_worker'] },
  });
  const spawn = (name: string) => `call: spawn_worker {"name": "${name}", "input": "say: I am ${name}"}`;
  const { job_id: job } = await client.contexts.send(
    lead.id,
    `${spawn('reader')}\n${spawn('writer')}\n---\nsay: both are done`,
  );
  await client.jobs.wait(job);
  const untitled = await client.contexts.create({ config: { model: 'simulated/test' } });
  const { job_id: other } = await client.contexts.send(untitled.id, '  Translate the\n letter,   please.  ');
  await client.jobs.wait(other);
  const [below] = (await client.contexts.list({ parent_worker_id: lead.worker_id }).page()).data;
  expect(below).toMatchObject({ parent_worker_id: lead.worker_id, has_children: false });

  // The most recently active first.
  await client.contexts.update(lead.id, { title: 'the lead' });
  const page = await visit(url);
  const list = page.getByRole('navigation', { name: 'Contexts' });
  const row = (text: string | RegExp) => list.getByRole('link', { name: text });
  // The index stores it about a second later, and the list is read again.
  await row('Translate the letter, please.').waitFor();
  await row('the lead').waitFor();
  await expect.poll(() => list.getByRole('link').first().innerText()).toContain('the lead');
  const reader = row(/^reader/);
  expect(await reader.count()).toBe(0);
  const fold = list.getByRole('button', { name: 'Workers below the lead' });
  await row('the lead').focus();
  await page.keyboard.press('ArrowRight');
  await fold.and(page.locator('[aria-expanded="true"]')).waitFor();
  await reader.waitFor();
  await expectAccessible(page);
  await page.keyboard.press('ArrowDown');
  await row(/^(reader|writer)/)
    .and(page.locator(':focus'))
    .waitFor();
  await fold.click();
  await reader.waitFor({ state: 'detached' });

  // The parent of the open one is opened; a search finds it anywhere.
  await page.goto(`${url}/contexts/${below?.id}`);
  await list.locator(`[data-context="${below?.id}"][aria-current="page"]`).waitFor();
  await fold.click();
  await page.getByRole('searchbox', { name: 'Find a context' }).fill('I am reader');
  await reader.waitFor();
});

test('a list that is open shows the first input soon after another client has sent it', async () => {
  const { client, url } = platform();
  const page = await visit(url, { stoppable: true });
  const list = page.getByRole('navigation', { name: 'Contexts' });
  await list.getByRole('link').first().waitFor();
  await settled(page);
  await stopPolling(page);
  const untitled = await client.contexts.create({ config: { model: 'simulated/test' } });
  const { job_id: job } = await client.contexts.send(untitled.id, 'say: sent elsewhere');
  await client.jobs.wait(job);
  await list.getByRole('link', { name: 'say: sent elsewhere' }).waitFor();
});

test('a list of as many contexts as the API lists by activity says at its end that search finds older ones', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'one of many', []);
  const page = await visit('about:blank');
  let listed = 1_999;
  await page.route('**/api/contexts?*sort=activity*', (route) => {
    const copies = Array.from({ length: listed }, (_, n) => ({ ...context, id: `c${n}`, title: `copy ${n}` }));
    return route.fulfill({ json: { data: copies, next_cursor: null } });
  });
  const list = page.getByRole('navigation', { name: 'Contexts' });
  const end = list.getByText('The newest 2,000 contexts. Search finds older ones.');
  const showEnd = async (): Promise<void> => {
    await page.goto(url);
    await list.getByRole('link', { name: 'copy 0' }).first().hover();
    const last = list.getByRole('link', { name: `copy ${listed - 1}` });
    // Rows are measured when they are first shown.
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 1_000_000);
        return last.count();
      })
      .toBe(1);
  };
  await showEnd();
  expect(await end.count()).toBe(0);
  listed = 2_000;
  await showEnd();
  await page.mouse.wheel(0, 1_000_000);
  await end.waitFor();
  await expectAccessible(page);
});
