// A key decides only in the card that the user went to and sees: the focus never jumps to another card by itself, the
// second key of a sequence decides nothing, and a card that was scrolled away comes back first.
import type { Locator, Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { browserTest as test, useBrowser } from './rig/browser.ts';
import { card as toolCard } from './rig/conversation.ts';
import { useTenant } from './rig/platform.ts';
import { pressSequence } from './rig/press.ts';
import { openContext, waitingFor } from './rig/scenes.ts';
import { signIn } from './rig/sign-in.ts';

const platform = useTenant('focused-card');
const { visit } = useBrowser(platform);

const cards = (page: Page) => page.getByRole('article');
const focused = (page: Page) => page.locator(':focus');
const main = (page: Page) => page.getByRole('main');
const undo = (page: Page) => page.getByRole('button', { name: 'Undo' });
const waiting = async (client: Client): Promise<string[]> =>
  (await client.approvals.list({ limit: 200 }).page()).data.map(({ tool_call_id: id }) => id);

/** So many calls of one answer wait for approval. */
async function ask(title: string, count: number): Promise<{ id: string }> {
  const { client } = platform();
  const calls = Array.from({ length: count }, (_, at) => `call: send_mail {"to": "n${at}", "text": "hello"}`);
  const before = (await waiting(client)).length;
  const { context } = await openContext(client, title, [`${calls.join('\n')}\n---\nsay: done`]);
  await waitingFor(client, before + count);
  return context;
}

afterEach(async () => {
  const { client } = platform();
  // A job that goes on with an approved call can be in between.
  await expect
    .poll(async () => {
      for (const status of ['queued', 'running', 'waiting'] as const) await client.jobs.cancelAll({ status });
      return waiting(client);
    })
    .toEqual([]);
});

/** The card by the call that it shows, wherever it is now. */
async function sameCard(card: Locator): Promise<Locator> {
  return card.page().locator(`[data-call="${await card.getAttribute('data-call')}"]`);
}

/** The whole card; scrolling ends at a whole pixel. */
async function isSeen(card: Locator): Promise<boolean> {
  const [box, view] = [await card.boundingBox(), card.page().viewportSize()];
  if (box === null || view === null) throw new Error('it has no place');
  return box.y > -1 && box.y + box.height < view.height + 1;
}

test('a new item does not push away the card that has the focus, and the key decides that card', async () => {
  const { client, url } = platform();
  await ask('first', 25);
  const page = await visit(`${url}/inbox`, { hurried: true });
  await cards(page).nth(24).getByRole('button', { name: 'Approve' }).waitFor();
  const last = await sameCard(cards(page).nth(24));
  const id = (await last.getAttribute('data-call')) ?? '';
  await last.focus();
  await ask('newer', 1);
  await cards(page).first().filter({ hasText: 'newer' }).waitFor();
  expect(await cards(page).count()).toBe(26);
  await last.and(focused(page)).waitFor();
  const before = await waiting(client);
  await page.keyboard.press('a');
  await last.getByText('Approved', { exact: true }).waitFor();
  await expect.poll(() => waiting(client)).toEqual(before.filter((one) => one !== id));
});

test('a card that goes gives the focus to no other card, and what goes within a card gives it to that card', async () => {
  const { client, url } = platform();
  const { id } = await ask('three mails', 3);
  const page = await visit(`${url}/inbox`, { hurried: true });
  await cards(page).nth(2).getByRole('button', { name: 'Approve' }).waitFor();
  await cards(page).nth(1).focus();
  await page.evaluate(`document.activeElement.closest('li').remove()`);
  await main(page).and(focused(page)).waitFor();
  await page.keyboard.press('a');
  expect(await undo(page).count()).toBe(0);

  await page.goto(`${url}/contexts/${id}`);
  const lower = toolCard(page, 'send_mail').nth(2);
  await lower.getByRole('button', { name: 'Approve' }).focus();
  await page.evaluate('document.activeElement.disabled = true');
  await lower.and(focused(page)).waitFor();
  expect(await waiting(client)).toHaveLength(3);
});

test('the second key of a sequence decides nothing where this session has no such page', async () => {
  const { client, url } = platform();
  await ask('one mail', 1);
  const { key } = await client.keys.create({ name: 'approver', scopes: ['read', 'approve'] });
  const page = await visit(`${url}/healthz`);
  await page.context().addCookies([await signIn(url, key)]);
  await page.goto(`${url}/inbox`);
  const card = cards(page).first();
  await card.getByRole('button', { name: 'Approve' }).waitFor();
  expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Access' }).count()).toBe(0);
  /** The card takes the key that opens the form of a denial: nothing was decided. */
  const expectUndecided = async (): Promise<void> => {
    await page.keyboard.press('d');
    await card.getByLabel('Reason').and(focused(page)).waitFor();
    await page.keyboard.press('Escape');
    await card.and(focused(page)).waitFor();
  };
  await card.focus();
  for (const second of ['a', 'k']) {
    await pressSequence(page, 'g', second);
    await expectUndecided();
  }
  // Held down, the first key begins the sequence again.
  const { keyboard } = page;
  await Promise.all([keyboard.down('g'), keyboard.down('g'), keyboard.up('g'), keyboard.press('a')]);
  await expectUndecided();
  // Too late, the key of Access is a key of the page.
  await page.keyboard.press('k');
  await expectUndecided();
  expect(await waiting(client)).toHaveLength(1);
});

test('a key only brings back a card that was scrolled out of sight; undo needs no second press', async () => {
  const { url } = platform();
  await ask('many mails', 12);
  const page = await visit(`${url}/inbox`, { held: true });
  for (const at of [0, 11]) await cards(page).nth(at).getByRole('button', { name: 'Approve' }).waitFor();
  const [first, scrollAway] = [
    await sameCard(cards(page).first()),
    async () => {
      await main(page).evaluate((element) => element.scrollTo(0, element.scrollHeight));
      expect(await isSeen(first)).toBe(false);
    },
  ];
  await page.keyboard.press('j');
  await first.and(focused(page)).waitFor();
  for (const key of ['a', 'd', 'e']) {
    await scrollAway();
    await page.keyboard.press(key);
    expect(await isSeen(first), key).toBe(true);
    expect(await first.getByRole('button', { name: 'Approve', exact: true }).isVisible(), key).toBe(true);
  }
  await page.keyboard.press('a');
  await undo(page).waitFor();
  await scrollAway();
  await page.keyboard.press('u');
  await undo(page).waitFor({ state: 'detached' });
  await first.getByRole('button', { name: 'Approve', exact: true }).waitFor();
});
