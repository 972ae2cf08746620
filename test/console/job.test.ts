// The page of a job: its tabs, what each shows while the job runs and afterwards, and to whom.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';
import { signIn } from './rig/sign-in.ts';
import { keyOf } from './rig/tenants.ts';

const platform = useTenant('job');
const { visit, excuse } = useBrowser(platform);

const TABS = ['overview', 'timeline', 'io', 'prompt', 'steps', 'logs', 'json'] as const;

const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const panel = (page: Page) => page.getByRole('tabpanel').first();
/** The value beside a name. */
const fact = (page: Page, name: string) =>
  panel(page)
    .locator('dl > div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator('dd');
const step = (page: Page, name: string) =>
  panel(page).getByRole('list', { name: 'Steps' }).getByRole('listitem').filter({ hasText: name });

/** A job of a user that failed once, looked a word up, and sent a mail after an approval. */
async function mailed() {
  const { client } = platform();
  const context = await client.contexts.create({
    title: 'mailed',
    user: 'mia',
    config: { model: 'simulated/mailer', tools: ['look_up', 'send_mail'], system_prompt: 'You are <b>brief</b>.' },
  });
  const input = [
    'fail: rate_limited retry-after 10ms times 1',
    'call: look_up {"word": "owl"}',
    'call: send_mail {"to": "ada", "text": "an owl"}',
    '---',
    'say: # Sent',
    'say: It is **sent**.',
  ].join('\n');
  const { job_id: id } = await client.contexts.send(context.id, { content: input, metadata: { ticket: 'A-17' } });
  await client.jobs.wait(id, { until: 'waiting' });
  await client.tools.approve(context.id, { all: true, decision: 'approve', reason: 'She waits for it.' });
  expect((await client.jobs.wait(id)).status).toBe('completed');
  return { id, context };
}

test('the overview tells who asked, what it took, and what failed; a tab is kept by the address', async () => {
  const { url } = platform();
  const { id } = await mailed();
  const page = await visit(`${url}/jobs/${id}`);
  await tab(page, 'Overview').and(page.locator('[aria-selected="true"]')).waitFor();
  expect(await fact(page, 'User').innerText()).toBe('mia');
  await expect.poll(() => fact(page, 'Model').innerText()).toBe('simulated/mailer');
  expect(await fact(page, 'Attempt').first().innerText()).toBe('2');
  expect(await fact(page, 'First token').innerText()).toMatch(/ after the start$/);
  expect(await fact(page, 'Waiting').innerText()).toMatch(/ (?:ms|s)$/);
  expect(await fact(page, 'Cost').innerText()).toBe('unknown: the model has no price');
  await panel(page).getByText('"ticket": "A-17"').waitFor();
  const failures = panel(page).getByRole('row', { name: /simulated\/mailer/ });
  await failures.getByText('provider_rate_limited').waitFor();
  await tab(page, 'Steps').click();
  await page.waitForURL(`**/jobs/${id}?tab=steps`);
  await page.reload();
  await tab(page, 'Steps').and(page.locator('[aria-selected="true"]')).waitFor();
  await page.goto(`${url}/jobs/${id}?tab=of-the-past`);
  await tab(page, 'Overview').and(page.locator('[aria-selected="true"]')).waitFor();
});

test('steps have the arguments and the result of each call, and who approved it', async () => {
  const { url } = platform();
  const { id } = await mailed();
  const page = await visit(`${url}/jobs/${id}?tab=steps`);
  const mail = step(page, 'send_mail');
  await mail.getByRole('region', { name: 'Arguments' }).getByText('"to": "ada"').first().waitFor();
  await mail.getByRole('region', { name: 'Result' }).getByText('sent to ada').first().waitFor();
  await mail.getByText(/^Approved by the environment key [^,]+, .*: She waits for it\.$/).waitFor();
  await mail.getByText('Waiting for approval').waitFor();
  const failed = step(page, 'Failed');
  await failed.getByRole('button').click();
  await failed.getByText('provider_rate_limited').waitFor();
  await failed.getByRole('link', { name: 'Show prompt' }).click();
  await page.waitForURL(`**/jobs/${id}?tab=prompt&call=*`);
});

test('a call that waits costs no reads of its log, and a decision says whether the arguments were edited', async () => {
  const { client, url } = platform();
  const input = 'call: send_mail {"to": "ada", "text": "an owl"}\n---\nsay: Sent';
  const { context, jobs } = await openContext(client, 'edited', [input], { tools: ['send_mail'] });
  const waiting = await client.jobs.wait(jobs[0] ?? '', { until: 'waiting' });
  const page = await visit('about:blank');
  const read: string[] = [];
  page.on('request', (request) => {
    if (/\/logs/.test(request.url())) read.push(request.url());
  });
  await page.goto(`${url}/jobs/${jobs[0]}?tab=steps`);
  const mail = step(page, 'send_mail');
  await mail.getByRole('region', { name: 'Arguments' }).getByText('"to": "ada"').first().waitFor();
  expect(read).toEqual([]);
  await client.tools.approve(context.id, {
    tool_call_id: waiting.waiting_for[0]?.tool_call_id ?? '',
    decision: 'approve',
    input: { to: 'eve', text: 'an owl' },
  });
  await mail.getByText(/^Approved with edited arguments by the environment key /).waitFor();
  await mail.getByRole('region', { name: 'Edited arguments' }).getByText('"to": "eve"').first().waitFor();
});

test('many calls are closed at first, and cost no request until they are opened', async () => {
  const { client, url } = platform();
  const calls = Array.from({ length: 12 }, (_, at) => `call: look_up {"word": "word-${at}"}`);
  const { jobs } = await openContext(client, 'many calls', [`${calls.join('\n')}\n---\nsay: done`]);
  await client.jobs.wait(jobs[0] ?? '');
  const page = await visit('about:blank');
  const read: string[] = [];
  page.on('request', (request) => {
    if (/\/tools\//.test(request.url())) read.push(request.url());
  });
  await page.goto(`${url}/jobs/${jobs[0]}?tab=steps`);
  await step(page, 'look_up').nth(11).waitFor();
  expect(read).toEqual([]);
  await step(page, 'look_up').first().getByRole('button').click();
  await step(page, 'look_up').first().getByText('word-', { exact: false }).first().waitFor();
  expect(read).toHaveLength(1);
});

test('input and output are shown as in the chat, as they are stored, and structured output as a tree', async () => {
  const { client, url } = platform();
  const { id } = await mailed();
  const page = await visit(`${url}/jobs/${id}?tab=io`);
  await panel(page).getByRole('heading', { name: 'Sent', exact: true }).waitFor();
  await panel(page).getByText('call: look_up {"word": "owl"}').waitFor();
  await page.getByRole('group', { name: 'Show Output as' }).getByRole('button', { name: 'Raw' }).click();
  await panel(page).getByRole('region', { name: 'JSON' }).getByText('It is **sent**.').waitFor();

  const { context } = await openContext(client, 'structured', []);
  const output_schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const content = 'say: {"name": "owl", "tags": ["bird", "night"]}';
  const { job_id: structured } = await client.contexts.send(context.id, { content, output_schema });
  await client.jobs.wait(structured);
  await page.goto(`${url}/jobs/${structured}?tab=io`);
  const tree = page.getByRole('group', { name: 'Structured output' });
  await tree.getByText('"night"').waitFor();
  await tree.getByText('tags:').click();
  await tree.getByText('"night"').waitFor({ state: 'hidden' });
});

test('a prompt says whether it is exact, what the cache gave, and where it differs from the request before', async () => {
  const { client, url } = platform();
  const config = { model: 'simulated/asked', tools: ['look_up'], system_prompt: 'You are careful.' };
  const { context, jobs } = await openContext(client, 'asked', ['say: one'], config);
  const [first = ''] = jobs;
  await client.jobs.wait(first);
  await client.contexts.update(context.id, { config: { system_prompt: 'You are bold.' } });
  const { job_id: second } = await client.contexts.send(context.id, 'call: look_up {"word": "owl"}\n---\nsay: two');
  await client.jobs.wait(second);
  const page = await visit(`${url}/jobs/${second}?tab=prompt&call=1`);
  await panel(page).getByText('Exactly as sent').waitFor();
  await panel(page).getByText('You are bold.').waitFor();
  const differs = page.getByText('Differs from the request before.');
  await panel(page)
    .locator('details')
    .filter({ has: differs })
    .getByRole('heading', { name: 'System prompt' })
    .waitFor();
  expect(await differs.count()).toBe(1);
  expect(await fact(page, 'Read from the cache').innerText()).toMatch(/^[\d,]+ tokens$/);
  await panel(page).getByText('Tools (1)').click();
  await panel(page).getByText('look_up', { exact: true }).first().waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Later call' }).click();
  await page.waitForURL('**&call=2');
  await panel(page).getByText('This request starts with the whole request before it').waitFor();
  await panel(page).getByRole('button', { name: 'Show changes' }).click();
  const changes = page.getByRole('region', { name: 'Changes since call 1' });
  await changes.getByText('owl: a word').waitFor();
  expect(await changes.locator('[data-kind="removed"]').count()).toBe(0);
  expect(await differs.count()).toBe(0);
  await page.goto(`${url}/jobs/${first}?tab=prompt`);
  await panel(page).getByText('Not exactly as sent').waitFor();
  await panel(page).getByText('Changed since the call: system prompt and pinned texts.').waitFor();
});

test('who may not configure sees why there is no prompt, and no request for it is made', async () => {
  const { client, url } = platform();
  const { id } = await mailed();
  const { key } = await client.keys.create({ name: 'viewer', scopes: ['read'] });
  const page = await visit('about:blank', { alone: true });
  await page.context().addCookies([await signIn(url, key)]);
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/prompt')) asked.push(request.url());
  });
  await page.goto(`${url}/jobs/${id}?tab=prompt`);
  await panel(page).getByText('This needs the scope configure').waitFor();
  expect(asked).toEqual([]);
  await tab(page, 'Steps').click();
  await step(page, 'send_mail').getByRole('region', { name: 'Result' }).waitFor();
});

