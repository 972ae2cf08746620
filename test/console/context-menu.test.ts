// Operations on a context as a whole: settings that two people change at once, export and import, deletion.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { removeFolder, temporaryFolder } from '../services/temporary-folder.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('context-menu');
const { visit, excuse } = useBrowser(platform);

async function context(title: string): Promise<string> {
  const { client } = platform();
  const made = await client.contexts.create({ title, config: { model: 'simulated/first' } });
  await client.contexts.run(made.id, { input: 'say: an old owl' });
  return made.id;
}

const open = (id: string) => visit(`${platform().url}/contexts/${id}`);

async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Context actions' }).click();
  await page.getByRole('menuitem', { name }).click();
}

test('a context is renamed, and its details are shown', async () => {
  const page = await open(await context('before'));
  await choose(page, 'Rename …');
  await page.getByRole('dialog', { name: 'Rename' }).getByRole('textbox', { name: 'Title' }).fill('after');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'after' }).waitFor();
  await choose(page, 'Details …');
  const details = page.getByRole('dialog', { name: 'Details' });
  await details.getByText('2 on all branches').waitFor();
  await details.getByRole('button', { name: 'Copy the context id' }).waitFor();
  await expectAccessible(page);
});

test('settings that another client changed meanwhile are shown, and the person chooses', async () => {
  const id = await context('settings');
  const { client } = platform();
  excuse(/status of 412/);
  const page = await open(id);
  await choose(page, 'Settings …');
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.getByRole('combobox', { name: 'Model' }).fill('simulated/mine');
  await settings.getByRole('tab', { name: 'Pinned' }).click();
  await settings.getByRole('button', { name: 'Add text' }).click();
  await settings.getByRole('textbox', { name: 'Title of text 1' }).fill('House rules');
  await settings.getByRole('textbox', { name: 'Text 1', exact: true }).fill('No shouting.');
  await expectAccessible(page);
  await client.contexts.update(id, { config: { model: 'simulated/theirs', system_prompt: 'Be brief.' } });
  await settings.getByRole('button', { name: 'Save' }).click();

  const conflict = page.getByRole('dialog', { name: 'The settings were changed by someone else' });
  await conflict.getByText('Be brief.').waitFor();
  await conflict.getByText('simulated/theirs').waitFor();
  await expectAccessible(page);
  await conflict.getByRole('group', { name: 'Model' }).getByRole('radio', { name: 'Yours' }).check();
  await conflict.getByRole('button', { name: 'Use these values' }).click();
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.waitFor({ state: 'hidden' });
  expect((await client.contexts.get(id)).config).toMatchObject({
    model: 'simulated/mine',
    system_prompt: 'Be brief.',
    pinned: [{ title: 'House rules', text: 'No shouting.' }],
  });
});

test('a compaction is marked, and opens to the messages that it replaces', async () => {
  const { client, url } = platform();
  const config = { model: 'simulated/first' };
  const { id } = await client.contexts.create({ title: 'long', config });
  for (const input of ['tokens: 900', 'tokens: 900', 'say: the last']) await client.contexts.run(id, { input });
  const { job_id: jobId } = await client.contexts.compact(id, { type: 'llm', keep_turns: 1 });
  const { compaction } = await client.jobs.wait(jobId);
  expect(compaction?.tokens_after).not.toBeNull();
  const page = await visit(`${url}/contexts/${id}`);
  const mark = page.getByRole('button', { name: /^4 messages were compacted: [\d,]+ → [\d,]+ tokens$/ });
  await mark.click();
  await page.getByRole('region', { name: 'Summary' }).waitFor();
  await page.getByText('user · u1').waitFor();
  await page.getByText('assistant · a2').waitFor();
  await expectAccessible(page);
  // By its key: the list, which stays at its end while it grows, may move under a pointer.
  await mark.press('Enter');
  await page.getByText('user · u1').waitFor({ state: 'hidden' });
});

test('an export is saved as a file, comes back by import, and a damaged one is refused', async () => {
  excuse(/status of 400/);
  const id = await context('to be exported');
  const page = await open(id);
  const saving = page.waitForEvent('download');
  await choose(page, 'Export as JSON');
  const file = await (await saving).path();
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    format: 'nightshift.context',
    context: { title: 'to be exported' },
  });
  const written = page.waitForEvent('download');
  await choose(page, 'Export as Markdown');
  expect(await readFile(await (await written).path(), 'utf8')).toContain('an old owl');

  await choose(page, 'Import …');
  const dialog = page.getByRole('dialog', { name: 'Import a context' });
  await expectAccessible(page);
  const chosen = dialog.getByLabel('File to import');
  await chosen.setInputFiles({
    name: 'damaged.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{"format": "nightshift.con'),
  });
  await dialog.getByRole('alert').getByText('Nothing was imported.').waitFor();
  await chosen.setInputFiles({
    name: 'whole.json',
    mimeType: 'application/json',
    buffer: await readFile(file),
  });
  await dialog.waitFor({ state: 'hidden' });
  await page.waitForURL((url) => url.pathname.startsWith('/contexts/') && !url.pathname.endsWith(id));
  await page.getByRole('article', { name: 'Answer', exact: true }).getByText('an old owl').waitFor();
});

