// Inherited settings are shown with where they come from; an own value is set, and given up again.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { until } from '../e2e/rig/until.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { ADMIN_KEY } from './rig/tenants.ts';

const platform = useTenant('inherited');
const { visit } = useBrowser(platform);

const ROLE = {
  model: 'simulated/of-the-role',
  system_prompt: 'You search.',
  tools: ['look_up', 'send_mail'],
  approval: [{ tool: 'look_*', decision: 'always' as const }],
  max_steps: 7,
};

async function contextOf(role: string | null, config: object = {}): Promise<string> {
  const { client } = platform();
  const worker = role === null ? { name: 'w' } : { name: 'w', role };
  return (await client.contexts.create({ title: 'a context', worker, config })).id;
}

async function openSettings(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Context actions' }).click();
  await page.getByRole('menuitem', { name: 'Settings …' }).click();
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.getByRole('tab', { name: 'Model' }).waitFor();
  return settings;
}

const isFocused = (element: Locator) => element.evaluate((found) => found === found.ownerDocument.activeElement);

const group = (within: Locator, name: string) => within.getByRole('group', { name, exact: true });

test('a worker shows what it has from its role, overrides a value, and gives it up again', async () => {
  const { client, url } = platform();
  await client.roles.put('searcher', ROLE);
  const id = await contextOf('searcher');
  const page = await visit(`${url}/contexts/${id}`);
  const settings = await openSettings(page);
  await group(settings, 'Model').getByText('simulated/of-the-role').waitFor();
  await group(settings, 'Model').getByText('From role searcher').waitFor();
  await group(settings, 'Streaming').getByText('Default').waitFor();
  await settings.getByRole('tab', { name: 'Tools and approval' }).click();
  expect(await group(settings, 'Tools').getByRole('listitem').allInnerTexts()).toEqual(['look_up', 'send_mail']);
  const saved = settings.getByRole('region', { name: 'Tools as saved' });
  await saved.getByText('From role searcher. By rule look_*, from role searcher').waitFor();
  await expectAccessible(page);

  await settings.getByRole('tab', { name: 'Limits' }).click();
  await settings.getByRole('button', { name: 'Override Max steps' }).click();
  const steps = settings.getByRole('textbox', { name: 'Max steps' });
  expect(await steps.inputValue()).toBe('7');
  expect(await isFocused(steps)).toBe(true);
  await steps.fill('3');
  await settings.getByText('Own value. Without it: from role searcher').waitFor();
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.waitFor({ state: 'hidden' });
  expect((await client.contexts.get(id)).config).toEqual({ max_steps: 3 });

  const again = await openSettings(page);
  await again.getByRole('tab', { name: 'Limits' }).click();
  await again.getByRole('button', { name: 'Use inherited Max steps' }).click();
  await group(again, 'Max steps').getByText('7').waitFor();
  expect(await isFocused(again.getByRole('button', { name: 'Override Max steps' }))).toBe(true);
  await again.getByRole('button', { name: 'Save' }).click();
  await again.waitFor({ state: 'hidden' });
  expect((await client.contexts.get(id)).config).toEqual({});
});

test('a worker gets no tools of its role if it overrides them with none', async () => {
  const { client, url } = platform();
  await client.roles.put('tooled', ROLE);
  const id = await contextOf('tooled');
  const page = await visit(`${url}/contexts/${id}`);
  const settings = await openSettings(page);
  await settings.getByRole('tab', { name: 'Tools and approval' }).click();
  await settings.getByRole('button', { name: 'Override Tools' }).click();
  for (const name of ROLE.tools) await settings.getByRole('checkbox', { name }).click();
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.waitFor({ state: 'hidden' });
  expect((await client.contexts.get(id)).config).toEqual({ tools: [] });
});

test('the focus stays where it is when the first item of a list is set, and when the last one is removed', async () => {
  const { url } = platform();
  const page = await visit(`${url}/contexts/${await contextOf(null)}`);
  const settings = await openSettings(page);
  await settings.getByRole('tab', { name: 'Tools and approval' }).click();
  const tool = settings.getByRole('group', { name: 'Tools' }).getByRole('checkbox').first();
  await tool.focus();
  for (const checked of [true, false]) {
    await page.keyboard.press('Space');
    expect([await tool.isChecked(), await isFocused(tool)]).toEqual([checked, true]);
  }
  await settings.getByRole('tab', { name: 'Pinned' }).click();
  const add = settings.getByRole('button', { name: 'Add text' });
  await add.focus();
  await page.keyboard.press('Enter');
  await settings.getByRole('textbox', { name: 'Title of text 1' }).waitFor();
  expect(await isFocused(add)).toBe(true);
});

