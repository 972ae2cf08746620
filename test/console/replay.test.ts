// The replay of a job with another model or prompt, and two jobs beside each other.
import type { Page } from 'playwright-core';
import { describe, expect, test as unitTest } from 'vitest';
import { readDraft } from '../../web/src/pages/job/replay/draft.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';
import { signIn } from './rig/sign-in.ts';

const platform = useTenant('replay');
const { visit, excuse } = useBrowser(platform);

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Replay with another model or prompt' });
const model = (page: Page) => dialog(page).getByRole('combobox', { name: 'Model' });
const open = (page: Page) => page.getByRole('button', { name: 'Replay', exact: true }).click();
const start = (page: Page) => dialog(page).getByRole('button', { name: 'Start replay' }).click();
const card = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

async function chooseTools(page: Page, mode: string): Promise<void> {
  await dialog(page).getByRole('combobox', { name: 'Tools' }).click();
  await page.getByRole('option', { name: mode }).click();
}

/** The job that the page compares with. */
async function comparedWith(page: Page): Promise<string> {
  await page.waitForURL('**compare=*');
  return new URL(page.url()).searchParams.get('compare') ?? '';
}

/** A job that looked a word up, and another one after it. */
async function answered() {
  const { client } = platform();
  const inputs = ['call: look_up {"word": "owl"}\n---\nsay: It is a bird.', 'say: later'];
  const { context, jobs } = await openContext(client, 'answered', inputs, { system_prompt: 'You are careful.' });
  for (const id of jobs) await client.jobs.wait(id);
  return { context, id: jobs[0] ?? '', later: jobs[1] ?? '' };
}

test('a replay is a fork that ends with the input; by default a person approves each of its calls', async () => {
  const { client, url } = platform();
  const { context, id } = await answered();
  const page = await visit(`${url}/jobs/${id}`);
  await open(page);
  await dialog(page).getByText('A replay is a real run').waitFor();
  await dialog(page).getByText('Each call waits in the inbox').waitFor();
  await expectAccessible(page);
  await model(page).fill('simulated/other');
  await dialog(page).getByRole('textbox', { name: 'System prompt' }).fill('You are bold.');
  await start(page);
  const other = await comparedWith(page);
  const waiting = await client.jobs.wait(other, { until: 'waiting' });
  expect(waiting.waiting_for).toMatchObject([{ kind: 'approval', name: 'look_up' }]);
  const fork = await client.contexts.get(waiting.context_id);
  expect(fork).toMatchObject({
    parent_id: context.id,
    title: `Replay of job ${id.slice(-6)}`,
    config: { model: 'simulated/other', system_prompt: 'You are bold.' },
  });
  expect(fork.config.approval).toEqual([
    { tool: 'ask_user', decision: 'never' },
    { tool: '*', decision: 'always' },
  ]);
  await card(page, 'Compared with').getByText('It waits.').waitFor();
  await page.getByText('Shown when both jobs have an output.').waitFor();

  await client.tools.approve(fork.id, { all: true, decision: 'approve' });
  await card(page, 'Compared with').getByText('It is a bird.').waitFor();
  await page.getByText('No differences.').waitFor();
  await card(page, 'Compared with').getByText('simulated/other').waitFor();
  await card(page, 'This job').getByText('simulated/test').waitFor();
  await page.getByRole('button', { name: 'Show differences' }).click();
  const prompts = page.getByRole('region', { name: 'Differences between the first prompts' });
  await prompts.locator('ins').getByText('bold').waitFor();
  await prompts.locator('del').getByText('careful').waitFor();
  const warning = page.getByText('a difference may be missing');
  expect(await warning.count()).toBe(0);
  await expectAccessible(page);
  const inputs = (await client.contexts.messages.list(fork.id).all()).filter(({ role }) => role === 'user');
  expect(inputs).toHaveLength(1);
  expect(await client.contexts.get(context.id)).toMatchObject({
    config: { model: 'simulated/test', system_prompt: 'You are careful.' },
    turn_count: 2,
  });
  // What was sent to the first job can no longer be shown.
  await client.contexts.update(context.id, { config: { system_prompt: 'You are slow.' } });
  await page.reload();
  await page.getByRole('button', { name: 'Show differences' }).click();
  await warning.waitFor();
});

test('a replay without tools offers none to the model, and one as before asks nothing', async () => {
  const { client, url } = platform();
  const { id, later } = await answered();
  const page = await visit(`${url}/jobs/${later}`);
  await open(page);
  await chooseTools(page, 'No tools');
  expect(await dialog(page).getByText('A replay is a real run').count()).toBe(0);
  await start(page);
  const without = await client.jobs.wait(await comparedWith(page));
  expect((await client.jobs.prompt(without.id, 1)).tools).toEqual([]);
  await page.goto(`${url}/jobs/${id}`);
  await open(page);
  await chooseTools(page, 'Same as before');
  await start(page);
  const other = await comparedWith(page);
  expect(await client.jobs.wait(other)).toMatchObject({ status: 'completed', output: { text: 'It is a bird.' } });
});

test('a replay keeps the schema of the answer, and the metadata', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'structured', []);
  const { job_id: id } = await client.contexts.send(context.id, {
    content: 'say: {"name": "owl"}',
    output_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    metadata: { ticket: 'A-17' },
  });
  await client.jobs.wait(id);
  const page = await visit(`${url}/jobs/${id}`);
  await open(page);
  await start(page);
  const other = await client.jobs.wait(await comparedWith(page));
  expect(other).toMatchObject({ metadata: { ticket: 'A-17' }, output: { data: { name: 'owl' } } });
});

