// Current work: the tree of a worker, and the timeline of a job.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { depth } from '../services/depth.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('work');
const { visit } = useBrowser(platform);

/** A worker that waits for one below it, which asks a question. */
async function family(): Promise<{ top: string; contextId: string }> {
  const { client } = platform();
  const config = { model: 'simulated/lead', tools: ['spawn_worker', 'ask_user'] };
  const worker = await client.workers.create({ name: 'lead', config });
  const spawn = { name: 'reader', input: 'ask: Which page?', tools: ['ask_user'] };
  await client.contexts.send(worker.context_id, `call: spawn_worker ${JSON.stringify(spawn)}\n---\nsay: read`);
  return { top: worker.id, contextId: worker.context_id };
}

const step = (page: Page, name: string) => page.getByRole('list', { name: 'Steps' }).getByRole('button', { name });
const item = (page: Page, name: string) => page.getByRole('treeitem', { name });
const isFocused = (page: Page, name: string) =>
  item(page, name).and(page.locator(':focus')).waitFor({ state: 'visible' });

test('a tree shows which worker is below which, and is used by keys', async () => {
  const { top } = await family();
  const page = await visit(`${platform().url}/workers/${top}/tree`);
  await item(page, 'reader').getByText('Waiting').waitFor();
  await item(page, 'lead').getByText('Waiting').waitFor();
  await expectAccessible(page);
  await item(page, 'lead').focus();
  await page.keyboard.press('ArrowDown');
  await isFocused(page, 'reader');
  await page.keyboard.press('ArrowLeft');
  await isFocused(page, 'lead');
  await page.keyboard.press('ArrowLeft');
  await item(page, 'reader').waitFor({ state: 'hidden' });
  expect(await item(page, 'lead').getAttribute('aria-expanded')).toBe('false');
  await page.keyboard.press('ArrowRight');
  await item(page, 'reader').waitFor();
  await page.keyboard.press('End');
  await isFocused(page, 'reader');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'reader' }).waitFor();
});

test('a job is cancelled from the tree, which shows its end', async () => {
  const { top, contextId } = await family();
  const page = await visit(`${platform().url}/workers/${top}/tree`);
  await item(page, 'reader').click();
  await page.getByRole('heading', { level: 2, name: 'reader' }).waitFor();
  await page.getByRole('button', { name: 'Cancel jobs of subtree …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel the jobs of reader and all workers below?' });
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Cancel jobs' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await item(page, 'reader').getByText('Idle').waitFor();
  await item(page, 'lead').getByText('Idle').waitFor();
  expect(await platform().client.contexts.get(contextId)).toMatchObject({ state: 'Idle' });

  await item(page, 'lead').click();
  await page.getByRole('button', { name: 'Stop subtree' }).click();
  await item(page, 'reader').getByText('Stopped').waitFor();
  await page.getByRole('button', { name: 'Start subtree' }).click();
  await item(page, 'reader').getByText('Idle').waitFor();
});

test('the panel of a worker follows its state, and asks again for its place in a queue while it works', async () => {
  const { client, url } = platform();
  const { top } = await family();
  const page = await visit(`${url}/workers/${top}/tree`);
  await item(page, 'reader').getByText('Waiting').waitFor();
  await item(page, 'reader').click();
  const panel = page.getByText('The job waits for an answer to a question');
  await panel.waitFor();
  const asksAgain = () => page.waitForRequest((request) => request.url().endsWith('/state'), { timeout: 20_000 });
  for (let time = 0; time < 3; time += 1) await asksAgain();

  const [reader] = (await client.workers.list({ parent_worker_id: top }).page()).data;
  const [question] = (await client.approvals.list().page()).data.filter(({ worker_id: id }) => id === reader?.id);
  await client.tools.result(question?.context_id ?? '', question?.tool_call_id ?? '', { content: 'the first' });
  await panel.waitFor({ state: 'detached', timeout: 20_000 });
});

test('the hidden part of a large tree is loaded when it is opened', async () => {
  const { client, url } = platform();
  const make = (name: string, parent_worker_id: string | null) =>
    client.workers.create({ name, config: { model: 'simulated/test' }, parent_worker_id });
  const top = await make('chief', null);
  const lead = await make('foreman', top.id);
  for (let at = 1; at < 120; at += 1) await make(`clerk-${at}.`, top.id);
  for (let at = 0; at < 90; at += 1) await make(`hand-${at}.`, lead.id);
  const page = await visit(`${url}/workers/${top.id}/tree`);
  await page.getByText('200 or more workers').waitFor();
  const hands = item(page, 'hand-');
  // Some of them are shown, and so it is open; the others are behind the same key.
  expect(await hands.first().getAttribute('aria-setsize')).toBe('79');
  expect(await item(page, 'foreman').getAttribute('aria-expanded')).toBe('true');
  await item(page, 'chief').focus();
  await page.keyboard.press('ArrowRight');
  await isFocused(page, 'foreman');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => hands.first().getAttribute('aria-setsize')).toBe('90');
  // Closed, so that those after it come into the document.
  await page.keyboard.press('ArrowLeft');
  await hands.first().waitFor({ state: 'detached' });
  // It was not known whether there is a worker below; now it is known that there is none.
  expect(await item(page, 'clerk-7.').getAttribute('aria-expanded')).toBe('false');
  await item(page, 'clerk-7.').click();
  await page.keyboard.press('ArrowRight');
  await item(page, 'clerk-7.').and(page.locator(':not([aria-expanded])')).waitFor();
  await expectAccessible(page);
});

