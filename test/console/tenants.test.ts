// The operator in the console: signs in with the admin key, sees no data of a tenant, and manages tenants.
import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { findHeadless } from './rig/chromium.ts';
import { useTenant } from './rig/platform.ts';
import { signIn, type SessionCookie } from './rig/sign-in.ts';
import { takeSecret } from './rig/take-secret.ts';
import { ADMIN_KEY } from './rig/tenants.ts';

const platform = useTenant('tenants');
let session: SessionCookie | null = null;
beforeAll(async () => {
  if (findHeadless() !== null) session = await signIn(platform().url, ADMIN_KEY);
});
const { visit, excuse } = useBrowser(() => ({ session }));

const operator = () => createClient({ url: platform().url, apiKey: ADMIN_KEY });
const item = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Tenants' }).getByRole('listitem', { name, exact: true });
const places = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link');

test('signs in with the admin key, and sees only what is for the operator', async () => {
  excuse(/401/);
  const { url } = platform();
  const page = await visit(`${url}/healthz`);
  await page.context().clearCookies();
  await page.goto(url);
  await page.getByLabel('API key').fill(ADMIN_KEY);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor();
  expect(await places(page).allInnerTexts()).toEqual(['Tenants', 'Operations', 'Access', 'Settings']);
  await places(page).filter({ hasText: 'Access' }).click();
  await page
    .getByText(/signed in from 127.0.0.1$/)
    .first()
    .waitFor();
  expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Audit log']);
  await expectAccessible(page);
  await places(page).filter({ hasText: 'Settings' }).click();
  for (const name of ['Tools', 'MCP servers', 'Providers', 'Limits', 'This browser'])
    await page.getByRole('tab', { name }).click();
  expect(await page.getByRole('tab').count()).toBe(5);
  await page.getByText('Signed in as the operator, with the admin key.').waitFor();
  await page.goto(`${url}/jobs`);
  await page.getByText('This needs the scope read').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Nightshift' }).waitFor();

  await page.context().addCookies([await signIn(url, 'key-of-the-tenant-tenants')]);
  await page.goto(`${url}/tenants`);
  await page.getByText('This needs the scope operator').waitFor();
});

