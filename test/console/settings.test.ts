// Settings: a role is made, changed and used; the installation is shown, in both themes.
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('settings');
const { visit, excuse } = useBrowser(platform);

test('a role is made, a worker is made from it, and a change makes a new version', async () => {
  const { client, url } = platform();
  const page = await visit(`${url}/settings`);
  await page.getByRole('button', { name: 'New role' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('scribe');
  await dialog.getByLabel('Model', { exact: true }).fill('simulated/scribe');
  await dialog.getByLabel('System prompt').fill('You write things down.');
  await dialog.getByLabel('look_up').click();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const item = page.getByRole('listitem', { name: 'scribe' });
  await item.getByText('version 1').waitFor();
  const worker = await client.workers.create({ name: 'from a role', role: 'scribe' });
  const { job_id: id } = await client.workers.send(
    worker.id,
    'call: look_up {"word": "quill"}\n---\nsay: written',
  );
  expect(await client.jobs.wait(id)).toMatchObject({ status: 'completed', output: { text: 'written' } });

  await item.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('System prompt').fill('You write things down, briefly.');
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
  await dialog.getByLabel('Model', { exact: true }).fill('simulated/mine');
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

const TABS = {
  Roles: 'clerk',
  Tools: 'wire_money',
  'MCP servers': 'No MCP server',
  Providers: 'simulated',
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
