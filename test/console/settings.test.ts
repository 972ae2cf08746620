// Settings: a role is made, changed and used; the installation is shown, in both themes.
import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('settings');
const { visit, excuse } = useBrowser(platform);

/** Sets an own value for a field whose value is inherited. */
const override = (dialog: Locator, field: string) =>
  dialog.getByRole('button', { name: `Override ${field}`, exact: true }).click();

test('a role is made, a worker is made from it, and a change makes a new version', async () => {
  const { client, url } = platform();
  const page = await visit(`${url}/settings`);
  await page.getByRole('button', { name: 'New role' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('scribe');
  await dialog.getByRole('combobox', { name: 'Model' }).fill('simulated/scribe');
  await dialog.getByLabel('System prompt').fill('You write things down.');
  await dialog.getByRole('tab', { name: 'Tools and approval' }).click();
  await dialog.getByLabel('look_up').click();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const item = page.getByRole('listitem', { name: 'scribe' });
  await item.getByText('version 1').waitFor();
  const worker = await client.workers.create({ name: 'from a role', role: 'scribe' });
  const { job_id: id } = await client.workers.send(worker.id, 'call: look_up {"word": "quill"}\n---\nsay: written');
  expect(await client.jobs.wait(id)).toMatchObject({ status: 'completed', output: { text: 'written' } });

  await item.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByRole('textbox', { name: 'System prompt' }).fill('You write things down, briefly.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await item.getByText('version 2').waitFor();
  expect(await client.roles.get('scribe')).toMatchObject({
    version: 2,
    system_prompt: 'You write things down, briefly.',
    tools: ['look_up'],
  });
});

test('a change of another person is not overwritten, unless confirmed', async () => {
  excuse(/412/);
  const { client, url } = platform();
  await client.roles.put('shared', { model: 'simulated/a' });
  const page = await visit(`${url}/settings`);
  await page.getByRole('button', { name: 'Edit role shared' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Model' }).fill('simulated/mine');
  await client.roles.put('shared', { model: 'simulated/theirs' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Its current version is 2.').waitFor();
  expect((await client.roles.get('shared')).model).toBe('simulated/theirs');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await page.getByRole('listitem', { name: 'shared' }).getByText('version 3').waitFor();
  expect((await client.roles.get('shared')).model).toBe('simulated/mine');
  await page.getByRole('button', { name: 'Delete role shared' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('listitem', { name: 'shared' }).waitFor({ state: 'detached' });
});

test('a role has every setting of a worker; a wrong value is named at its field and at its tab', async () => {
  const { client, url } = platform();
  await client.roles.put('settled', {
    model: 'simulated/a',
    pinned: [{ title: 'House', text: 'No shouting.' }],
  });
  const page = await visit(`${url}/settings`);
  await page.getByRole('button', { name: 'Edit role settled' }).click();
  const dialog = page.getByRole('dialog');
  const save = dialog.getByRole('button', { name: 'Save' });
  await override(dialog, 'Streaming');
  await dialog.getByRole('combobox', { name: 'Streaming' }).click();
  await page.getByRole('option', { name: 'Off' }).click();
  await dialog.getByRole('tab', { name: 'Tools and approval' }).click();
  await dialog.getByRole('button', { name: 'Add rule' }).click();
  await dialog.getByRole('combobox', { name: 'Tool of rule 1' }).fill('wire_*');
  await dialog.getByRole('tab', { name: 'Limits' }).click();
  await override(dialog, 'Max steps');
  await dialog.getByRole('textbox', { name: 'Max steps' }).fill('0');
  await override(dialog, 'Compaction');
  await dialog.getByRole('textbox', { name: 'Compaction' }).fill('[]');
  await dialog.getByText('Enter a whole number above 0.').waitFor();
  await dialog.getByText('Enter a JSON object.').waitFor();
  await dialog.getByRole('tab', { name: 'Pinned' }).click();
  await dialog.getByRole('textbox', { name: 'Title of text 1' }).waitFor();
  await dialog.getByRole('button', { name: 'Remove text 1' }).click();
  await expectAccessible(page);
  expect(await save.isDisabled()).toBe(true);
  await dialog.getByRole('tab', { name: 'Limits has errors' }).click();
  await dialog.getByRole('textbox', { name: 'Max steps' }).fill('9');
  await dialog.getByRole('textbox', { name: 'Compaction' }).fill('{"type": "none"}');
  await save.click();
  await page.getByRole('listitem', { name: 'settled' }).getByText('version 2').waitFor();
  const { name: _, source: _s, created_at: _c, updated_at: _u, ...saved } = await client.roles.get('settled');
  expect(saved).toEqual({
    version: 2,
    model: 'simulated/a',
    streaming: false,
    approval: [{ tool: 'wire_*', decision: 'always' }],
    max_steps: 9,
    compaction: { type: 'none' },
  });
});

test('all faults of a refused role are listed, also in the settings of a worker', async () => {
  excuse(/422/);
  const { client, url } = platform();
  await client.roles.put('faulty', { model: 'simulated/a' });
  const { id } = await client.contexts.create({ title: 'faulty', worker: { name: 'faulty' } });
  const page = await visit(`${url}/settings`);
  const dialog = page.getByRole('dialog');
  const save = async () => {
    await dialog.getByRole('tab', { name: 'Limits' }).click();
    await override(dialog, 'Compaction');
    await dialog.getByRole('textbox', { name: 'Compaction' }).fill('{"threshold": 2, "keep_turns": -1}');
    await dialog.getByRole('textbox', { name: 'Limits' }).fill('{"depth": -1, "children": -1, "workers": -1}');
    await dialog.getByRole('button', { name: 'Save' }).click();
  };
  const expectFaults = async () => {
    const faults = dialog.getByRole('alert').getByRole('listitem');
    await faults.first().waitFor();
    const fields = (await faults.allInnerTexts()).map((text) => /(\w+): must be /.exec(text)?.[1]);
    expect(new Set(fields)).toEqual(new Set(['children', 'depth', 'keep_turns', 'threshold', 'workers']));
    expect(fields).toHaveLength(5);
    await expectAccessible(page);
  };
  await page.getByRole('button', { name: 'Edit role faulty' }).click();
  await save();
  await expectFaults();

  await page.goto(`${url}/contexts/${id}`);
  await page.getByRole('button', { name: 'Context actions' }).click();
  await page.getByRole('menuitem', { name: 'Settings …' }).click();
  await save();
  await expectFaults();
});

test('a role of the config file is shown with all its settings, and cannot be changed', async () => {
  const page = await visit(`${platform().url}/settings`, { theme: 'dark' });
  await page.getByRole('button', { name: 'Show role clerk' }).click();
  const dialog = page.getByRole('dialog', { name: 'Role clerk' });
  expect(await dialog.getByRole('combobox', { name: 'Model' }).isEditable()).toBe(false);
  expect(await dialog.getByRole('combobox', { name: 'Mode', exact: true }).isDisabled()).toBe(true);
  for (const name of ['Tools and approval', 'Limits', 'Pinned', 'More']) {
    await dialog.getByRole('tab', { name }).click();
    await expectAccessible(page);
    for (const field of await dialog.getByRole('textbox').all()) expect(await field.isEditable()).toBe(false);
    for (const box of await dialog.getByRole('checkbox').all()) expect(await box.isDisabled()).toBe(true);
    expect(await dialog.getByRole('button', { name: /^(Add|Remove|Save)/ }).count()).toBe(0);
  }
});

const TABS = {
  Roles: 'clerk',
  Tools: 'wire_money',
  'MCP servers': 'No MCP server',
  Providers: 'simulated',
  Usage: 'This tenant has no limits',
  Limits: 'Queued inputs per context',
  'This browser': 'System',
};

for (const { theme, size } of LOOKS) {
  test(`every part is accessible, and fits: ${theme}, ${size}`, async () => {
    const page = await visit(`${platform().url}/settings`, { theme, size });
    for (const [name, text] of Object.entries(TABS)) {
      await page.getByRole('tab', { name }).click();
      await page.getByRole('tabpanel').getByText(text).first().waitFor();
      await expectAccessible(page);
      await expectFits(page);
    }
  });
}

test('a webhook shows how it is, and what was sent to it', async () => {
  const { client, url } = platform();
  const { id } = await client.webhooks.create({ url: 'https://receiver.invalid/hooks', events: ['job.finished'] });
  const page = await visit(`${url}/settings?tab=webhooks`);
  const item = page.getByRole('listitem', { name: 'https://receiver.invalid/hooks' });
  await item.getByText('Last success: never').waitFor();
  await item.getByRole('button', { name: 'Test https://receiver.invalid/hooks' }).click();
  const dialog = page.getByRole('dialog', { name: 'Deliveries' });
  const delivery = dialog.getByRole('listitem', { name: 'webhook.test' });
  await delivery.getByText('The host receiver.invalid cannot be resolved').waitFor();
  await delivery.getByRole('button', { name: 'Show' }).click();
  await dialog.getByRole('region', { name: 'Body' }).getByText('"webhook.test"').waitFor();
  await expectAccessible(page);
  await delivery.getByRole('button', { name: 'Retry' }).click();
  await delivery.getByText('2 attempts').waitFor();
  await page.keyboard.press('Escape');
  await item.getByRole('button', { name: 'Disable https://receiver.invalid/hooks' }).click();
  await item.getByText('disabled', { exact: true }).waitFor();
  expect(await client.webhooks.get(id)).toMatchObject({ status: 'disabled' });
  await item.getByRole('button', { name: 'Enable https://receiver.invalid/hooks' }).click();
  await item.getByText('active', { exact: true }).waitFor();
});
