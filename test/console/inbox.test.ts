// The inbox: waiting calls are answered in place, a decision can be undone for three seconds, and nothing moves under
// the pointer meanwhile; an item that another person answered says so in its place.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext, waitingFor } from './rig/scenes.ts';
import { sendNow } from './rig/timers.ts';

const platform = useTenant('inbox');
const { visit, excuse } = useBrowser(platform);

const mailTo = (to: string): string => `call: send_mail {"to": "${to}", "text": "hello"}\n---\nsay: done with ${to}`;
const card = (page: Page, title: string) => page.getByRole('article').filter({ hasText: title });
/** It stays in its place, collapsed, with its result. */
const over = (page: Page, title: string, words: string) =>
  page.locator('article[data-over="true"]').filter({ hasText: title }).getByText(words, { exact: true }).waitFor();
const NOTHING = 'The inbox is empty';

async function boxOf(of: Locator) {
  const box = await of.boundingBox();
  if (box === null) throw new Error('it is not seen');
  return box;
}

/** A page whose time can stand still while clicks are made. */
async function visitWithClock(address: string): Promise<Page> {
  const page = await visit(`${platform().url}/healthz`, { alone: true });
  await page.clock.install();
  await page.goto(address);
  return page;
}

/** Some time later: it cannot be set back. Not so late that the stream seems silent. */
async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 20_000);
}

async function waiting(count: number): Promise<void> {
  await waitingFor(platform().client, count);
}

test("it approves, denies with a reason, and runs with a person's input", async () => {
  const { client, url, effectsOf } = platform();
  // Jobs run side by side: the newest is the one that asked last.
  const one = await openContext(client, 'mail for ann', [mailTo('ann')]);
  await waiting(1);
  const two = await openContext(client, 'mail for bob', [mailTo('bob')]);
  await waiting(2);
  const three = await openContext(client, 'mail for cid', [mailTo('cid')]);
  await waiting(3);
  const page = await visit(`${url}/inbox`, { hurried: true });
  await page.getByRole('link', { name: 'Inbox' }).getByLabel('3 waiting').waitFor();
  // The newest first.
  await page.getByRole('article').first().filter({ hasText: 'mail for cid' }).waitFor();
  await card(page, 'mail for ann').getByRole('button', { name: 'Approve' }).click();
  await over(page, 'mail for ann', 'Approved');
  await card(page, 'mail for bob').getByRole('button', { name: 'Deny' }).click();
  await card(page, 'mail for bob').getByLabel('Reason').fill('not on Fridays');
  await card(page, 'mail for bob').getByLabel('Reason').press('Enter');
  await over(page, 'mail for bob', 'Denied: not on Fridays');
  await card(page, 'mail for cid').getByRole('button', { name: 'Edit arguments' }).click();
  await card(page, 'mail for cid').getByLabel('Edited arguments').fill('{"to": "dan", "text": "edited"}');
  await card(page, 'mail for cid').getByRole('button', { name: 'Approve with edits' }).click();
  await page.getByText(NOTHING).waitFor();
  await over(page, 'mail for cid', 'Approved with edited arguments');
  // All keep their order.
  expect(
    await page
      .getByRole('article')
      .getByText(/^mail for/)
      .allTextContents(),
  ).toEqual(['mail for cid', 'mail for bob', 'mail for ann']);
  for (const { jobs } of [one, two, three]) await client.jobs.wait(jobs[0] ?? '');
  const sent = await Promise.all([one, two, three].map(({ context }) => effectsOf(context.id)));
  expect(sent).toEqual([['ann: hello'], [], ['dan: edited']]);
  const shown = await client.contexts.messages.list(two.context.id).all();
  expect(JSON.stringify(shown)).toContain('not on Fridays');
});

