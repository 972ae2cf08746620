// Names of models, tools and servers are offered where they are needed, and need not be typed from memory.
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { until } from '../e2e/rig/until.ts';
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { useOwnPlatform } from './rig/platform.ts';

const { visit } = useBrowser();
const platform = useOwnPlatform({ NIGHTSHIFT_CONFIG: path.join(import.meta.dirname, 'rig/names.config.ts') });

/** The tools of a server are known once it is up. */
async function isUp(): Promise<void> {
  const { client } = platform();
  const known = async () =>
    (await client.system.get()).mcp_servers.some(({ state, tools }) => state === 'up' && tools !== null);
  await until('the server of tools', known, 60);
}

const box = (within: Locator, name: string) => within.getByRole('checkbox', { name, exact: true });
const offered = (within: Locator, field: string, name: string) =>
  within
    .getByRole('combobox', { name: field })
    .locator('xpath=following-sibling::datalist')
    .getByText(name, { exact: true })
    .waitFor({ state: 'attached' });

test('a role is made from the available models, tools and servers', async () => {
  const { client, url } = platform();
  await isUp();
  const page = await visit(`${url}/settings`);
  await page.getByRole('button', { name: 'New role' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('librarian');
  await offered(dialog, 'Model', 'simulated/keeper');
  await dialog.getByText('Configured providers: simulated').waitFor();
  await dialog.getByRole('tab', { name: 'Tools and approval' }).click();
  await box(dialog, 'recall').click();
  await box(dialog, 'notes__read_graph').click();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('listitem', { name: 'librarian' }).waitFor();
  expect((await client.roles.get('librarian')).tools).toEqual(['recall', 'notes__read_graph']);

  // A server brings all of its tools: they need not be selected one by one.
  await page.getByRole('button', { name: 'Edit role librarian' }).click();
  await dialog.getByRole('tab', { name: 'Tools and approval' }).click();
  await box(dialog, 'notes__read_graph').click();
  await box(dialog, 'notes').click();
  await box(dialog, 'notes__read_graph').waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('listitem', { name: 'librarian' }).getByText('version 2').waitFor();
  expect(await client.roles.get('librarian')).toMatchObject({ tools: ['recall'], mcp_servers: ['notes'] });
});

test('the settings of a context offer them, too', async () => {
  const { client, url } = platform();
  await isUp();
  const { id } = await client.contexts.create({
    title: 'a shelf',
    config: { tools: ['remember', 'recall'] },
  });
  const page = await visit(`${url}/contexts/${id}`);
  await page.getByRole('button', { name: 'Context actions' }).click();
  await page.getByRole('menuitem', { name: 'Settings …' }).click();
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.getByRole('button', { name: 'Override Model' }).click();
  await offered(settings, 'Model', 'simulated/keeper');
  await settings.getByRole('tab', { name: 'Tools and approval' }).click();
  expect(await box(settings, 'remember').isChecked()).toBe(true);
  await box(settings, 'remember').click();
  await box(settings, 'notes').click();
  await settings.getByRole('button', { name: 'Add rule' }).click();
  await offered(settings, 'Tool of rule 1', 'recall');
  await settings.getByRole('combobox', { name: 'Tool of rule 1' }).fill('notes__*');
  await expectAccessible(page);
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.waitFor({ state: 'hidden' });
  expect((await client.contexts.get(id)).config).toMatchObject({
    tools: ['recall'],
    mcp_servers: ['notes'],
    approval: [{ tool: 'notes__*', decision: 'always' }],
  });
});