test('a timeline shows a tool and a wait, and continues with the job', async () => {
  const { client, url } = platform();
  const worker = await client.workers.create({ name: 'clerk', role: 'clerk' });
  const input = [
    'call: look_up {"word": "owl"}',
    '---',
    'call: send_mail {"to": "ada", "text": "an owl"}',
    '---',
    'say: it is sent',
  ].join('\n');
  const { job_id: jobId } = await client.contexts.send(worker.context_id, input);
  const page = await visit(`${url}/jobs/${jobId}?tab=timeline`);
  const row = (name: string) => step(page, name);
  await row('look_up').waitFor();
  await row('send_mail').getByText('Waiting for approval').waitFor();
  await row('send_mail').click();
  await page.getByRole('list', { name: 'Steps' }).getByRole('definition').getByText('Waiting').waitFor();
  await expectAccessible(page);
  await client.tools.approve(worker.context_id, {
    all: true,
    decision: 'approve',
    reason: 'She asked for it.',
  });
  await page.getByText('Approved: She asked for it.').waitFor();
  await page.getByRole('button', { name: 'Cancel job …', exact: true }).waitFor({ state: 'hidden' });

  // The call without a wait is a small part of the whole.
  const whole = page.getByRole('button', { name: 'Show all' });
  await whole.and(page.locator(':disabled')).waitFor();
  await row('look_up').click();
  await page.getByRole('button', { name: 'Zoom to row' }).click();
  await whole.and(page.locator(':enabled')).waitFor();
  await row('look_up').press('0');
  await whole.and(page.locator(':disabled')).waitFor();

  await page.getByRole('tab', { name: 'Table' }).click();
  const shown = page.getByRole('row', { name: /send_mail/ });
  await shown.getByText('Completed').waitFor();
  await shown.getByText('Waiting for approval').waitFor();
  await expectAccessible(page);
});

test('a model call shows its request, and where its prompt stopped being a continuation of the one before', async () => {
  const { client } = platform();
  const config = { model: 'simulated/prompt', system_prompt: 'You are <b>careful</b>.' };
  const worker = await client.workers.create({ name: 'sent', config });
  const first = await client.contexts.send(worker.context_id, 'say: one');
  await client.jobs.wait(first.job_id);
  await client.workers.update(worker.id, { config: { ...config, system_prompt: 'You are bold.' } });
  const second = await client.contexts.send(worker.context_id, 'say: two');
  await client.jobs.wait(second.job_id);
  const page = await visit(`${platform().url}/jobs/${second.job_id}?tab=timeline`);
  await step(page, 'simulated/prompt').click();
  await page.getByText('Lost at the system prompt or the pinned texts').waitFor();
  await page.getByRole('link', { name: 'Show prompt' }).click();
  await page.waitForURL('**?tab=prompt&call=1');
  await page.getByText('You are bold.').first().waitFor();
  await page.getByText('say: two').first().waitFor();
  expect(await page.getByText('Changed since the call').count()).toBe(0);
  await expectAccessible(page);
  const earlier = await visit(`${platform().url}/jobs/${first.job_id}?tab=timeline`);
  await step(earlier, 'simulated/prompt').click();
  await earlier.getByRole('link', { name: 'Show prompt' }).click();
  await earlier.getByText('Changed since the call: system prompt and pinned texts.').waitFor();
  await expectFits(earlier);
});

test('a timeline shows what a call waits for; the bar of a worker below links to its own', async () => {
  const { client, url } = platform();
  const { contextId } = await family();
  const [job] = (await client.jobs.list({ context_id: contextId }).page()).data;
  const page = await visit(`${url}/jobs/${job?.id ?? ''}?tab=timeline`);
  await step(page, 'spawn_worker').getByText('Waiting for workers').waitFor();
  await step(page, 'reader').getByText('Waiting').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Timeline of reader' }).click();
  await step(page, 'ask_user').getByText('Waiting for an answer').waitFor();
  const below = (await client.jobs.list({ parent_job_id: job?.id ?? '' }).page()).data[0];
  const [question] = below?.waiting_for ?? [];
  await client.tools.result(below?.context_id ?? '', question?.tool_call_id ?? '', { content: 'this' });
  await page.getByRole('link', { name: 'Parent job' }).click();
  await step(page, 'reader').first().waitFor();
  await step(page, 'spawn_worker').getByText('Waiting for workers').waitFor({ state: 'hidden' });
  await page.getByRole('tab', { name: 'Table' }).click();
  await page
    .getByRole('row', { name: /spawn_worker/ })
    .getByText('Waiting for workers')
    .waitFor();
});

for (const theme of depth(['dark'] as const, ['light', 'dark'] as const)) {
  test(`tree and timeline fit a phone, ${theme}`, async () => {
    const { client, url } = platform();
    const { top, contextId } = await family();
    const page = await visit(`${url}/workers/${top}/tree`, { size: 'phone', theme });
    await item(page, 'reader').waitFor();
    await expectAccessible(page);
    await expectFits(page);
    const [job] = (await client.jobs.list({ context_id: contextId }).page()).data;
    await page.goto(`${url}/jobs/${job?.id ?? ''}?tab=timeline`);
    await step(page, 'spawn_worker').waitFor();
    await page.getByRole('link', { name: 'Timeline of reader' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
