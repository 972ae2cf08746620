// The inbox: what waits for a person is answered in place, and what somebody else answered is gone.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, expectFits, useBrowser } from './browser.ts';
import { usePlatform } from './platform.ts';
import { openContext, waitingFor } from './scenes.ts';

const { visit } = useBrowser();
const platform = usePlatform();

const mailTo = (to: string): string =>
  `call: send_mail {"to": "${to}", "text": "hello"}\n---\nsay: done with ${to}`;
const card = (page: Page, title: string) => page.getByRole('article').filter({ hasText: title });

async function waiting(count: number): Promise<void> {
  await waitingFor(platform().client, count);
}

test('approves, denies with a reason, and runs with what a person wrote', async () => {
  const { client, url, outside } = platform();
  const one = await openContext(client, 'mail for ann', [mailTo('ann')]);
  const two = await openContext(client, 'mail for bob', [mailTo('bob')]);
  await waiting(2);
  // Jobs run side by side: the newest is the one that asked last.
  const three = await openContext(client, 'mail for cid', [mailTo('cid')]);
  await waiting(3);
  const page = await visit(`${url}/inbox`);
  await page.getByRole('link', { name: 'Inbox' }).getByLabel('3 waiting').waitFor();
  // The newest first.
  await page.getByRole('article').first().filter({ hasText: 'mail for cid' }).waitFor();
  await card(page, 'mail for ann').getByRole('button', { name: 'Approve' }).click();
  await card(page, 'mail for ann').waitFor({ state: 'detached' });
  await card(page, 'mail for bob').getByRole('button', { name: 'Deny' }).click();
  await card(page, 'mail for bob').getByLabel('Reason').fill('not on Fridays');
  await card(page, 'mail for bob').getByLabel('Reason').press('Enter');
  await card(page, 'mail for bob').waitFor({ state: 'detached' });
  await card(page, 'mail for cid').getByRole('button', { name: 'Edit the arguments' }).click();
  await card(page, 'mail for cid').getByLabel('Run it with').fill('{"to": "dan", "text": "edited"}');
  await card(page, 'mail for cid').getByRole('button', { name: 'Approve with this' }).click();
  await page.getByText('Nothing waits for you').waitFor();
  for (const { jobs } of [one, two, three]) await client.jobs.wait(jobs[0] ?? '');
  const lines = readFileSync(outside, 'utf8').split('\n');
  expect(lines.filter((line) => line !== '').toSorted()).toEqual(['ann: hello', 'dan: edited']);
  const told = await client.contexts.messages.list(two.context.id).all();
  expect(JSON.stringify(told)).toContain('not on Fridays');
});

test('answers a question by its choices, and gives the result of a client’s tool', async () => {
  const { client, url } = platform();
  const asked = await openContext(client, 'a question', ['ask: Which one? [red | blue]']);
  const { context, jobs } = await openContext(client, 'a sensor', ['call: read_sensor {"room": "hall"}'], {
    client_tools: [{ name: 'read_sensor', description: 'Reads.', input_schema: { type: 'object' } }],
  });
  await waiting(2);
  const page = await visit(`${url}/inbox`);
  await card(page, 'a sensor').waitFor();
  await page.getByRole('button', { name: 'Questions' }).click();
  await page.waitForURL('**/inbox?kind=question');
  await card(page, 'a sensor').waitFor({ state: 'detached' });
  await card(page, 'Which one?').getByRole('button', { name: 'blue' }).click();
  await page.getByText('Nothing of this kind waits for you').waitFor();
  await page.getByRole('button', { name: 'All' }).click();
  await card(page, 'a sensor').getByLabel('What the tool gave').fill('21 degrees');
  await card(page, 'a sensor').getByRole('button', { name: 'Give the result' }).click();
  await page.getByText('Nothing waits for you').waitFor();
  await client.jobs.wait(asked.jobs[0] ?? '');
  await client.jobs.wait(jobs[0] ?? '');
  expect(JSON.stringify(await client.contexts.messages.list(asked.context.id).all())).toContain('blue');
  expect(JSON.stringify(await client.contexts.messages.list(context.id).all())).toContain('21 degrees');
});

test('says so when somebody else was faster, and leads to the conversation', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'mail for eve', [mailTo('eve')]);
  await waiting(1);
  const page = await visit(`${url}/inbox`);
  await card(page, 'mail for eve').waitFor();
  const link = card(page, 'mail for eve').getByRole('link', { name: 'mail for eve' });
  expect(await link.getAttribute('href')).toBe(`/contexts/${context.id}`);
  await client.tools.approve(context.id, { all: true, decision: 'deny' });
  await page.getByText('send_mail does not wait any more').waitFor();
  await page.getByText('Nothing waits for you').waitFor();
});

test('a call whose outcome nobody knows is settled', async () => {
  const { client, url, kill, restart } = platform();
  const { context, jobs } = await openContext(client, 'a transfer', [
    'call: wire_money {"amount": 5}\n---\nsay: settled',
  ]);
  const events = client.contexts.events(context.id, {
    after: 0,
    until: ({ event }) => event === 'ToolCallStarted',
  });
  for await (const _ of events);
  await kill();
  await restart();
  await waiting(1);
  const page = await visit(`${url}/inbox`);
  await card(page, 'a transfer').getByLabel('Its result, if it happened').fill('receipt 77');
  await card(page, 'a transfer').getByRole('button', { name: 'It happened' }).click();
  await page.getByText('Nothing waits for you').waitFor();
  await client.jobs.wait(jobs[0] ?? '');
  expect(JSON.stringify(await client.contexts.messages.list(context.id).all())).toContain('receipt 77');
});

for (const theme of ['light', 'dark'] as const) {
  test(`is accessible with all that can wait, and fits a phone: ${theme}`, async () => {
    const { client, url } = platform();
    if (theme === 'light') {
      await openContext(client, 'mail for fay', [mailTo('fay')]);
      await openContext(client, 'another question', ['ask: Which **one**? [red | blue]']);
    }
    await waiting(2);
    for (const size of ['desktop', 'phone'] as const) {
      const page = await visit(`${url}/inbox`, { theme, size });
      await card(page, 'mail for fay').getByRole('button', { name: 'Deny' }).click();
      await card(page, 'another question').getByRole('button', { name: 'red' }).waitFor();
      await expectAccessible(page);
      await expectFits(page);
    }
  });
}