test('the log of all tools is shown while the job runs, by level', async () => {
  const { client, url } = platform();
  const { jobs } = await openContext(client, 'packing', ['call: pack {}\n---\nsay: packed'], { tools: ['pack'] });
  const page = await visit(`${url}/jobs/${jobs[0]}?tab=logs`);
  const entries = panel(page).getByRole('list', { name: 'Entries' }).getByRole('listitem');
  await entries.filter({ hasText: 'no tape is left' }).getByText('pack', { exact: true }).waitFor();
  expect(await entries.count()).toBe(4);
  await panel(page).getByRole('combobox', { name: 'Level' }).click();
  await page.getByRole('option', { name: 'Errors', exact: true }).click();
  await expect.poll(() => entries.count()).toBe(1);
  await client.jobs.cancel(jobs[0] ?? '');
  await client.jobs.wait(jobs[0] ?? '');
  await panel(page).getByText('Updated while the job runs.').waitFor({ state: 'hidden' });
  await entries.filter({ hasText: 'no tape is left' }).waitFor();
});

test('a job is followed live by its overview, which says why it waits', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'asks', ['ask: Which page?\n---\nsay: thanks']);
  const page = await visit(`${url}/jobs/${jobs[0]}`);
  await fact(page, 'Reason').getByText('waits for an answer').waitFor();
  expect(await fact(page, 'Ended').innerText()).toBe('not yet');
  const [asked] = (await client.jobs.get(jobs[0] ?? '')).waiting_for;
  await client.tools.result(context.id, asked?.tool_call_id ?? '', { content: 'the first' });
  await panel(page).getByText('Completed').first().waitFor();
  await expect.poll(() => fact(page, 'Ended').innerText()).not.toBe('not yet');
});

