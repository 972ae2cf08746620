// Past messages edited and retried: each time a branch of its own, and the way back by the switcher at the message and
// by the bar.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('branches');
const { visit, excuse } = useBrowser(platform);

/** A conversation of these inputs, each answered. */
async function conversation(...inputs: string[]): Promise<string> {
  const { client } = platform();
  const { context_id: id } = await client.workers.create({
    name: 'scribe',
    config: { model: 'simulated/scribe' },
  });
  for (const input of inputs) await client.contexts.run(id, { input });
  return id;
}

const open = (id: string) => visit(`${platform().url}/contexts/${id}`);
const inputs = (page: Page) => page.getByRole('article', { name: 'Input', exact: true });
const answers = (page: Page) => page.getByRole('article', { name: 'Answer', exact: true });

async function act(page: Page, message: Locator, name: string): Promise<void> {
  await message.getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name }).click();
}

test('an edited input continues beside the old one, and the switcher leads from one to the other', async () => {
  const id = await conversation('say: the first answer');
  const page = await open(id);
  await act(page, inputs(page), 'Edit …');
  const dialog = page.getByRole('dialog', { name: 'Edit input' });
  await dialog.getByRole('textbox', { name: 'Input' }).fill('say: the second answer');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Send on new branch' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await answers(page).getByText('the second answer').waitFor();
  await inputs(page).getByLabel('Version 2 of 2').waitFor();
  await page.getByRole('button', { name: 'Branch: main-2' }).waitFor();

  await inputs(page).getByRole('button', { name: 'Previous version' }).click();
  await answers(page).getByText('the first answer').waitFor();
  await inputs(page).getByLabel('Version 1 of 2').waitFor();
  await page.getByRole('button', { name: 'Branch: main', exact: true }).waitFor();
  expect((await platform().client.contexts.get(id)).active_branch).toBe('main');
});

test('a retried answer is shown beside the first one', async () => {
  const id = await conversation('say: before', 'say: an answer');
  const page = await open(id);
  await act(page, answers(page).last(), 'Regenerate');
  await answers(page).last().getByLabel('Version 2 of 2').waitFor();
  await expectAccessible(page);
  await answers(page).last().getByRole('button', { name: 'Previous version' }).click();
  await answers(page).last().getByLabel('Version 1 of 2').waitFor();
  expect(await answers(page).first().getByRole('group', { name: 'Versions' }).count()).toBe(0);
});

test('branches are made from a message, switched, and deleted; a branch that cannot be deleted shows the reason', async () => {
  const id = await conversation('say: one', 'say: two');
  excuse(/status of 4\d\d/);
  const page = await open(id);
  await act(page, answers(page).first(), 'Branch from here …');
  const made = page.getByRole('dialog', { name: 'New branch' });
  await made.getByRole('textbox', { name: 'Name' }).fill('no such name');
  await made.getByRole('button', { name: 'Create branch' }).click();
  await made.getByRole('alert').waitFor();
  await made.getByRole('textbox', { name: 'Name' }).fill('aside');
  await made.getByRole('textbox', { name: 'Name' }).press('Enter');
  await made.waitFor({ state: 'hidden' });
  await answers(page).getByText('two').waitFor({ state: 'hidden' });
  await answers(page).getByText('one').waitFor();

  await page.getByRole('button', { name: 'Branch: aside' }).click();
  await page.getByRole('menuitemradio', { name: 'main' }).click();
  await answers(page).getByText('two').waitFor();

  await page.getByRole('button', { name: 'Branch: main' }).click();
  await page.getByRole('menuitem', { name: 'Manage branches …' }).click();
  const all = page.getByRole('dialog', { name: 'Branches' });
  await all.getByText('From main after a1').waitFor();
  await expectAccessible(page);
  const asked = page.getByRole('dialog', { name: /^Delete branch/ });
  const confirm = asked.getByRole('button', { name: 'Delete' });
  await all.getByRole('button', { name: 'Delete main' }).click();
  await confirm.click();
  await asked.getByRole('alert').waitFor();
  await asked.getByRole('button', { name: 'Cancel' }).click();
  await all.getByRole('button', { name: 'Delete aside' }).click();
  await confirm.click();
  await asked.waitFor({ state: 'detached' });
  await all.getByRole('button', { name: 'Delete aside' }).waitFor({ state: 'hidden' });
  expect((await platform().client.contexts.get(id)).branches).toEqual(['main']);
});
