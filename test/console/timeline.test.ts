// The timeline of a job: live, with what failed and what waited, and with the steps of child workers.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { JobStep } from '../../src/client/index.ts';
import { browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { depth } from '../services/depth.ts';
import { useTenant } from './rig/platform.ts';
import { ENDLESS } from './rig/scenes.ts';
import { at, step, usage } from './rig/steps.ts';

const platform = useTenant('timeline');
const { visit } = useBrowser(platform);

const steps = (page: Page) => page.getByRole('list', { name: 'Steps' });
const row = (page: Page, name: string | RegExp) => steps(page).getByRole('button', { name });
const bars = (page: Page, kind: string) => steps(page).locator(`[data-stretch="${kind}"]`);
const isFocused = (page: Page, name: RegExp) => row(page, name).and(page.locator(':focus')).waitFor();

/** Posts to a new worker with a model of its own. */
async function begin(model: string, input: string[], tools: string[] = []) {
  const { client } = platform();
  const config = { model: `simulated/${model}`, tools };
  const worker = await client.workers.create({ name: model, config });
  const { job_id: jobId } = await client.contexts.send(worker.context_id, input.join('\n'));
  return { jobId, contextId: worker.context_id };
}

test('the first token of a call is shown when it comes, and on a page that is opened later; nothing is polled', async () => {
  const { client, url } = platform();
  const script = ['ask: ready?', '---', 'wait: 4s', 'tokens: 400 over 60s'];
  const { jobId, contextId } = await begin('slow', script, ['ask_user']);
  const page = await visit(`${url}/jobs/${jobId}?tab=timeline`);
  await row(page, /^ask_user/)
    .getByText('Waiting for an answer')
    .waitFor();
  const [asked] = (await client.jobs.get(jobId)).waiting_for;
  await client.tools.result(contextId, asked?.tool_call_id ?? '', { content: 'yes' });
  const call = (of: Page) => steps(of).getByRole('listitem').filter({ hasText: 'simulated/slow' }).nth(1);
  await call(page).locator('[data-stretch="model"]').waitFor();
  const late = await visit(`${url}/jobs/${jobId}?tab=timeline`);
  await call(late).locator('[data-stretch="model"]').waitFor();
  // Both know the same time, although one came later.
  const told: string[] = [];
  for (const one of [page, late]) {
    await call(one).getByRole('button').click();
    const fact = call(one).locator('dl div', { has: one.getByText('Time to first token', { exact: true }) });
    told.push(await fact.innerText());
  }
  expect(told[1]).toBe(told[0]);
  expect(told[0]).toMatch(/^Time to first token\s+[4-9](\.\d)? s/);
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.waitForTimeout(3_000);
  expect(requested.filter((one) => one.includes(jobId))).toEqual([]);
  await page.getByRole('button', { name: 'Cancel job …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel job', exact: true }).click();
  expect((await client.jobs.wait(jobId)).status).toBe('cancelled');
  await page.getByText('Cancelled', { exact: true }).first().waitFor();
});

test('a call without a token yet has only the bar of the wait for it', async () => {
  const { client, url } = platform();
  const { jobId } = await begin('silent', [ENDLESS]);
  const page = await visit(`${url}/jobs/${jobId}?tab=timeline`);
  await bars(page, 'first').waitFor();
  expect(await bars(page, 'model').count()).toBe(0);
  await client.jobs.cancel(jobId);
});

test('attempts that failed are red, waiting for the provider is throttled time, and short bars are wide enough', async () => {
  const { client, url } = platform();
  const script = ['fail: rate_limited retry-after 4s times 1', 'call: look_up {"word": "owl"}', '---', 'say: done'];
  const { jobId } = await begin('refused', script, ['look_up']);
  await client.jobs.wait(jobId);
  const page = await visit(`${url}/jobs/${jobId}?tab=timeline`);
  await row(page, /^simulated\/refused/)
    .getByText('2 attempts')
    .waitFor();
  await row(page, /^look_up/).waitFor();
  expect(await bars(page, 'failed').count()).toBe(1);

  // A refusal takes some milliseconds of four seconds.
  for (const kind of ['failed', 'tool', 'model']) {
    const [bar, track] = await bars(page, kind)
      .last()
      .evaluate((element) => [element, element.parentElement].map((one) => one?.getBoundingClientRect().toJSON()));
    expect(bar.width, kind).toBeGreaterThanOrEqual(6);
    expect(bar.right, kind).toBeLessThanOrEqual(track.right + 0.5);
  }
  await row(page, /^Queue/).focus();
  await page.keyboard.press('ArrowDown');
  await isFocused(page, /^simulated\/refused/);
  await page.keyboard.press('Enter');
  await steps(page).getByText('provider_rate_limited').waitFor();
  await steps(page).getByText('the provider limits the rate of calls').first().waitFor();
  const prompt = page.getByRole('link', { name: 'Show prompt of attempt 1' });
  expect(await prompt.getAttribute('href')).toMatch(/[?&]tab=prompt&call=1$/);
  await page.getByRole('button', { name: 'Show all' }).and(page.locator(':disabled')).waitFor();
  await row(page, /^simulated\/refused/)
    .first()
    .focus();
  await page.keyboard.press('ArrowDown');
  await isFocused(page, /^look_up/);
  const summary = page.getByRole('region', { name: 'Where the time went' });
  await summary.getByText('Throttled').waitFor();
  await summary.getByText('Failed calls').waitFor();
  await expectAccessible(page);
});

test('a child worker opens to its steps, to any depth, which continue live; the critical path leads through them', async () => {
  const { client, url } = platform();
  const spawn = (name: string, input: string) => `call: spawn_worker ${JSON.stringify({ name, input })}`;
  const inner = `${spawn('inner', 'ask: Which page?\n---\nsay: thanks')}\n---\nsay: back`;
  const script = [spawn('outer', inner), spawn('brief', 'say: short'), '---', 'say: all done'];
  const { jobId } = await begin('family', script, ['spawn_worker', 'ask_user']);
  const page = await visit(`${url}/jobs/${jobId}?tab=timeline`);
  const requested: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/steps')) requested.push(request.url());
  });
  const turn = (name: string, to = 'Show') => page.getByRole('button', { name: `${to} the steps of ${name}` });
  await turn('outer').waitFor();
  const [outer] = (await client.jobs.list({ parent_job_id: jobId }).page()).data.filter(
    ({ worker_name }) => worker_name === 'outer',
  );
  expect(requested.filter((one) => one.includes(outer?.id ?? ''))).toEqual([]);
  await turn('outer').focus();
  await page.keyboard.press('Enter');
  await turn('inner').click();
  await row(page, /^ask_user/)
    .getByText('Waiting for an answer')
    .waitFor();
  expect(await steps(page).getByRole('listitem').filter({ hasText: 'ask_user' }).getAttribute('aria-level')).toBe('3');
  expect(requested.some((one) => one.includes(outer?.id ?? ''))).toBe(true);
  await expectAccessible(page);

  // Answered elsewhere: the rows of both jobs go on.
  const [asked] = (await client.approvals.list({ kind: 'input' }).page()).data;
  await client.tools.result(asked?.context_id ?? '', asked?.tool_call_id ?? '', { content: 'that one' });
  await client.jobs.wait(jobId);
  await page.getByText('Completed').first().waitFor();
  await row(page, /^ask_user/)
    .getByText('Waiting for an answer')
    .waitFor({ state: 'hidden' });
  await row(page, /^spawn_worker/)
    .getByText('Waiting for workers')
    .first()
    .waitFor({ state: 'hidden' });

  const onPath = steps(page)
    .getByRole('listitem')
    .filter({ has: page.locator('[data-critical]') });
  await onPath.filter({ hasText: 'ask_user' }).waitFor();
  await onPath.filter({ hasText: 'outer' }).waitFor();
  expect(await onPath.filter({ hasText: 'brief' }).count()).toBe(0);
  const path = page.getByRole('button', { name: 'Critical path', exact: true });
  await path.click();
  expect(await path.getAttribute('aria-pressed')).toBe('false');
  expect(await onPath.count()).toBe(0);
  const summary = page.getByRole('region', { name: 'Where the time went' });
  await summary.getByText('Waiting for workers').waitFor();
  await turn('outer', 'Hide').click();
  await row(page, /^ask_user/).waitFor({ state: 'hidden' });
});

