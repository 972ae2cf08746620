// What cannot be undone looks and asks alike everywhere: a red button with dots, one dialog that names what goes.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { ENDLESS, openContext } from './rig/scenes.ts';

const platform = useTenant('destructive');
const { visit } = useBrowser(platform);

/** In the light theme. */
const RED = 'rgb(179, 35, 26)';

/** The button in its row, the dialog that it opens, and the button that does it. */
type Asked = { path: string; button: (page: Page) => Locator; title: string; verb: string; keep?: string };

async function asked(): Promise<Asked[]> {
  const { client } = platform();
  const { context, jobs } = await openContext(client, 'of a schedule', [ENDLESS]);
  const job = jobs[0] ?? '';
  await client.roles.put('porter', { model: 'simulated/test' });
  await client.schedules.create({
    name: 'nightly',
    every_s: 3_600,
    paused: true,
    content: 'say: x',
    target: { context_id: context.id },
  });
  const address = 'https://receiver.invalid/hooks';
  await client.webhooks.create({ url: address, events: ['job.finished'] });
  await client.keys.create({ name: 'billing', scopes: ['read'] });
  const named = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true });
  return [
    {
      path: '/settings?tab=roles',
      button: named('Delete role porter'),
      title: 'Delete role porter?',
      verb: 'Delete',
    },
    { path: '/schedules', button: named('Delete nightly'), title: 'Delete schedule nightly?', verb: 'Delete' },
    {
      path: '/settings?tab=webhooks',
      button: named(`Delete ${address}`),
      title: `Delete webhook ${address}?`,
      verb: 'Delete',
    },
    { path: '/access', button: named('Revoke billing'), title: 'Revoke API key billing?', verb: 'Revoke' },
    { path: '/access', button: named('Revoke tokens …'), title: 'Revoke tokens of a user?', verb: 'Revoke' },
    {
      path: '/jobs?status=unfinished',
      button: named('Cancel all matching …'),
      title: 'Cancel all matching jobs?',
      verb: 'Cancel 1 job',
      keep: 'Keep jobs',
    },
    {
      path: `/jobs/${job}`,
      button: named('Cancel job …'),
      title: `Cancel job ${job.slice(-6)}?`,
      verb: 'Cancel job',
      keep: 'Keep job',
    },
    {
      path: `/workers/${context.worker_id}/tree`,
      button: named('Cancel jobs of subtree …'),
      title: `Cancel the jobs of ${context.worker_name} and all workers below?`,
      verb: 'Cancel jobs',
      keep: 'Keep jobs',
    },
  ];
}

test('every button of a page that ends something for good looks alike, and asks alike', async () => {
  const { url } = platform();
  const page = await visit(url);
  for (const { path, button, title, verb, keep = 'Cancel' } of await asked()) {
    await page.goto(`${url}${path}`);
    const opener = button(page);
    await opener.waitFor();
    expect(await opener.innerText(), path).toMatch(/ …$/);
    expect(await opener.evaluate((it) => it.ownerDocument.defaultView?.getComputedStyle(it).color), path).toBe(RED);
    await opener.click();
    const dialog = page.getByRole('dialog', { name: title });
    await dialog.getByText('This cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: verb, exact: true }).waitFor();
    const buttons = await dialog
      .getByRole('contentinfo')
      .or(dialog.locator('footer'))
      .getByRole('button')
      .allInnerTexts();
    expect(buttons, path).toEqual([keep, verb]);
    await expectAccessible(page);
    // Enter does nothing unless the red button has the focus.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await opener.and(page.locator(':focus')).waitFor();
  }
});

test('the menu of a context has red items for what it asks about, and the next context gets the focus', async () => {
  const { client, url } = platform();
  const { context: lower, jobs: one } = await openContext(client, 'the lower one', ['say: one']);
  await client.jobs.wait(one[0] ?? '');
  const { context, jobs: two } = await openContext(client, 'the upper one', ['say: two']);
  await client.jobs.wait(two[0] ?? '');
  const page = await visit(`${url}/contexts/${context.id}`);
  const actions = page.getByRole('button', { name: 'Context actions' });
  await actions.click();
  const red = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[role=menuitem]')]
      .filter((item) => getComputedStyle(item).color === '${RED}')
      .map((item) => item.innerText)`,
  );
  expect(red).toEqual(['Clear history …', 'Delete …']);
  await page.getByRole('menuitem', { name: 'Clear history …' }).press('Enter');
  await page
    .getByRole('dialog', { name: 'Clear history of “the upper one”?' })
    .getByText('This cannot be undone.')
    .waitFor();
  await page.keyboard.press('Escape');
  await actions.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Delete …' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Delete context “the upper one”?' });
  await dialog.getByText('This cannot be undone.').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).press('Enter');
  await page.waitForURL((address) => address.pathname === '/');
  await page.locator(`a[data-context="${lower.id}"]:focus`).waitFor();
});