test('a field that is overridden and left empty has no own value, and changes nothing', async () => {
  const { client, url } = platform();
  const id = await contextOf(null, { max_steps: 4 });
  const page = await visit(`${url}/contexts/${id}`);
  const settings = await openSettings(page);
  const save = settings.getByRole('button', { name: 'Save' });
  await settings.getByRole('tab', { name: 'Limits' }).click();
  await settings.getByRole('button', { name: 'Override Max tokens' }).click();
  await settings.getByText('No own value. It inherits: default').waitFor();
  expect(await save.isDisabled()).toBe(true);
  await settings.getByRole('textbox', { name: 'Max tokens' }).fill('100');
  await settings.getByText('No own value').waitFor({ state: 'detached' });
  expect(await save.isDisabled()).toBe(false);
  await settings.getByRole('textbox', { name: 'Max steps' }).fill('');
  await save.click();
  await settings.waitFor({ state: 'hidden' });
  expect((await client.contexts.get(id)).config).toEqual({ max_tokens: 100 });
});

test('a worker and a role that the operator does not allow say that their jobs fail', async () => {
  const { client, url } = platform();
  const operator = createClient({ url, apiKey: ADMIN_KEY });
  await client.roles.put('refused', { model: 'simulated/forbidden' });
  const id = await contextOf('refused');
  await operator.tenants.update('inherited', { allow: { models: ['simulated/allowed'] } });
  try {
    const read = () => client.roles.get('refused', { include: 'effective' });
    await until('the new list', async () => (await read()).effective?.not_allowed != null);
    const page = await visit(`${url}/contexts/${id}`);
    const message =
      'With the saved settings, jobs fail: The operator does not allow the model "simulated/forbidden" for this tenant.';
    const settings = await openSettings(page);
    await settings.getByRole('status').getByText(message).waitFor();
    await expectAccessible(page);
    await page.goto(`${url}/settings`);
    await page.getByRole('button', { name: 'Edit role refused' }).click();
    await page.getByRole('dialog').getByRole('status').getByText(message).waitFor();
  } finally {
    await operator.tenants.update('inherited', { allow: { models: null } });
    await until(
      'no list',
      async () => (await client.roles.put('refused', { model: 'simulated/forbidden' })).version === 1,
    );
  }
});

test('a role of the config file shows its tools, with what decides about each', async () => {
  const page = await visit(`${platform().url}/settings`);
  await page.getByRole('button', { name: 'Show role clerk' }).click();
  const dialog = page.getByRole('dialog', { name: 'Role clerk' });
  await dialog.getByText('Defined in nightshift.config.ts').waitFor();
  await dialog.getByRole('tab', { name: 'Tools and approval' }).click();
  expect(await group(dialog, 'Tools').getByRole('listitem').allInnerTexts()).toEqual([
    'look_up',
    'send_mail',
    'ask_user',
    'spawn_worker',
  ]);
  const saved = dialog.getByRole('region', { name: 'Tools as saved' });
  await saved.getByRole('listitem').filter({ hasText: 'send_mail' }).getByText('needs approval').waitFor();
  await saved.getByRole('listitem').filter({ hasText: 'look_up' }).getByText('runs without approval').waitFor();
  expect(await dialog.getByRole('button', { name: /^(Override|Use inherited)/ }).count()).toBe(0);
});

for (const { theme, size } of LOOKS) {
  test(`inherited settings fit, and are accessible: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    await client.roles.put('looked-at', ROLE);
    const page = await visit(`${url}/contexts/${await contextOf('looked-at', { max_steps: 2 })}`, { theme, size });
    const settings = await openSettings(page);
    for (const tab of ['Model', 'Tools and approval', 'Limits', 'Pinned', 'More']) {
      await settings.getByRole('tab', { name: tab }).click();
      await expectAccessible(page);
      await expectFits(page);
    }
  });
}