test('a replay that cannot start says why, and leaves no fork', async () => {
  excuse(/422|400/);
  const { client, url } = platform();
  const { context, id } = await answered();
  const page = await visit(`${url}/jobs/${id}`);
  await open(page);
  await dialog(page).getByRole('textbox', { name: 'Parameters' }).fill('[');
  await dialog(page).getByText('Enter a JSON object.').waitFor();
  await dialog(page).getByRole('button', { name: 'Start replay' }).and(page.locator(':disabled')).waitFor();
  await dialog(page).getByRole('textbox', { name: 'Parameters' }).fill('');
  await model(page).fill('openai/gpt-5');
  await start(page);
  await dialog(page).getByRole('alert').getByText('openai').waitFor();
  const forks = (await client.contexts.list().all()).filter(({ parent_id: parent }) => parent === context.id);
  expect(forks).toEqual([]);
});

test('any two jobs are compared by an address, line by line', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'two', ['say: "one\\ntwo words\\nthree"']);
  const { job_id: other } = await client.contexts.send(context.id, 'say: "one\\ntwo other words\\nthree"');
  for (const id of [jobs[0] ?? '', other]) await client.jobs.wait(id);
  const page = await visit(`${url}/jobs/${jobs[0]}?compare=${other}`);
  const diff = page.getByRole('region', { name: 'Differences between the outputs' });
  await diff.locator('ins').getByText('other').waitFor();
  expect(await diff.locator('del').count()).toBe(0);
  await expectAccessible(page);
  await page.goto(`${url}/jobs/${jobs[0]}?compare=00000000-0000-7000-8000-000000000000`);
  excuse(/404/);
  await page.getByText('Could not load the data').waitFor();
  await page.getByRole('link', { name: 'Close comparison' }).click();
  await page.waitForURL((at) => at.search === '');
});

test('a comparison with a job that ended without an output does not wait for one', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'no output', ['fail: auth']);
  await client.jobs.wait(jobs[0] ?? '');
  const { job_id: other } = await client.contexts.send(context.id, 'ask: Which page?');
  await client.jobs.wait(other, { until: 'waiting' });
  const page = await visit(`${url}/jobs/${jobs[0]}?compare=${other}`);
  await page.getByText('one of the jobs has ended without an output').waitFor();
});

test('a replay whose answer is lost links to its context, and starts once when it is tried again', async () => {
  excuse(/ERR_|Failed to fetch|net::|500/);
  const { client, url } = platform();
  const { context, later } = await answered();
  const page = await visit(`${url}/jobs/${later}`);
  let lost = 0;
  await page.route('**/api/contexts/*/jobs', async (route) => {
    lost += 1;
    if (lost > 1) return route.continue();
    await route.fetch();
    return route.fulfill({ status: 500, contentType: 'text/plain', body: 'lost' });
  });
  await open(page);
  await start(page);
  await dialog(page).getByText('The replay may have started.').waitFor();
  const link = dialog(page).getByRole('link', { name: 'Open the chat of the replay' });
  const forkId = (await link.getAttribute('href'))?.split('/').at(-1) ?? '';
  expect(await model(page).isDisabled()).toBe(true);
  await expectAccessible(page);
  await dialog(page).getByRole('button', { name: 'Try again' }).click();
  const other = await client.jobs.wait(await comparedWith(page));
  expect(other.context_id).toBe(forkId);
  expect((await client.jobs.list({ context_id: forkId }).page()).data).toHaveLength(1);
  const forks = (await client.contexts.list().all()).filter(({ parent_id: parent }) => parent === context.id);
  expect(forks.map(({ id: one }) => one)).toEqual([forkId]);
});

test('a replay of an input that was retracted says so', async () => {
  excuse(/400|404|422/);
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'retracted', ['ask: Which page?']);
  await client.jobs.wait(jobs[0] ?? '', { until: 'waiting' });
  await client.contexts.interrupt(context.id, { mode: 'rollback' });
  await client.jobs.wait(jobs[0] ?? '');
  const page = await visit(`${url}/jobs/${jobs[0]}`);
  await open(page);
  await start(page);
  await dialog(page).getByText('no longer in the history of its context').waitFor();
});

test('who may not change settings gets no replay', async () => {
  const { client, url } = platform();
  const { id } = await answered();
  const { key } = await client.keys.create({ name: 'member', scopes: ['read', 'run'] });
  const page = await visit('about:blank', { alone: true });
  await page.context().addCookies([await signIn(url, key)]);
  await page.goto(`${url}/jobs/${id}`);
  await page.getByRole('button', { name: 'Copy as cURL' }).waitFor();
  expect(await page.getByRole('button', { name: 'Replay' }).count()).toBe(0);
});

for (const { theme, size } of LOOKS) {
  test(`a comparison is accessible and fits: ${theme}, ${size}`, async () => {
    const { url } = platform();
    const { id, later } = await answered();
    const page = await visit(`${url}/jobs/${id}?compare=${later}`, { theme, size });
    await page.getByRole('region', { name: 'Differences between the outputs' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await open(page);
    await model(page).waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}

describe('the form of a replay', () => {
  const draft = { model: ' a/b ', systemPrompt: 'Be.', parameters: '{"top_p": 1}' };

  unitTest('is read as it is shown', () => {
    const wanted = { model: 'a/b', systemPrompt: 'Be.', parameters: { top_p: 1 } };
    expect(readDraft(draft)).toEqual({ wanted, fault: null });
    expect(readDraft({ ...draft, parameters: ' ' }).wanted?.parameters).toEqual({});
  });

  unitTest('is not sent without a model, or with parameters that are no object', () => {
    expect(readDraft({ ...draft, model: ' ' }).wanted).toBeNull();
    expect(readDraft({ ...draft, parameters: '[]' })).toEqual({ wanted: null, fault: 'Enter a JSON object.' });
  });
});
