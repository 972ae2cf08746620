// Versions of a role: two are compared line by line, and an older one is restored, unless someone else was faster.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('role-versions');
const { visit, excuse } = useBrowser(platform);

const FIRST = { model: 'simulated/a', system_prompt: 'You answer.\nBe short.\nCite the source.', tools: ['look_up'] };
const SECOND = { ...FIRST, system_prompt: 'You answer.\nBe very short.\nCite the source.', max_steps: 9 };

async function openVersions(page: Page, name: string) {
  await page.getByRole('button', { name: `Versions role ${name}` }).click();
  const dialog = page.getByRole('dialog', { name: `Versions of role ${name}` });
  await dialog.getByRole('listitem', { name: 'Version 1', exact: true }).waitFor();
  return dialog;
}

test('two versions are compared, and the older one is restored as a new one', async () => {
  const { client, url } = platform();
  await client.roles.put('answerer', FIRST);
  await client.roles.put('answerer', SECOND);
  const page = await visit(`${url}/settings`);
  const dialog = await openVersions(page, 'answerer');
  const prompt = dialog.getByRole('region', { name: 'Differences in System prompt' });
  await prompt.getByText('Be very short.').waitFor();
  expect(await prompt.locator('ins').allInnerTexts()).toEqual(['very ']);
  await dialog.getByRole('region', { name: 'Differences in Max steps' }).getByText('9').waitFor();
  expect(await dialog.getByRole('region', { name: 'Differences in Model' }).count()).toBe(0);
  await expectAccessible(page);

  await dialog.getByRole('button', { name: 'Restore version 1' }).click();
  const question = page.getByRole('dialog', { name: 'Restore version 1?' });
  await question.getByRole('button', { name: 'Restore this version' }).click();
  await dialog.getByRole('listitem', { name: 'Version 3' }).getByText('current').waitFor();
  expect(await client.roles.get('answerer')).toMatchObject({ version: 3, ...FIRST });
  expect(await client.roles.get('answerer')).not.toHaveProperty('max_steps');
});

test('a version that someone else makes meanwhile is not overwritten', async () => {
  excuse(/412/);
  const { client, url } = platform();
  await client.roles.put('contested', FIRST);
  await client.roles.put('contested', SECOND);
  const page = await visit(`${url}/settings`);
  const dialog = await openVersions(page, 'contested');
  await dialog.getByRole('button', { name: 'Restore version 1' }).click();
  await client.roles.put('contested', { model: 'simulated/theirs' });
  // The list behind the question has been read again; the question is still about what was seen when it was opened.
  await page.getByRole('listitem', { name: 'Version 3', exact: true, includeHidden: true }).waitFor();
  const question = page.getByRole('dialog', { name: 'Restore version 1?' });
  await question.getByRole('button', { name: 'Restore this version' }).click();
  await question.getByText('Its current version is 3.').waitFor();
  expect((await client.roles.get('contested')).model).toBe('simulated/theirs');
});

test('an empty own value differs from one that is not set, and each is named', async () => {
  const { client, url } = platform();
  await client.roles.put('emptied', { model: 'simulated/a', max_steps: 3 });
  await client.roles.put('emptied', { model: 'simulated/a', tools: [], system_prompt: '' });
  await client.roles.put('emptied', { model: 'simulated/a', tools: ['look_up'], system_prompt: '' });
  const page = await visit(`${url}/settings`);
  const dialog = await openVersions(page, 'emptied');
  const differences = dialog.getByRole('region', { name: 'Differences', exact: true });
  expect(await differences.getByRole('heading').allInnerTexts()).toEqual(['Tools']);
  await differences.getByText('From: empty', { exact: true }).waitFor();
  await dialog.getByRole('combobox', { name: 'From' }).click();
  await page.getByRole('option', { name: 'Version 1' }).click();
  await dialog.getByRole('combobox', { name: 'To' }).click();
  await page.getByRole('option', { name: 'Version 2' }).click();
  await differences.getByRole('heading', { name: 'Max steps' }).waitFor();
  expect(await differences.getByRole('heading').allInnerTexts()).toEqual(['System prompt', 'Tools', 'Max steps']);
  expect(await differences.getByText('From: not set · To: empty', { exact: true }).count()).toBe(2);
  await differences.getByText('To: not set', { exact: true }).waitFor();
  await expectAccessible(page);
});

test('a version is compared with none, which shows all that it has', async () => {
  const { client, url } = platform();
  await client.roles.put('whole', FIRST);
  await client.roles.put('whole', SECOND);
  const page = await visit(`${url}/settings`);
  const dialog = await openVersions(page, 'whole');
  await dialog.getByRole('combobox', { name: 'From' }).click();
  await page.getByRole('option', { name: 'No version' }).click();
  await dialog.getByRole('heading', { name: 'Tools' }).waitFor();
  const differences = dialog.getByRole('region', { name: 'Differences', exact: true });
  expect(await differences.getByRole('heading').allInnerTexts()).toEqual([
    'Model',
    'System prompt',
    'Tools',
    'Max steps',
  ]);
});

test('a role that was deleted and made again shows it', async () => {
  const { client, url } = platform();
  await client.roles.put('reborn', FIRST);
  await client.roles.delete('reborn');
  await client.roles.put('reborn', SECOND);
  const page = await visit(`${url}/settings`);
  const dialog = await openVersions(page, 'reborn');
  await dialog.getByRole('listitem', { name: 'Version 2' }).getByText('role deleted').waitFor();
  await dialog.getByRole('button', { name: 'Compare version 1' }).click();
  await dialog.getByRole('region', { name: 'Differences in System prompt' }).locator('ins').waitFor();
});

for (const { theme, size } of LOOKS) {
  test(`the versions fit, and are accessible: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    await client.roles.put('looked-at', FIRST);
    await client.roles.put('looked-at', SECOND);
    const page = await visit(`${url}/settings`, { theme, size });
    const dialog = await openVersions(page, 'looked-at');
    await dialog.getByRole('region', { name: 'Differences in System prompt' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
