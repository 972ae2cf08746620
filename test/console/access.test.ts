// Access: API keys are made, rotated and revoked, and what a session may not do is not offered.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createClient, type ApiKey } from '../../src/client/index.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { signIn } from './rig/sign-in.ts';
import { takeSecret } from './rig/take-secret.ts';

const platform = useTenant('access');
const { visit, excuse } = useBrowser(platform);

const keyItem = (page: Page, name: string) => page.getByRole('listitem', { name, exact: true });

/** Signs a page in with another key, that has these scopes only. */
async function signInWith(page: Page, name: string, scopes: ApiKey['scopes']): Promise<void> {
  const { client, url } = platform();
  const { key } = await client.keys.create({ name, scopes });
  await page.context().addCookies([await signIn(url, key)]);
  await page.reload();
}

const takeKey = (page: Page, name: string) => takeSecret(page, { title: `API key ${name}`, name: 'key' });

test('a key is made with some scopes, rotated and revoked', async () => {
  const { client, url } = platform();
  const page = await visit(`${url}/access`);
  await page.getByText('No API keys yet').waitFor();
  await page.getByRole('button', { name: 'New API key' }).click();
  const dialog = page.getByRole('dialog', { name: 'New API key' });
  const create = dialog.getByRole('button', { name: 'Create key' });
  await dialog.getByLabel('Name').fill('billing service');
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByRole('checkbox', { name: /^read/ }).click();
  await dialog.getByRole('checkbox', { name: /^run/ }).click();
  await dialog.getByLabel('Requests per second').fill('many');
  await dialog.getByText('Enter a whole number, or leave the field empty.').waitFor();
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel('Requests per second').fill('900');
  await dialog.getByRole('checkbox', { name: /^keys/ }).click();
  expect(await dialog.getByLabel('Requests per second').isDisabled()).toBe(true);
  await dialog.getByRole('checkbox', { name: /^keys/ }).click();
  await expectAccessible(page);
  await create.click();
  const key = await takeKey(page, 'billing service');
  const made = createClient({ url, apiKey: key });
  expect((await made.session.get()).scopes).toEqual(['read', 'run']);
  const [stored] = (await client.keys.list().page()).data;
  const days = (Date.parse(stored?.expires_at ?? '') - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(89.9);
  expect(days).toBeLessThan(90.1);

  const item = keyItem(page, 'billing service').first();
  await item.getByText(stored?.prefix ?? 'no prefix').waitFor();
  await item.getByText('At most 900 requests per second').waitFor();
  expect(stored?.limits).toEqual({ requests_per_s: 900, concurrent_requests: null });
  await item.getByRole('button', { name: 'Rotate billing service' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const next = await takeKey(page, 'billing service');
  expect(next).not.toBe(key);
  await page.getByText('by a rotation').waitFor();
  // The overlap is a day: both are valid.
  for (const apiKey of [key, next]) expect((await createClient({ url, apiKey }).session.get()).signed_in).toBe(true);

  await item.getByRole('button', { name: 'Revoke billing service' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await item.getByText('Revoked', { exact: true }).waitFor();
  expect((await createClient({ url, apiKey: next }).session.get()).signed_in).toBe(false);
  expect((await made.session.get()).signed_in).toBe(true);
});

test('a key without expiry, and one that expires after a day; a refusal is shown at its field', async () => {
  excuse(/422/);
  const { client, url } = platform();
  const page = await visit(`${url}/access`);
  const dialog = page.getByRole('dialog', { name: 'New API key' });
  const make = async (name: string, expires: string): Promise<void> => {
    await page.getByRole('button', { name: 'New API key' }).click();
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('checkbox', { name: /^read/ }).click();
    await dialog.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: expires }).click();
  };
  await make('lasting', 'Never');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await takeKey(page, 'lasting');
  // What had the focus, the form, is gone.
  await page.getByRole('main').and(page.locator(':focus')).waitFor();
  await keyItem(page, 'lasting').getByText('Does not expire').waitFor();

  await make('short', 'At the end of a day');
  expect(await dialog.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Last day').fill('2020-01-31');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('expires_at must be in the future.').waitFor();
  expect(await dialog.getByLabel('Last day').getAttribute('aria-invalid')).toBe('true');
  await dialog.getByLabel('Last day').and(page.locator(':focus')).waitFor();
  await expectAccessible(page);
  const year = new Date().getFullYear() + 1;
  await dialog.getByLabel('Last day').fill(`${year}-01-31`);
  expect(await dialog.getByLabel('Last day').getAttribute('aria-invalid')).toBe('false');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await takeKey(page, 'short');
  const [{ expires_at: expiresAt } = { expires_at: null }] = (await client.keys.list().page()).data;
  expect(new Date(expiresAt ?? 0)).toEqual(new Date(year, 1, 1));
});

test('the end of a dialog gives the focus back to its button', async () => {
  const { client, url } = platform();
  await client.keys.create({ name: 'focused', scopes: ['read'] });
  const page = await visit(`${url}/access`);
  const revoke = page.getByRole('button', { name: 'Revoke focused' });
  const dialog = page.getByRole('dialog', { name: 'Revoke API key focused?' });
  for (const close of ['Cancel', 'Close']) {
    await revoke.click();
    await dialog.getByRole('button', { name: close }).click();
    await revoke.and(page.locator(':focus')).waitFor();
  }
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await revoke.and(page.locator(':focus')).waitFor();
});

test('the tokens of a user are revoked', async () => {
  const { client, url } = platform();
  const { token } = await client.tokens.create({ user: 'alice', scopes: ['read'], expires_in_s: 600 });
  const browser = createClient({ url, apiKey: token });
  await browser.contexts.list().page();
  const page = await visit(`${url}/access`);
  await page.getByRole('button', { name: 'Revoke tokens' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('User').fill('alice');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('Tokens of alice revoked').waitFor();
  const isRefused = () =>
    browser.contexts
      .list()
      .page()
      .then(
        () => false,
        () => true,
      );
  await expect.poll(isRefused).toBe(true);
});

test('a session offers no scope that it lacks, and does not rotate a key with more', async () => {
  const { client, url } = platform();
  await client.keys.create({ name: 'with more', scopes: ['read', 'approve'] });
  const page = await visit(`${url}/access`);
  await signInWith(page, 'of keys', ['read', 'keys']);
  await page.getByRole('button', { name: 'New API key' }).click();
  expect(await page.getByRole('dialog').getByRole('checkbox').count()).toBe(2);
  await page.getByText('Only scopes that your own key has are listed.').waitFor();
  await page.keyboard.press('Escape');
  const item = keyItem(page, 'with more');
  await item.getByRole('button', { name: 'Revoke with more' }).waitFor();
  expect(await item.getByRole('button', { name: 'Rotate with more' }).count()).toBe(0);
});

test('without the scope, the navigation has no place for it, and its address says what it needs', async () => {
  // A page that asks for nothing, which the next session would answer with an error.
  const page = await visit(`${platform().url}/healthz`);
  await signInWith(page, 'of a reader', ['read']);
  await page.goto(`${platform().url}/access`);
  await page.getByText('This needs the scope keys').waitFor();
  await expectAccessible(page);
  const places = page.getByRole('navigation', { name: 'Main' });
  await places.getByRole('link', { name: 'Jobs' }).waitFor();
  expect(await places.getByRole('link', { name: 'Access' }).count()).toBe(0);

  await page.goto(`${platform().url}/healthz`);
  await signInWith(page, 'of keys alone', ['keys']);
  await page.goto(`${platform().url}/access`);
  await page.getByRole('button', { name: 'New API key' }).waitFor();
  await expect.poll(() => places.getByRole('link').allInnerTexts()).toEqual(['Access', 'Settings']);
  await page.goto(`${platform().url}/jobs`);
  await page.getByText('This needs the scope read').waitFor();
});

test('revoking the key that one signed in with ends the session', async () => {
  excuse(/401/);
  const page = await visit(`${platform().url}/access`);
  await signInWith(page, 'my own', ['read', 'keys']);
  await page.getByRole('button', { name: 'Revoke my own' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('heading', { name: 'Sign in to Nightshift' }).waitFor();
});

for (const { theme, size } of LOOKS) {
  test(`keys of every kind are accessible, and fit: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    const name = `with a long name that no line of a phone can hold ${theme} ${size}`;
    const { id } = await client.keys.create({ name, scopes: ['read', 'run', 'configure', 'approve', 'keys'] });
    const page = await visit(`${url}/access`, { theme, size });
    await keyItem(page, name).waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await page.getByRole('button', { name: 'New API key' }).click();
    await expectAccessible(page);
    await expectFits(page);
    await page.keyboard.press('Escape');
    await client.keys.revoke(id);
  });
}
