// Answers that were stopped or refused stay in the chat, greyed, with who stopped them and when; inputs that joined a
// running job are marked; a failed chat leads to the timeline of its job.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, settled, useBrowser } from './rig/browser.ts';
import { answer, longer, partial } from './rig/conversation.ts';
import { useTenant } from './rig/platform.ts';
import { signIn } from './rig/sign-in.ts';
import { field, send } from './rig/writing.ts';

const platform = useTenant('stopped-answers');
const { visit } = useBrowser(platform);

const retracted = (page: Page) => page.getByRole('article', { name: 'Retracted answer' });
const inputs = (page: Page) => page.getByRole('article', { name: 'Input', exact: true });
const stopButton = (page: Page) => page.getByRole('button', { name: 'Stop', exact: true });
/** The key of the tenant is one of the environment. */
const STOPPED = /Stopped by a browser with the environment key \w+, \d\d:\d\d/;
const WRITING = 'tokens: 20000 over 900s';

async function open(): Promise<{ page: Page; id: string; address: string }> {
  const { client, url } = platform();
  const { id } = await client.contexts.create({ title: 'a desk', worker: { name: 'desk', role: 'clerk' } });
  const address = `${url}/contexts/${id}`;
  const page = await visit(address, { hurried: true });
  await field(page).waitFor();
  return { page, id, address };
}

/** Sends an input, and stops its answer. Returns what the page showed of it. */
async function stopAnswer(page: Page, stop: () => Promise<void> = () => stopButton(page).click()): Promise<string> {
  await send(page, WRITING);
  const shown = await longer(partial(page), 40);
  await stop();
  await partial(page).waitFor({ state: 'hidden' });
  return shown.slice(0, 40);
}

async function stopBy(page: Page, option: string): Promise<void> {
  // Once the page knows the job, the menu is another one.
  await page.getByRole('group', { name: 'State' }).getByRole('link', { name: 'Timeline' }).waitFor();
  await page.getByRole('button', { name: 'Stop options' }).click();
  await page.getByRole('menuitem', { name: option }).click();
}

test('a stopped answer stays where it was, with who stopped it: in each tab, after a reload, and in a fork', async () => {
  const { page, id, address } = await open();
  const other = await page.context().newPage();
  await other.goto(address);
  await field(other).waitFor();
  const shown = await stopAnswer(page);
  await page.reload();
  for (const tab of [page, other]) {
    await retracted(tab).getByText(STOPPED).waitFor();
    expect(await retracted(tab).textContent()).toContain(shown);
  }
  // It does not count as an answer, and the conversation goes on after it.
  await send(other, 'say: and now');
  for (const tab of [page, other]) await answer(tab, 'and now').waitFor();
  const articles = await page.getByRole('article').evaluateAll((all) => all.map((one) => one.ariaLabel));
  expect(articles).toEqual(['Input', 'Retracted answer', 'Input', 'Answer']);
  const messages = await platform().client.contexts.messages.list(id).all();
  expect(messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
  await answer(page, 'and now').getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name: 'Fork into a new context' }).click();
  await page.waitForURL((url) => !url.href.startsWith(address));
  await answer(page, 'and now').waitFor();
  await retracted(page).getByText(STOPPED).waitFor();
  expect(await retracted(page).textContent()).toContain(shown);
});

test('the names of keys are not read again for each message that was stopped', async () => {
  const { client, url } = platform();
  const { key } = await client.keys.create({ name: 'desk', scopes: ['read', 'run', 'configure', 'approve', 'keys'] });
  const { page, address } = await open();
  await page.context().addCookies([await signIn(url, key)]);
  await page.reload();
  await stopAnswer(page);
  const stopped = retracted(page).getByText('Stopped by a browser with the API key desk');
  await stopped.waitFor();
  const reads: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === '/api/keys') reads.push(pathname);
  });
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Inbox' }).click();
  await retracted(page).waitFor({ state: 'detached' });
  // Longer than what is shown counts as new elsewhere.
  await page.waitForTimeout(2_100);
  await page.goBack();
  await page.waitForURL(address);
  await stopped.waitFor();
  await settled(page);
  expect(reads).toEqual([]);
});