test('a folder of the old layout is imported, with its progress; a damaged one is refused by name', async () => {
  const folder = await temporaryFolder();
  const answer = (id: string, text: string, role: string) => [
    `messages/${id}.json`,
    JSON.stringify({ id, role, content: text }),
  ];
  const files = new Map([
    ['metadata.json', JSON.stringify({ title: 'an old folder' })],
    ['message_index.json', JSON.stringify(['m1', 'm2'])],
    answer('m1', 'an old question', 'user'),
    answer('m2', 'an old answer', 'assistant'),
  ] as [string, string][]);
  await mkdir(path.join(folder, 'messages'));
  const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
  for (const [name, text] of files) await write(name, text);
  await write('messages/m2.json', '{"id": "m2"');

  const page = await open(await context('beside a folder'));
  await choose(page, 'Import …');
  const dialog = page.getByRole('dialog', { name: 'Import a context' });
  const chosen = dialog.getByLabel('Folder to import');
  await chosen.setInputFiles(folder);
  await dialog.getByRole('alert').getByText('messages/m2.json is not valid JSON.').waitFor();
  await write('messages/m2.json', files.get('messages/m2.json') ?? '');

  // The request is delayed, so that its progress can be checked.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/api/contexts/import', async (route) => {
    await released;
    await route.continue();
  });
  await chosen.setInputFiles(folder);
  await dialog.getByRole('progressbar', { name: 'Import' }).waitFor();
  await dialog.getByText(/^(Uploading: \d+%|Importing …)$/).waitFor();
  await expectAccessible(page);
  release();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('heading', { level: 1, name: 'an old folder' }).waitFor();
  await page.getByRole('article', { name: 'Input' }).getByText('an old question').waitFor();
  await page.getByRole('article', { name: 'Answer', exact: true }).getByText('an old answer').waitFor();
  await removeFolder(folder);
});

test('an import that is stopped imports nothing', async () => {
  const { client } = platform();
  const page = await open(await context('stopped'));
  const contexts = async () => (await client.contexts.list().all()).map(({ id }) => id);
  const before = await contexts();
  await choose(page, 'Import …');
  const dialog = page.getByRole('dialog', { name: 'Import a context' });
  const asked = page.waitForRequest('**/api/contexts/import');
  const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/contexts/import'));
  await page.route('**/api/contexts/import', () => undefined);
  const pairs = { title: 'never', entries: [{ user: 'a', assistant: 'b' }] };
  await dialog.getByLabel('File to import').setInputFiles({
    name: 'pairs.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(pairs)),
  });
  await asked;
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await failed;
  expect(await contexts()).toEqual(before);
});

test('history is cleared, the worker is stopped and started, and a deletion names its target before', async () => {
  const id = await context('to be deleted');
  const { client } = platform();
  excuse(/status of 404/);
  const page = await open(id);
  await choose(page, 'Stop worker');
  await page.getByText(/^Worker .* stopped$/).waitFor();
  await choose(page, 'Start worker');
  await page.getByText(/^Worker .* started$/).waitFor();
  await choose(page, 'Clear history …');
  const clear = page.getByRole('dialog', { name: 'Clear history of “to be deleted”?' });
  await clear.getByText('2 messages').waitFor();
  await clear.getByRole('button', { name: 'Clear history' }).click();
  await clear.waitFor({ state: 'hidden' });
  await page.getByRole('article', { name: 'Answer', exact: true }).waitFor({ state: 'hidden' });
  await choose(page, 'Delete …');
  const remove = page.getByRole('dialog', { name: 'Delete context “to be deleted”?' });
  await remove.getByText('with its settings').waitFor();
  await expectAccessible(page);
  await remove.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL((url) => url.pathname === '/');
  await expect(client.contexts.get(id)).rejects.toMatchObject({ code: 'not_found' });
});

test('every dialog fits a phone in the dark theme', async () => {
  const id = await context('small');
  const page = await visit(`${platform().url}/contexts/${id}`, { size: 'phone', theme: 'dark' });
  for (const name of ['Settings …', 'Details …', 'Fork into a new context …', 'Import …', 'Delete …']) {
    await choose(page, name);
    const dialog = page.getByRole('dialog');
    await dialog
      .getByRole('button', { name: /^(Close|Cancel)$/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  }
});
