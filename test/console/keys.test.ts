// The keyboard: calls that wait are answered by keys, the composer is left by Escape, and the focus is never lost.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { card as toolCard, log } from './rig/conversation.ts';
import { useTenant } from './rig/platform.ts';
import { pressSequence } from './rig/press.ts';
import { ENDLESS, openContext, waitingFor } from './rig/scenes.ts';

const platform = useTenant('keys');
const { visit } = useBrowser(platform);

const mailTo = (to: string): string => `call: send_mail {"to": "${to}", "text": "hello"}\n---\nsay: done with ${to}`;
const card = (page: Page, title: string) => page.getByRole('article').filter({ hasText: title });
const focused = (page: Page) => page.locator(':focus');
const waits = async (): Promise<number> => (await platform().client.approvals.list().page()).data.length;

test('in the inbox j and k go to cards without a focus first, and keys decide the focused card only', async () => {
  const { client, url, effectsOf } = platform();
  const older = await openContext(client, 'mail for ann', [mailTo('ann')]);
  await waitingFor(client, 1);
  const newer = await openContext(client, 'mail for bob', [mailTo('bob')]);
  await waitingFor(client, 2);
  const page = await visit(`${url}/inbox`, { hurried: true });
  const [ann, bob] = [card(page, 'mail for ann'), card(page, 'mail for bob')];
  await ann.getByRole('button', { name: 'Approve' }).waitFor();
  await bob.getByRole('button', { name: 'Approve' }).waitFor();

  // Without a focused card the key approves nothing, and neither does one that is held down while a card gets the focus.
  await page.keyboard.down('a');
  await page.keyboard.press('j');
  await bob.and(focused(page)).waitFor();
  await page.keyboard.down('a');
  await page.keyboard.up('a');
  expect(await page.getByText('Approved', { exact: true }).count()).toBe(0);
  await page.keyboard.press('j');
  await ann.and(focused(page)).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('k');
  await bob.and(focused(page)).waitFor();

  // The second key of a sequence belongs to it.
  await pressSequence(page, 'g', 'd');
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
  expect(await waits()).toBe(2);
  await pressSequence(page, 'g', 'i');
  await ann.getByRole('button', { name: 'Approve' }).waitFor();

  // Twice in a row: the card that was decided keeps the focus.
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  await bob.and(focused(page)).getByText('Approved', { exact: true }).waitFor();
  await client.jobs.wait(newer.jobs[0] ?? '');
  expect(await waits()).toBe(1);

  await page.keyboard.press('j');
  await page.keyboard.press('d');
  const reason = ann.getByLabel('Reason');
  await reason.and(focused(page)).waitFor();
  await page.keyboard.press('Escape');
  await ann.and(focused(page)).waitFor();
  await page.keyboard.press('d');
  await page.keyboard.type('a bad day');
  await page.keyboard.press('Enter');
  await ann.getByText('Denied: a bad day').waitFor();
  await client.jobs.wait(older.jobs[0] ?? '');
  expect([await effectsOf(newer.context.id), await effectsOf(older.context.id)]).toEqual([['bob: hello'], []]);
});

test('a decision by a key can be undone by a key', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'mail for cid', [mailTo('cid')]);
  await waitingFor(client, 1);
  const page = await visit(`${url}/inbox`, { held: true });
  const cid = card(page, 'mail for cid');
  await cid.getByRole('button', { name: 'Approve' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await cid.getByRole('button', { name: 'Undo' }).waitFor();
  await page.keyboard.press('u');
  await cid.getByRole('button', { name: 'Approve' }).waitFor();
  await cid.and(focused(page)).waitFor();
  await page.keyboard.press('e');
  await cid.getByLabel('Edited arguments').and(focused(page)).waitFor();
  await client.tools.approve(context.id, { all: true, decision: 'deny' });
  await client.jobs.wait(jobs[0] ?? '');
});

test('in a chat keys decide the card that has the focus', async () => {
  const { client, url, effectsOf } = platform();
  const { context, jobs } = await openContext(client, 'two mails', [
    'call: send_mail {"to": "max", "text": "1"}\ncall: send_mail {"to": "max", "text": "2"}\n---\nsay: both',
  ]);
  await waitingFor(client, 2);
  const page = await visit(`${url}/contexts/${context.id}`, { hurried: true });
  const [upper, lower] = [toolCard(page, 'send_mail').first(), toolCard(page, 'send_mail').nth(1)];
  await lower.getByRole('button', { name: 'Approve' }).waitFor();
  await log(page).focus();
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  await upper.and(focused(page)).waitFor();
  await page.keyboard.press('j');
  await lower.and(focused(page)).waitFor();
  await page.keyboard.press('a');
  await lower.and(page.locator('[data-waits="false"]')).waitFor();
  await page.keyboard.press('k');
  await page.keyboard.press('d');
  await page.keyboard.type('once is enough');
  await page.keyboard.press('Enter');
  await client.jobs.wait(jobs[0] ?? '');
  expect(await effectsOf(context.id)).toEqual(['max: 2']);
});

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const stop = (page: Page) => page.getByRole('button', { name: 'Stop', exact: true });
const hasFocus = async (page: Page, of: ReturnType<Page['locator']>) => {
  await of.and(focused(page)).waitFor();
};