/** 10,000 steps, the last 500 of which are calls with a child worker. */
function manySteps(): JobStep[] {
  return Array.from({ length: 10_000 }, (_, n) => {
    const from = 1_700_000_000_000 + n * 1_000;
    const times = { started_at: at(from), first_token_at: at(from + 300), ended_at: at(from + 900) };
    if (n < 9_500) return step({ ...times, n: n + 1, name: `simulated/many-${n}` });
    const child = {
      job_id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
      context_id: 'c',
      worker_id: 'w',
      name: `child-${n}`,
      status: 'completed' as const,
      usage,
      created_at: times.started_at,
      started_at: times.first_token_at,
      finished_at: times.ended_at,
    };
    const call = { kind: 'tool' as const, name: 'spawn_worker', tool_call_id: `call-${n}`, executions: [], child };
    return step({ ...times, ...call, n: null, attempt: null, first_token_at: null });
  });
}

test('ten thousand steps and five hundred children: few rows in the page, reached by keys and by scrolling', async () => {
  const { client, url } = platform();
  const { jobId } = await begin('many', ['say: one']);
  await client.jobs.wait(jobId);
  const all = manySteps();
  const page = await visit('about:blank');
  await page.route(`**/api/jobs/${jobId}/steps?*`, async (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? '0');
    const next = from + 200 < all.length ? String(from + 200) : null;
    await route.fulfill({ json: { data: all.slice(from, from + 200), next_cursor: next } });
  });
  await page.goto(`${url}/jobs/${jobId}?tab=timeline`);
  await row(page, /^simulated\/many-0 /).waitFor();
  await page.getByText('more are loading').waitFor({ state: 'hidden' });
  await row(page, /^Queue/).focus();
  await page.keyboard.press('End');
  await isFocused(page, /^child-9999/);
  expect(await steps(page).getByRole('listitem').last().getAttribute('aria-setsize')).toBe('10501');
  await page.keyboard.press('ArrowUp');
  await isFocused(page, /^spawn_worker/);
  await page.keyboard.press('Home');
  await isFocused(page, /^Queue/);
  const scroller = steps(page).locator('..');
  for (const part of [0.1, 0.3, 0.5, 0.7, 0.9]) {
    await scroller.evaluate((element, to) => element.scrollTo(0, element.scrollHeight * to), part);
    await row(page, new RegExp(`^(simulated/many-${Math.floor(part * 105)}|spawn_worker|child-)`))
      .first()
      .waitFor();
    expect(await steps(page).getByRole('listitem').count()).toBeLessThanOrEqual(60);
  }
  await page.getByRole('tab', { name: 'Table' }).click();
  await page.getByText('Rows 1 to 50 of 10501').waitFor();
  expect(await page.getByRole('row').count()).toBe(51);
  await page.getByRole('button', { name: 'Later rows' }).click();
  await page.getByText('Rows 51 to 100 of 10501').waitFor();
  await expectAccessible(page);
});