test('it answers a question by its choices, and gives the result of a client’s tool', async () => {
  const { client, url } = platform();
  const asked = await openContext(client, 'a question', ['ask: Which one? [red | blue]']);
  const { context, jobs } = await openContext(client, 'a sensor', ['call: read_sensor {"room": "hall"}'], {
    client_tools: [{ name: 'read_sensor', description: 'Reads.', input_schema: { type: 'object' } }],
  });
  await waiting(2);
  const page = await visit(`${url}/inbox`, { hurried: true });
  await card(page, 'a sensor').waitFor();
  await page.getByRole('button', { name: 'Questions' }).click();
  await page.waitForURL('**/inbox?kind=question');
  await card(page, 'a sensor').waitFor({ state: 'detached' });
  await card(page, 'Which one?').getByRole('button', { name: 'blue' }).click();
  await page.getByText('No items of this kind').waitFor();
  await over(page, 'Which one?', 'Answer: blue');
  await page.getByRole('button', { name: 'All' }).click();
  await card(page, 'a sensor').getByLabel('Tool result').fill('21 degrees');
  await card(page, 'a sensor').getByRole('button', { name: 'Submit result' }).click();
  await page.getByText(NOTHING).waitFor();
  await client.jobs.wait(asked.jobs[0] ?? '');
  await client.jobs.wait(jobs[0] ?? '');
  expect(JSON.stringify(await client.contexts.messages.list(asked.context.id).all())).toContain('blue');
  expect(JSON.stringify(await client.contexts.messages.list(context.id).all())).toContain('21 degrees');
});

test('it shows that another person was faster, and links to the conversation', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'mail for eve', [mailTo('eve')]);
  await waiting(1);
  const page = await visit(`${url}/inbox`);
  await card(page, 'mail for eve').waitFor();
  const link = card(page, 'mail for eve').getByRole('link', { name: 'mail for eve' });
  expect(await link.getAttribute('href')).toBe(`/contexts/${context.id}`);
  await client.tools.approve(context.id, { all: true, decision: 'deny' });
  await over(page, 'mail for eve', 'Answered elsewhere, or no longer waiting');
  await page.getByText(NOTHING).waitFor();
});

test('a double click approves one call, though the next one moves under the pointer', async () => {
  const { client, url, effectsOf } = platform();
  const { context, jobs } = await openContext(client, 'mail for ira', [mailTo('ira')]);
  await waiting(1);
  const next = await openContext(client, 'mail for jo', [mailTo('jo')]);
  await waiting(2);
  const page = await visitWithClock(`${url}/inbox`);
  const button = page.getByRole('button', { name: 'Approve', exact: true });
  await button.nth(1).waitFor();
  const [upper, lower] = [await boxOf(button.first()), await boxOf(button.nth(1))];
  // The upper one, so that the lower one comes up; then where the lower one is by now.
  await button.first().click({ trial: true });
  await stopClock(page);
  await page.mouse.dblclick(upper.x + upper.width / 2, upper.y + upper.height / 2);
  const moved = await boxOf(button.first());
  expect(moved.y).toBeLessThan(lower.y);
  await page.mouse.click(moved.x + moved.width / 2, moved.y + moved.height / 2);
  await page.clock.resume();
  await over(page, 'mail for jo', 'Approved');
  await client.jobs.wait(next.jobs[0] ?? '');
  expect(await effectsOf(next.context.id)).toEqual(['jo: hello']);
  expect(await effectsOf(context.id)).toEqual([]);
  expect((await client.approvals.list().page()).data).toHaveLength(1);
  await card(page, 'mail for ira').getByRole('button', { name: 'Approve' }).click();
  await client.jobs.wait(jobs[0] ?? '');
});

test('a button that moves within its form, or appears, takes no click for half a second', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'mail for noa', [mailTo('noa')]);
  await waiting(1);
  const page = await visitWithClock(`${url}/inbox`);
  const noa = card(page, 'mail for noa');
  const approve = noa.getByRole('button', { name: /^Approve/ });
  const clickOn = async (button: Locator): Promise<void> => {
    const { x, y, width, height } = await boxOf(button);
    await page.mouse.click(x + width / 2, y + height / 2);
  };
  const isEdited = () => noa.getByLabel('Edited arguments').isVisible();
  await approve.click({ trial: true });
  await stopClock(page);
  const before = await boxOf(approve);

  // The text area pushes the buttons down.
  await clickOn(noa.getByRole('button', { name: 'Edit arguments' }));
  await noa.getByLabel('Edited arguments').waitFor();
  expect((await boxOf(approve)).y).toBeGreaterThan(before.y);
  await clickOn(approve);
  expect(await isEdited()).toBe(true);
  await clickOn(noa.getByRole('button', { name: 'Back' }));
  expect(await isEdited()).toBe(true);

  // Keys are not delayed: back, and into the text area again.
  await noa.getByRole('button', { name: 'Back' }).press('Enter');
  await noa.getByRole('button', { name: 'Edit arguments' }).press('Enter');
  await clickOn(approve);
  expect(await isEdited()).toBe(true);

  await page.clock.runFor(600);
  await clickOn(approve);
  await noa.getByText('Approved with edited arguments').waitFor();
  await page.clock.resume();
  await client.jobs.wait(jobs[0] ?? '');
  expect((await client.contexts.messages.list(context.id).all()).length).toBeGreaterThan(2);
});