test('a failed job is run again with its options, and the page goes to the new job', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'refused', []);
  const { job_id: id } = await client.contexts.send(context.id, { content: 'fail: auth', metadata: { ticket: 'B-1' } });
  expect((await client.jobs.wait(id)).status).toBe('failed');
  const page = await visit(`${url}/jobs/${id}`);
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.waitForURL((at) => at.pathname.startsWith('/jobs/') && !at.pathname.endsWith(id));
  const again = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  expect(await client.jobs.get(again)).toMatchObject({ kind: 'retry', metadata: { ticket: 'B-1' } });
  await panel(page).getByText('Retries on the current history').waitFor();
  // The first one is not the latest of its branch any more.
  await client.jobs.wait(again);
  await page.goto(`${url}/jobs/${id}`);
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByText('A later job began on branch main').waitFor();
  expect((await client.jobs.list({ context_id: context.id }).page()).data).toHaveLength(2);
});

test('a cancelled job is retried, on its own branch; it is not replayed if it was never started', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'cancelled', ['ask: Which page?\n---\nsay: thanks']);
  const { job_id: id } = await client.contexts.send(context.id, { content: 'say: never', after_s: 3_600 });
  await client.jobs.wait(jobs[0] ?? '', { until: 'waiting' });
  await client.jobs.cancel(id);
  const page = await visit(`${url}/jobs/${id}`);
  await page.getByText('Cancelled').first().waitFor();
  await page.getByRole('button', { name: 'Retry', exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Replay' }).count()).toBe(0);
  await client.jobs.cancel(jobs[0] ?? '');
  await client.jobs.wait(jobs[0] ?? '');
  await page.goto(`${url}/jobs/${jobs[0]}`);
  await page.getByRole('button', { name: 'Retry', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Replay', exact: true }).waitFor();
});

test('the model is that of the calls, not that of the worker; a job without a call says whose it is', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'models', ['say: one'], { model: 'simulated/before' });
  const id = jobs[0] ?? '';
  await client.jobs.wait(id);
  await client.contexts.update(context.id, { config: { model: 'simulated/after' } });
  const page = await visit(`${url}/jobs/${id}`);
  await expect.poll(() => fact(page, 'Model').innerText()).toBe('simulated/before');
  const { job_id: later } = await client.contexts.send(context.id, {
    content: 'say: later',
    after_s: 3_600,
  });
  await page.goto(`${url}/jobs/${later}`);
  await expect.poll(() => fact(page, 'Current model of the worker').innerText()).toBe('simulated/after');
});

