// Going to a date in a chat: the calendar, the keys, the days between messages.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('jump');
const { visit } = useBrowser(platform);

/** A context of so many messages, two at noon (UTC) of each day from the first of 2005 on. */
async function ofDays(count: number): Promise<string> {
  const { client } = platform();
  const entries = Array.from({ length: count / 2 }, (_, at) => ({ user: `question ${at}`, assistant: `answer ${at}` }));
  const paired = await client.contexts.import({ title: 'days', entries });
  const exported = await client.contexts.export(paired.id);
  if (typeof exported === 'string' || !('format' in exported)) throw new Error('It is an export as JSON.');
  const begin = Date.UTC(2005, 0, 1, 12);
  const dated = exported.entries.map((entry, n) => {
    const at = new Date(begin + Math.floor(n / 2) * 86_400_000 + (n % 2) * 60_000).toISOString();
    return { ...entry, created_at: at, completed_at: at };
  });
  return (await client.contexts.import({ ...exported, entries: dated })).id;
}

const text = (page: Page, of: string) => page.getByRole('log').getByText(of, { exact: true });

/** The chat begins in its input field, which Escape leaves. */
async function openByKey(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
}

test('a day among 10,000 messages is found by key, with few requests, and Newest leads back', async () => {
  const id = await ofDays(10_000);
  const page = await visit(`${platform().url}/contexts/${id}`);
  await text(page, 'answer 4999').waitFor();
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith('/messages')) asked.push(search);
  });
  await openByKey(page);
  const dialog = page.getByRole('dialog', { name: 'Go to a date' });
  await dialog.getByText('The messages of this branch are from Jan 1, 2005 to Sep 9, 2018.').waitFor();
  const day = dialog.getByLabel('Day');
  expect([await day.getAttribute('min'), await day.getAttribute('max')]).toEqual(['2005-01-01', '2018-09-09']);
  // Ten days after the first.
  await day.fill('2005-01-11');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await text(page, 'question 10').waitFor();
  await page.getByRole('separator', { name: 'Jan 11, 2005' }).waitFor();
  // The two ends, the day, and what is around it, also as far as the view reaches.
  expect(asked.length).toBeLessThan(10);
  expect(new URL(page.url()).searchParams.get('message')).not.toBeNull();
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await text(page, 'answer 4999').waitFor();
  // The same day once more.
  await openByKey(page);
  await day.fill('2005-01-11');
  await dialog.getByRole('button', { name: 'Go to the day' }).click();
  await text(page, 'question 10').waitFor();
  await page.getByRole('button', { name: 'Context actions' }).click();
  await page.getByRole('menuitem', { name: 'Go to a date …' }).click();
  await dialog.getByRole('button', { name: 'Newest' }).click();
  await text(page, 'answer 4999').waitFor();
});

test('the first message is one press away, and a context without messages says so', async () => {
  const { client, url } = platform();
  const id = await ofDays(400);
  const page = await visit(`${url}/contexts/${id}`);
  await text(page, 'answer 199').waitFor();
  await openByKey(page);
  await page.getByRole('button', { name: 'First message' }).click();
  await text(page, 'question 0').waitFor();
  const empty = await client.contexts.create({ title: 'empty', config: { model: 'simulated/test' } });
  await page.goto(`${url}/contexts/${empty.id}`);
  await page.getByRole('button', { name: 'Context actions' }).waitFor();
  await openByKey(page);
  await page.getByText('There are no messages yet.').waitFor();
});

for (const look of LOOKS) {
  test(`it is accessible, and fits: ${look.theme}, ${look.size}`, async () => {
    const id = await ofDays(40);
    const page = await visit(`${platform().url}/contexts/${id}`, look);
    await page.getByRole('separator', { name: 'Jan 20, 2005' }).waitFor();
    await expectAccessible(page);
    await openByKey(page);
    await page.getByText('The messages of this branch are from').waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