test('a decision can be undone for three seconds, is sent when the page is left, and stays open where it fails', async () => {
  const { client, url } = platform();
  excuse(/409/);
  const { context, jobs } = await openContext(client, 'mail for kim', [mailTo('kim')]);
  await waiting(1);
  const page = await visit(`${url}/inbox`, { held: true });
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(request.url());
  });
  const kim = card(page, 'mail for kim');
  await kim.getByRole('button', { name: 'Deny' }).click();
  await kim.getByLabel('Reason').fill('no');
  await kim.getByRole('button', { name: 'Deny', exact: true }).click();
  await kim.getByText('Denied: no').waitFor();
  await kim.getByRole('button', { name: 'Undo' }).click();
  // As it was written.
  expect(await kim.getByLabel('Reason').inputValue()).toBe('no');
  await sendNow(page);
  expect((await client.approvals.list().page()).data).toHaveLength(1);
  expect(sent).toEqual([]);
  await kim.getByLabel('Reason').fill('left');
  await kim.getByRole('button', { name: 'Deny', exact: true }).click();
  await kim.getByRole('button', { name: 'Undo' }).waitFor();
  await page.goto('about:blank');
  await client.jobs.wait(jobs[0] ?? '');
  expect(JSON.stringify(await client.contexts.messages.list(context.id).all())).toContain('left');

  // Another person decides while it is delayed: the first decision that was sent counts.
  const other = await openContext(client, 'mail for lea', [mailTo('lea')]);
  await waiting(1);
  await page.goto(`${url}/inbox`);
  await card(page, 'mail for lea').getByRole('button', { name: 'Approve' }).click();
  await client.tools.approve(other.context.id, { all: true, decision: 'deny' });
  await sendNow(page);
  await page.getByText('This call no longer waits: it was already decided, or its job has ended.').waitFor();
  await over(page, 'mail for lea', 'Answered elsewhere, or no longer waiting');

  // A decision that can be undone is accessible, too.
  const last = await openContext(client, 'mail for ada', [mailTo('ada')]);
  await waiting(1);
  const ada = card(page, 'mail for ada');
  await ada.getByRole('button', { name: 'Approve' }).click();
  await ada.getByRole('button', { name: 'Undo' }).waitFor();
  await expectAccessible(page);
  await sendNow(page);
  await client.jobs.wait(last.jobs[0] ?? '');
});

test('keys decide and undo without losing their place; a remembered decision closes the others', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'two mails', [
    'call: send_mail {"to": "max", "text": "1"}\ncall: send_mail {"to": "max", "text": "2"}\n---\nsay: both',
  ]);
  await waiting(2);
  const page = await visit(`${url}/inbox`, { held: true });
  const [upper, lower] = [page.getByRole('article').first(), page.getByRole('article').nth(1)];
  await upper.getByRole('button', { name: 'Approve' }).press('Enter');
  await upper.getByRole('button', { name: 'Undo' }).press('Enter');
  await upper.getByRole('button', { name: 'Approve' }).waitFor();
  await lower.getByRole('checkbox').click();
  await lower.getByRole('button', { name: 'Approve' }).press('Enter');
  await lower.and(page.locator(':focus')).waitFor();
  await sendNow(page);
  await over(page, 'two mails', 'Approved (remembered)');
  await over(page, 'two mails', 'Decided together with another call');
  await page.getByText(NOTHING).waitFor();
  await expectAccessible(page);
  expect(await client.contexts.messages.list(context.id).all()).not.toHaveLength(0);
});

test('it is accessible with every kind of item, and fits', async () => {
  const { client, url } = platform();
  await openContext(client, 'mail for fay', [mailTo('fay')]);
  await openContext(client, 'another question', ['ask: Which **one**? [red | blue]']);
  await waiting(2);
  for (const look of LOOKS) {
    const page = await visit(`${url}/inbox`, look);
    await card(page, 'mail for fay').getByRole('button', { name: 'Deny' }).click();
    await card(page, 'another question').getByRole('button', { name: 'red' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
  }
});