test.each(['Stop and discard the answer', 'Stop and discard answer and input', 'Cancel job'])(
  '%s: what was shown stays, greyed',
  async (option) => {
    const { page } = await open();
    const shown = await stopAnswer(page, () => stopBy(page, option));
    await retracted(page).getByText(STOPPED).waitFor();
    expect(await retracted(page).textContent()).toContain(shown);
    const isRolledBack = option.includes('input');
    await page.getByRole('article', { name: isRolledBack ? 'Retracted input' : 'Input', exact: true }).waitFor();
    if (isRolledBack) await page.getByRole('article', { name: 'Retracted input' }).getByText(STOPPED).waitFor();
  },
);

test('an answer that calls tools stays with its calls when it is discarded', async () => {
  const { page } = await open();
  await send(page, `say: I look it up\ncall: look_up {"word": "a"}\n---\n${WRITING}`);
  await answer(page, 'I look it up').waitFor();
  await longer(partial(page), 20);
  await stopBy(page, 'Stop and discard the answer');
  await expect.poll(() => retracted(page).count()).toBe(2);
  await retracted(page).filter({ hasText: 'I look it up' }).getByRole('region', { name: 'Tool look_up' }).waitFor();
  await answer(page, 'I look it up').waitFor({ state: 'hidden' });
});

test('a refused answer stays, and its failed chat leads to the timeline of its job', async () => {
  const { page, id } = await open();
  await send(page, 'say: Well, first you take\nfail: refused');
  await retracted(page)
    .getByText(/Refused by the model, \d\d:\d\d/)
    .waitFor();
  await retracted(page).getByText('Well, first you take').waitFor();
  const [job] = await platform().client.jobs.list({ context_id: id }).all();
  const line = page.getByRole('group', { name: 'State' });
  await line.getByText('The last job failed').waitFor();
  await line.getByRole('link', { name: 'Timeline' }).click();
  await page.waitForURL(new RegExp(`/jobs/${job?.id}`));
  await page.getByRole('listitem').filter({ hasText: 'simulated/' }).getByText('Failed').waitFor();
});

test('a stopped call keeps its bar in the timeline, in grey; its answer leads there', async () => {
  const { page } = await open();
  await stopAnswer(page);
  await retracted(page).getByRole('link', { name: 'Timeline' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'simulated/' });
  await row.getByText('Cancelled').waitFor();
  const bar = `document.querySelector('[data-status="cancelled"] [style*="width"]')`;
  expect(await page.evaluate<string>(`getComputedStyle(${bar}).filter`)).toBe('grayscale(1)');
  await row.getByRole('button').hover();
  await page
    .getByRole('tooltip')
    .getByText(/Model output: \d/)
    .waitFor();
});

test('an input that joined a running job is marked', async () => {
  const { page } = await open();
  await send(page, 'ask: Go on? [yes | no]');
  const question = page.getByRole('region', { name: 'Tool ask_user' });
  await question.getByRole('button', { name: 'yes' }).waitFor();
  await page.getByRole('combobox', { name: 'Delivery' }).click();
  await page.getByRole('option', { name: /^Steer/ }).click();
  await send(page, 'say: steered');
  await page.getByRole('region', { name: 'Queued inputs' }).getByText('say: steered').waitFor();
  await question.getByRole('button', { name: 'yes' }).click();
  await answer(page, 'steered').waitFor();
  await inputs(page).filter({ hasText: 'say: steered' }).getByText('Steered', { exact: true }).waitFor();
  expect(await inputs(page).getByText('Steered', { exact: true }).count()).toBe(1);
});

for (const { theme, size } of LOOKS) {
  test(`a stopped answer is accessible and fits: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    const { id } = await client.contexts.create({ title: 'looks', worker: { name: 'looks', role: 'clerk' } });
    const { job_id: jobId } = await client.contexts.send(id, `say: "**Bold** and \`code\`"\n${WRITING}`);
    const page = await visit(`${url}/contexts/${id}`, { theme, size });
    await longer(partial(page), 40);
    await client.jobs.cancel(jobId);
    await retracted(page).waitFor();
    await settled(page);
    await expectAccessible(page);
    await expectFits(page);
  });
}
