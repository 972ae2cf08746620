// Sign-in with OpenID Connect through the form of a real provider, and what the sign-in page tells where it fails.
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { freePort } from '../../src/dev/free-port.ts';
import { startOidcProvider, type TestProvider } from '../services/oidc-provider.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useOwnPlatform } from './rig/platform.ts';

let provider: TestProvider | null = null;
const platform = useOwnPlatform(async () => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  provider = await startOidcProvider({ publicUrls: [publicUrl] });
  provider.groups.set('mia', ['authors']).set('vera', ['readers']);
  return {
    ...provider.environment(publicUrl),
    PORT: String(port),
    NIGHTSHIFT_CONFIG: path.join(import.meta.dirname, 'rig/oidc.config.ts'),
  };
});
afterAll(() => provider?.close());
const { visit, excuse } = useBrowser();

/** The form of the provider asks for them. */
const FONTS = /fonts\.googleapis\.com/;

const signInPage = (page: Page) => page.getByRole('heading', { name: 'Sign in to Nightshift' });

/** Of the link to the provider. */
async function entryQuery(page: Page): Promise<Record<string, string>> {
  const address = await page.getByRole('link', { name: 'Sign in with Example Login' }).getAttribute('href');
  return Object.fromEntries(new URL(address ?? '', page.url()).searchParams);
}

async function signInAs(page: Page, login: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Example Login' }).click();
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('a person signs in at the provider, comes back to the page, works as a member, and signs out', async () => {
  excuse(FONTS);
  const page = await visit(`${platform().url}/jobs?status=running`, { alone: true });
  await signInPage(page).waitFor();
  await signInAs(page, 'mia');
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  expect(new URL(page.url()).search).toBe('?status=running');
  const session = await page.evaluate(`fetch('/api/session').then((response) => response.json())`);
  expect(session).toMatchObject({ tenant: 'acme', scopes: ['read', 'run'] });
  const cookies = (await page.context().cookies()).filter(({ name }) => name.startsWith('nightshift'));
  expect(cookies).toEqual([expect.objectContaining({ httpOnly: true, sameSite: 'Strict' })]);
  await page.goto(`${platform().url}/access`);
  await page.getByText('This needs the scope keys').waitFor();
  await page.goto(`${platform().url}/settings?tab=browser`);
  await page.getByText(`Signed in to the tenant acme as ${provider?.issuer}#mia.`).waitFor();
  await page.goto(`${platform().url}/?error=no_access`);
  await page.getByText('Could not sign in again').waitFor();
  await page.getByText('Your account has no access.').waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signInPage(page).waitFor();
  expect(await entryQuery(page)).toMatchObject({ choose: '1' });
  await signInAs(page, 'vera');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const next = await page.evaluate(`fetch('/api/session').then((response) => response.json())`);
  expect(next).toMatchObject({ user: `${provider?.issuer}#vera`, scopes: ['read'] });
  expect(await page.evaluate(`sessionStorage.getItem('nightshift.choose_account')`)).toBeNull();
});

test('a person without a grant sees why, until the page is loaded again', async () => {
  excuse(FONTS);
  const page = await visit(platform().url, { alone: true });
  await signInAs(page, 'guest');
  await page.getByText('Your account has no access.').waitFor();
  await expectAccessible(page);
  expect(new URL(page.url()).search).toBe('');
  await page.reload();
  await signInPage(page).waitFor();
  expect(await page.getByText('Your account has no access.').count()).toBe(0);
  expect(await entryQuery(page)).toMatchObject({ choose: '1' });
});

for (const { theme, size } of LOOKS) {
  test(`the sign-in page is accessible and fits: ${theme}, ${size}`, async () => {
    const page = await visit(`${platform().url}/?error=sign_in_failed`, { theme, size });
    await page.getByRole('alert').waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