test('Escape leaves the composer, and stops the answer where nothing is written; the focus stays', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'long answers', [ENDLESS]);
  const again = async (): Promise<void> => {
    await page.getByRole('group', { name: 'State' }).waitFor({ state: 'detached' });
    const { job_id: job } = await client.contexts.send(context.id, ENDLESS);
    await page.getByRole('group', { name: 'State' }).locator(`a[href="/jobs/${job}?tab=timeline"]`).waitFor();
    await stop(page).waitFor();
  };
  const page = await visit(`${url}/contexts/${context.id}`);
  await stop(page).waitFor();
  await hasFocus(page, composer(page));

  // With a text it leaves; held down it does not stop, too.
  const stops: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/interrupt')) stops.push(request.url());
  });
  await composer(page).fill('a draft');
  await page.keyboard.down('Escape');
  await hasFocus(page, log(page));
  await page.keyboard.down('Escape');
  await page.keyboard.up('Escape');
  await page.keyboard.press('c');
  await hasFocus(page, composer(page));
  expect(await composer(page).inputValue()).toBe('a draft');
  expect(stops).toEqual([]);

  await composer(page).fill('');
  await page.keyboard.press('Escape');
  await again();
  expect(stops).toHaveLength(1);
  await hasFocus(page, composer(page));

  // Again, from the messages.
  await composer(page).fill('a draft');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await again();
  await hasFocus(page, composer(page));

  await stop(page).click();
  await again();
  await hasFocus(page, composer(page));

  await page.getByRole('button', { name: 'Stop options' }).click();
  await page.getByRole('menuitem', { name: 'Stop and keep completed messages' }).press('Enter');
  await page.getByRole('group', { name: 'State' }).waitFor({ state: 'detached' });
  await hasFocus(page, composer(page));
});

test('Escape stops nothing that waits for a person', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'mail for dan', [mailTo('dan')]);
  await waitingFor(client, 1);
  const page = await visit(`${url}/contexts/${context.id}`, { hurried: true });
  await stop(page).waitFor();
  await toolCard(page, 'send_mail').getByRole('button', { name: 'Approve' }).waitFor();
  await hasFocus(page, composer(page));
  await page.keyboard.press('Escape');
  await hasFocus(page, log(page));
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await client.jobs.wait(jobs[0] ?? '');
  expect((await client.jobs.get(jobs[0] ?? '')).status).toBe('completed');
});

test('the focus returns from a dialog, and goes to the next row after a deletion', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'to be renamed', []);
  const page = await visit(`${url}/contexts/${context.id}`);
  const actions = page.getByRole('button', { name: 'Context actions' });
  await actions.press('Enter');
  await page.getByRole('menuitem', { name: 'Rename …' }).press('Enter');
  await hasFocus(page, page.getByLabel('Title'));
  await page.keyboard.press('Escape');
  await hasFocus(page, actions);

  for (const name of ['role-a', 'role-b', 'role-c']) await client.roles.put(name, { model: 'simulated/test' });
  await page.goto(`${url}/settings?tab=roles`);
  const remove = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: `Delete role ${name}` }).press('Enter');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Delete/ })
      .press('Enter');
    await page.getByRole('listitem', { name }).waitFor({ state: 'detached' });
  };
  await remove('role-b');
  await hasFocus(page, page.getByRole('button', { name: 'Edit role role-c' }));
  await remove('role-c');
  await hasFocus(page, page.getByRole('button', { name: 'Edit role role-a' }));
});

test('a withdrawn input gives the focus to the next one, and a button that ends to its row', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'a queue', [ENDLESS, 'first', 'second', 'third']);
  const page = await visit(`${url}/contexts/${context.id}`);
  const queued = (place: number) => page.getByRole('listitem', { name: `Queued input ${place}` });
  await queued(1).filter({ hasText: 'first' }).waitFor();
  await queued(3).waitFor();
  await queued(2).getByRole('button', { name: 'Withdraw' }).press('Enter');
  await queued(3).waitFor({ state: 'detached' });
  await queued(2).filter({ hasText: 'third' }).locator(':focus').waitFor();
  await queued(2).getByRole('button', { name: 'Move up' }).press('Enter');
  await queued(1).filter({ hasText: 'third' }).locator(':focus').waitFor();
});