test('another model is marked as what differs, and a later call does not replace the prompt that is read', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'another', ['say: one'], { model: 'simulated/one' });
  await client.jobs.wait(jobs[0] ?? '');
  await client.contexts.update(context.id, { config: { model: 'simulated/two' } });
  const { job_id: id } = await client.contexts.send(context.id, 'ask: Which page?\n---\nsay: thanks');
  await client.jobs.wait(id, { until: 'waiting' });
  const page = await visit(`${url}/jobs/${id}?tab=prompt`);
  await fact(page, 'Model').getByText('Differs from the request before').waitFor();
  expect(await page.getByText('Differs from the request before').count()).toBe(1);
  const [asked] = (await client.jobs.get(id)).waiting_for;
  await client.tools.result(context.id, asked?.tool_call_id ?? '', { content: 'the first' });
  await page.getByRole('button', { name: 'Newest call' }).waitFor();
  await panel(page).getByRole('combobox', { name: 'Model call' }).getByText('Call 1:').waitFor();
  await page.getByRole('button', { name: 'Newest call' }).click();
  await page.waitForURL('**call=2');
  await panel(page).getByRole('combobox', { name: 'Model call' }).getByText('Call 2:').waitFor();
  expect(await page.getByRole('button', { name: 'Newest call' }).count()).toBe(0);
});

test('who is not signed in comes to the linked tab after the sign-in', async () => {
  excuse(/401/);
  const { url } = platform();
  const { id } = await mailed();
  const page = await visit('about:blank', { alone: true });
  await page.context().clearCookies();
  await page.goto(`${url}/jobs/${id}?tab=steps`);
  await page.getByLabel('API key').fill(keyOf('job'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await step(page, 'send_mail').first().waitFor();
  expect(new URL(page.url()).search).toBe('?tab=steps');
});

test('the link of a tab and a command for a shell are copied; the command has no key', async () => {
  const { url } = platform();
  const { id, context } = await mailed();
  const page = await visit(`${url}/jobs/${id}?tab=steps`, { alone: true });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect.poll(copied).toBe(`${url}/jobs/${id}?tab=steps`);
  await page.getByRole('button', { name: 'Copy as cURL' }).click();
  await page.getByRole('menuitem', { name: 'Post the same input again' }).click();
  await page.getByText('Copied. Set NIGHTSHIFT_API_KEY').waitFor();
  const command = await copied();
  expect(command).toContain(`curl '${url}/api/contexts/${context.id}/messages'`);
  expect(command).toContain('Bearer $NIGHTSHIFT_API_KEY');
  expect(command).toContain('call: look_up');
  expect(command).not.toContain(keyOf('job'));
  await page.goto(`${url}/contexts/${context.id}`);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect.poll(copied).toBe(`${url}/contexts/${context.id}`);
});

test('copying begins before the input is read: later, some browsers refuse it', async () => {
  const { url } = platform();
  const { id } = await mailed();
  const page = await visit('about:blank', { alone: true });
  await page.addInitScript(`
    navigator.clipboard.write = ([item]) => {
      globalThis.hasBegun = true;
      return item.getType('text/plain').then((blob) => blob.text()).then((text) => void (globalThis.copied = text));
    };
  `);
  await page.route('**/messages/*', async (route) => {
    await page.waitForFunction('globalThis.hasBegun === true');
    await route.continue();
  });
  await page.goto(`${url}/jobs/${id}`);
  await page.getByRole('button', { name: 'Copy as cURL' }).click();
  await page.getByRole('menuitem', { name: 'Post the same input again' }).click();
  await page.getByText('Copied. Set NIGHTSHIFT_API_KEY').waitFor();
  expect(await page.evaluate('globalThis.copied')).toContain('call: look_up');
});

for (const { theme, size } of LOOKS) {
  test(`every tab is accessible and fits: ${theme}, ${size}`, async () => {
    const { url } = platform();
    const { id } = await mailed();
    const page = await visit(`${url}/jobs/${id}`, { theme, size });
    for (const name of TABS) {
      await page.goto(`${url}/jobs/${id}?tab=${name}`);
      await panel(page).waitFor();
      await expectAccessible(page);
      await expectFits(page);
    }
  });
}
