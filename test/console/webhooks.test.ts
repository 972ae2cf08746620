// Webhooks in the settings: made, changed, rotated, enabled again and deleted; a secret is shown once.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { signIn } from './rig/sign-in.ts';
import { takeSecret } from './rig/take-secret.ts';

const platform = useTenant('webhooks');
const { visit, excuse } = useBrowser(platform);

async function takeSigningSecret(page: Page): Promise<string> {
  const secret = await takeSecret(page, { title: 'Secret of the webhook', name: 'secret' });
  expect(secret).toMatch(/^whsec_/);
  return secret;
}

test('a webhook is made and changed; what is wrong is said at its field', async () => {
  excuse(/422/);
  const { client, url } = platform();
  await client.roles.put('support', { model: 'simulated/a' });
  const page = await visit(`${url}/settings?tab=webhooks`);
  await page.getByText('No webhooks yet').waitFor();
  await page.getByRole('button', { name: 'New webhook' }).click();
  const dialog = page.getByRole('dialog', { name: 'New webhook' });
  const create = dialog.getByRole('button', { name: 'Create webhook' });
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel('URL').fill('https://127.0.0.1/hooks');
  await create.click();
  await dialog.getByText('its host is not public').waitFor();
  expect(await dialog.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
  await expectAccessible(page);
  await dialog.getByLabel('URL').fill('https://receiver.invalid/hooks');
  await dialog.getByRole('checkbox', { name: /^job\.waiting/ }).click();
  await dialog.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'Only jobs of support' }).click();
  await dialog.getByLabel('Metadata').fill('[7]');
  await dialog.getByText('Enter a JSON object.').waitFor();
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel('Metadata').fill('{"team": 7}');
  await create.click();
  const secret = await takeSigningSecret(page);
  const item = page.getByRole('listitem', { name: 'https://receiver.invalid/hooks' });
  await item.getByText('only with metadata {"team":7}').waitFor();
  const [made] = await client.webhooks.list().all();
  expect(made).toMatchObject({
    events: ['job.waiting', 'job.finished'],
    filter: { role: 'support', metadata: { team: 7 } },
    status: 'active',
  });

  await item.getByRole('button', { name: 'Edit https://receiver.invalid/hooks' }).click();
  const edited = page.getByRole('dialog', { name: 'Edit webhook' });
  await edited.getByRole('checkbox', { name: /^job\.waiting/ }).click();
  await edited.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'Jobs of any worker' }).click();
  await edited.getByLabel('Metadata').fill('');
  await edited.getByRole('button', { name: 'Save' }).click();
  await item.getByText('job.finished', { exact: true }).waitFor();
  expect(await client.webhooks.get(made?.id ?? '')).toMatchObject({ events: ['job.finished'], filter: null });
  const [act] = (await client.audit.list({ action: 'webhook.changed' }).page()).data;
  expect(Object.keys(act?.detail ?? {}).sort()).toEqual(['events', 'filter']);

  await item.getByRole('button', { name: 'Rotate secret of https://receiver.invalid/hooks' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  expect(await takeSigningSecret(page)).not.toBe(secret);

  await item.getByRole('button', { name: 'Delete https://receiver.invalid/hooks' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No webhooks yet').waitFor();
  expect(await client.webhooks.list().all()).toEqual([]);
});

test('the form of a webhook that is opened while a test event is sent stays open', async () => {
  const { client, url } = platform();
  const address = 'https://receiver.invalid/slow';
  const { id } = await client.webhooks.create({ url: address, events: ['job.finished'] });
  const page = await visit(`${url}/settings?tab=webhooks`);
  const answer = Promise.withResolvers<void>();
  await page.route('**/api/webhooks/*/test', async (route) => {
    await answer.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: `Test ${address}` }).click();
  await page.getByRole('button', { name: `Edit ${address}` }).click();
  const form = page.getByRole('dialog', { name: 'Edit webhook' });
  await form.getByLabel('URL').fill('https://receiver.invalid/other');
  answer.resolve();
  await page.getByText('A test event is sent').waitFor();
  expect(await form.getByLabel('URL').inputValue()).toBe('https://receiver.invalid/other');
  expect(await page.getByRole('dialog').count()).toBe(1);
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  await client.webhooks.delete(id);
});

test('a refused deletion is shown in its dialog, which nothing closes while the request runs', async () => {
  excuse(/404/);
  const { client, url } = platform();
  const address = 'https://receiver.invalid/gone';
  const { id } = await client.webhooks.create({ url: address, events: ['job.finished'] });
  const page = await visit(`${url}/settings?tab=webhooks`);
  await page.getByRole('button', { name: `Delete ${address}` }).click();
  const answer = Promise.withResolvers<void>();
  await page.route(`**/api/webhooks/${id}`, async (route) => {
    await answer.promise;
    await route.continue();
  });
  const dialog = page.getByRole('dialog', { name: `Delete webhook ${address}?` });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  const cancel = dialog.getByRole('button', { name: 'Cancel', disabled: true });
  await cancel.waitFor();
  await client.webhooks.delete(id);
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  expect(await cancel.count()).toBe(1);
  answer.resolve();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).and(page.locator(':focus')).waitFor();
  await expectAccessible(page);
});

test('without the scope configure, webhooks and schedules are shown, and not changed', async () => {
  const { client, url } = platform();
  const { id } = await client.webhooks.create({ url: 'https://receiver.invalid/read', events: ['job.finished'] });
  const target = { worker: { name: 'reporter' } };
  const schedule = await client.schedules.create({ name: 'daily', every_s: 86_400, content: 'say: x', target });
  const { key } = await client.keys.create({ name: 'reader', scopes: ['read'] });
  const page = await visit(`${url}/settings?tab=webhooks`);
  await page.context().addCookies([await signIn(url, key)]);
  await page.reload();
  const item = page.getByRole('listitem', { name: 'https://receiver.invalid/read' });
  await item.waitFor();
  expect(await item.getByRole('button').allInnerTexts()).toEqual(['Deliveries']);
  expect(await page.getByRole('button', { name: 'New webhook' }).count()).toBe(0);
  await page.goto(`${url}/schedules`);
  const daily = page.getByRole('listitem', { name: 'daily' });
  await daily.waitFor();
  expect(await daily.getByRole('button').allInnerTexts()).toEqual(['Runs']);
  expect(await page.getByRole('button', { name: 'New schedule' }).count()).toBe(0);
  await client.schedules.delete(schedule.id);
  await client.webhooks.delete(id);
});

for (const { theme, size } of LOOKS) {
  test(`the list and the form are accessible, and fit: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    const address = `https://receiver.invalid/${'a-long-path/'.repeat(10)}${size}`;
    const { id } = await client.webhooks.create({
      url: address,
      events: ['job.started', 'job.waiting', 'job.finished', 'approval.requested'],
    });
    const page = await visit(`${url}/settings?tab=webhooks`, { theme, size });
    await page.getByRole('listitem', { name: address }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await page.getByRole('button', { name: 'New webhook' }).click();
    await expectAccessible(page);
    await expectFits(page);
    await client.webhooks.delete(id);
  });
}