test('a change reads only the pages of a long timeline that it may concern', async () => {
  const { client, url } = platform();
  const { jobId, contextId } = await begin(
    'long',
    ['ask: one?', '---', 'ask: two?', '---', 'ask: three?', '---', 'say: done'],
    ['ask_user'],
  );
  const page = await visit('about:blank');
  const read: string[] = [];
  const before = manySteps().slice(0, 600);
  // In the second page: a child worker that does not end. Its job is polled.
  const [call] = manySteps().slice(9_500);
  if (call?.child === undefined || call.child === null) throw new Error('The steps have no child.');
  before[250] = { ...call, child: { ...call.child, name: 'endless', status: 'running', finished_at: null } };
  await page.route(`**/api/jobs/${jobId}/steps?*`, async (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor') ?? '0';
    read.push(cursor);
    if (cursor === '600') {
      const response = await route.fetch({ url: `${url}/api/jobs/${jobId}/steps?limit=200` });
      return route.fulfill({ response });
    }
    const from = Number(cursor);
    return route.fulfill({ json: { data: before.slice(from, from + 200), next_cursor: String(from + 200) } });
  });
  await page.goto(`${url}/jobs/${jobId}?tab=timeline`);
  await expect.poll(() => read, { timeout: 30_000 }).toContain('600');
  await page.getByText('more are loading').waitFor({ state: 'hidden' });
  await row(page, /^Queue/).focus();
  await page.keyboard.press('End');
  const waiting = row(page, /^ask_user/).filter({ hasText: 'Waiting for an answer' });
  for (let asked = 0; asked < 3; asked += 1) {
    const { waiting_for } = await client.jobs.wait(jobId, { until: 'waiting' });
    await waiting.waitFor();
    await client.tools.result(contextId, waiting_for[0]?.tool_call_id ?? '', { content: 'yes' });
    await page.keyboard.press('End');
    await steps(page)
      .getByRole('button', { name: /^ask_user/ })
      .nth(asked)
      .filter({ hasNotText: 'Waiting' })
      .waitFor();
  }
  await page.getByText('Completed').first().waitFor();
  const times = (cursor: string) => read.filter((one) => one === cursor).length;
  // The stream may open while they are read for the first time.
  expect(times('0')).toBeLessThanOrEqual(2);
  expect(times('400')).toBeLessThanOrEqual(2);
  expect(times('200')).toBeGreaterThanOrEqual(4);
  expect(times('600')).toBeGreaterThanOrEqual(4);
});