test('a tenant is created, limited, suspended, resumed and deleted; refusals are at their fields', async () => {
  excuse(/409|422/);
  const { url } = platform();
  const page = await visit(`${url}/tenants`);
  await page.getByRole('button', { name: 'New tenant' }).click();
  const dialog = page.getByRole('dialog');
  const create = dialog.getByRole('button', { name: 'Create tenant' });
  await dialog.getByLabel('Name').fill('default');
  await dialog.getByLabel('Slots').fill('many');
  await dialog.getByText('Enter a whole number, or leave the field empty.').waitFor();
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel('Slots').fill('0');
  await create.click();
  await dialog.getByLabel('Slots').and(page.locator('[aria-invalid="true"]')).and(page.locator(':focus')).waitFor();
  await expectAccessible(page);
  await dialog.getByLabel('Slots').fill('4');
  await create.click();
  await dialog.getByText('There is a tenant with the name default').waitFor();
  await dialog.getByLabel('Name').fill('initech');
  await dialog.getByLabel('Weight').fill('2.5');
  await dialog.getByRole('group', { name: 'Allowed models' }).getByRole('button', { name: 'Only these' }).click();
  await dialog.getByLabel('Names of allowed models').fill('anthropic/*\n\nopenai/gpt-5\nanthropic/*');
  await create.click();
  await item(page, 'initech').getByText('Weight 2.5 · limits: slots: 4').waitFor();
  expect(await operator().tenants.get('initech')).toMatchObject({
    limits: { weight: 2.5, slots: 4, workers: null },
    allow: { models: ['anthropic/*', 'openai/gpt-5'], tools: null },
  });

  await operator().tenants.update('initech', { limits: { workers: 7 } });
  await page.getByRole('button', { name: 'Edit initech' }).click();
  await dialog.getByLabel('Slots').fill('');
  await dialog.getByRole('group', { name: 'Allowed tools' }).getByRole('button', { name: 'Only these' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await item(page, 'initech').getByText('tools: none').waitFor();
  // What the form did not change is as another request left it.
  expect(await operator().tenants.get('initech')).toMatchObject({
    limits: { weight: 2.5, slots: null, workers: 7 },
    allow: { models: ['anthropic/*', 'openai/gpt-5'], tools: [] },
  });

  await page.getByRole('button', { name: 'Usage of initech' }).click();
  await dialog.getByRole('listitem', { name: 'Workers', exact: true }).getByText('0 / 7').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Suspend initech' }).click();
  await dialog.getByRole('button', { name: 'Suspend' }).click();
  await page.getByText('Tenant initech suspended').waitFor();
  await item(page, 'initech').getByText('suspended', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Resume initech' }).click();
  await dialog.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Tenant initech resumed').waitFor();
  await item(page, 'initech').getByText('active', { exact: true }).waitFor();

  expect(await page.getByRole('button', { name: 'Delete default' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Delete initech' }).click();
  const remove = dialog.getByRole('button', { name: 'Delete' });
  await dialog.getByLabel('Name of the tenant').fill('initec');
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByLabel('Name of the tenant').fill('initech');
  await expectAccessible(page);
  await remove.click();
  await page.getByText('Deletion of tenant initech requested').waitFor();
  // Read again by itself, until all is deleted.
  await item(page, 'initech').waitFor({ state: 'detached' });
});

test('a new tenant gets its first key, with which it makes the others', async () => {
  excuse(/403/);
  const { url } = platform();
  await operator().tenants.create({ name: 'hooli' });
  const page = await visit(`${url}/tenants`);
  const dialog = page.getByRole('dialog', { name: 'First key of hooli' });
  const create = dialog.getByRole('button', { name: 'Create key' });
  const make = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Create first key of hooli' }).click();
    await dialog.getByLabel('Name').fill(name);
    await create.click();
  };
  await page.getByRole('button', { name: 'Create first key of hooli' }).click();
  await dialog.getByLabel('Name').fill('administration');
  await dialog.getByRole('checkbox', { name: /^read/ }).click();
  await dialog.getByRole('checkbox', { name: /^keys/ }).click();
  await dialog.getByText('The first key needs the scope keys.').waitFor();
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByRole('checkbox', { name: /^keys/ }).click();
  await expectAccessible(page);
  await create.click();
  const key = await takeSecret(page, { title: 'API key administration', name: 'key' });
  const first = createClient({ url, apiKey: key });
  expect(await first.session.get()).toMatchObject({ tenant: 'hooli', scopes: ['read', 'keys'] });
  const { key: second } = await first.keys.create({ name: 'service', scopes: ['read'] });
  expect(await createClient({ url, apiKey: second }).session.get()).toMatchObject({ tenant: 'hooli' });
  await make('another');
  await dialog
    .getByText('The tenant has an API key, or people signed in with OpenID Connect, that can make keys.')
    .waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Suspend hooli' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
  await page.getByRole('button', { name: 'Resume hooli' }).waitFor();
  // A key would be refused.
  expect(await page.getByRole('button', { name: 'Create first key of hooli' }).count()).toBe(0);
  await operator().tenants.delete('hooli');
});

for (const { theme, size } of LOOKS) {
  test(`tenants of every kind are accessible, and fit: ${theme}, ${size}`, async () => {
    const { url } = platform();
    const name = `with-a-name-that-no-line-of-a-phone-can-hold-${theme}-${size}`;
    const models = ['openai/a-model-with-a-long-name-that-does-not-fit-either', 'anthropic/*'];
    await operator().tenants.create({ name, limits: { slots: 3, sql_ms: 2_000 }, allow: { models, tools: [] } });
    await operator().tenants.update(name, { status: 'suspended' });
    const page = await visit(`${url}/tenants`, { theme, size });
    await item(page, name).getByText('suspended', { exact: true }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await page.getByRole('button', { name: `Edit ${name}` }).click();
    await expectAccessible(page);
    await expectFits(page);
    await operator().tenants.delete(name);
  });
}