test('a child worker that its parent does not wait for ends on the page of the parent, although that has ended', async () => {
  const { client, url } = platform();
  const spawn = { name: 'aside', input: 'ask: now?\n---\nsay: done', wait: false };
  const script = [`call: spawn_worker ${JSON.stringify(spawn)}`, '---', 'say: bye'];
  const { jobId } = await begin('leaver', script, ['spawn_worker', 'ask_user']);
  await client.jobs.wait(jobId);
  const page = await visit(`${url}/jobs/${jobId}?tab=timeline`);
  await row(page, /^aside/)
    .getByText('Waiting')
    .waitFor();
  const [below] = (await client.jobs.list({ parent_job_id: jobId }).page()).data;
  const child = await client.jobs.wait(below?.id ?? '', { until: 'waiting' });
  const [asked] = child.waiting_for;
  await client.tools.result(child.context_id, asked?.tool_call_id ?? '', { content: 'yes' });
  await row(page, /^aside/)
    .getByText('Waiting')
    .waitFor({ state: 'hidden' });
  // It is not on the path of its parent.
  const onPath = steps(page)
    .getByRole('listitem')
    .filter({ has: page.locator('[data-critical]') });
  await onPath.filter({ hasText: 'spawn_worker' }).waitFor();
  expect(await onPath.filter({ hasText: 'aside' }).count()).toBe(0);
});

for (const theme of depth(['dark'] as const, ['light', 'dark'] as const)) {
  for (const width of depth([800], [390, 800, 1_600])) {
    test(`a timeline with open child workers is accessible and fits ${width} pixels, ${theme}`, async () => {
      const { client, url } = platform();
      const spawn = `call: spawn_worker ${JSON.stringify({ name: 'helper', input: 'fail: auth' })}`;
      const { jobId } = await begin(`wide-${width}`, [spawn, '---', 'say: done'], ['spawn_worker']);
      await client.jobs.wait(jobId);
      const page = await visit(`${url}/jobs/${jobId}?tab=timeline`, {
        theme,
        size: width < 500 ? 'phone' : 'desktop',
        alone: true,
      });
      await page.setViewportSize({ width, height: 900 });
      await page.getByRole('button', { name: 'Show the steps of helper' }).click();
      await steps(page)
        .getByRole('listitem')
        .filter({ hasText: `simulated/wide-${width}` })
        .nth(2)
        .waitFor();
      await expectAccessible(page);
      await expectFits(page);
    });
  }
}
