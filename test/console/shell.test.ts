// The frame of the console: it loads, is used by keyboard, knows its addresses, fits both themes and a phone, and asks
// for a key where one is needed.
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useOwnPlatform, useTenant } from './rig/platform.ts';
import { pressSequence } from './rig/press.ts';
import { keyOf } from './rig/tenants.ts';

const PLACES = [
  { path: '/', name: 'Chat', key: 'c' },
  { path: '/inbox', name: 'Inbox', key: 'i' },
  { path: '/jobs', name: 'Jobs', key: 'j' },
  { path: '/schedules', name: 'Schedules', key: 'd' },
  { path: '/overview', name: 'Overview', key: 'o' },
  { path: '/search', name: 'Search', key: null },
  { path: '/tenants', name: 'Tenants', key: 't' },
  { path: '/operations', name: 'Operations', key: 'p' },
  { path: '/access', name: 'Access', key: 'k' },
  { path: '/settings', name: 'Settings', key: 's' },
];

const { visit, excuse } = useBrowser();

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const place = (page: Page, name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name });

async function goByKeys(page: Page, key: string, name: string): Promise<void> {
  await page.locator('body').focus();
  await pressSequence(page, 'g', key);
  await heading(page, name).waitFor();
}

const themeOf = (page: Page) => page.locator('html').getAttribute('data-theme');

async function chooseTheme(page: Page, theme: string): Promise<void> {
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitemradio', { name: theme }).click();
  await page.getByRole('menu').waitFor({ state: 'detached' });
}

/** The menu says what the page shows. */
async function expectTheme(page: Page, theme: string): Promise<void> {
  expect(await themeOf(page)).toBe(theme === 'System' ? null : theme.toLowerCase());
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitemradio', { name: theme, checked: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
}

/** Whether nothing more can be stored. */
const FILL_STORAGE = `{
  globalThis.store = Storage.prototype.setItem;
  Storage.prototype.setItem = () => { throw new Error('the storage is full'); };
}`;
const EMPTY_STORAGE = `Storage.prototype.setItem = globalThis.store`;

describe('without keys', () => {
  const platform = useOwnPlatform();

  test('loads, and goes from page to page by links and by keys', async () => {
    const page = await visit(platform().url);
    await heading(page, 'Chat').waitFor();
    for (const { path, name } of PLACES) {
      await place(page, name).click();
      await heading(page, name).waitFor();
      await page.waitForURL((url) => url.pathname === path);
      await place(page, name).and(page.locator('[aria-current="page"]')).waitFor();
      // The document has its title once the page is drawn.
      await expect.poll(() => page.title()).toBe(`${name} · Nightshift`);
    }
    for (const { name, key } of PLACES) {
      if (key === null) continue;
      await goByKeys(page, key, name);
    }
    await page.locator('body').press('/');
    await heading(page, 'Search').waitFor();
    await page.getByRole('searchbox').press('Tab');
    await page.locator('body').press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
  });

  test('begins with a link past the navigation', async () => {
    const page = await visit(`${platform().url}/inbox`);
    await heading(page, 'Inbox').waitFor();
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to content' });
    await skip.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('main').and(page.locator(':focus')).waitFor();
  });

  test('reports an unknown address', async () => {
    const page = await visit(`${platform().url}/jobs/by/unknown`);
    await heading(page, 'Page not found').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Go to Chat' }).click();
    await heading(page, 'Chat').waitFor();
  });

  test('uses no style that its content security policy forbids', async () => {
    const page = await visit(`${platform().url}/jobs`);
    const styles = () =>
      page.evaluate<boolean[]>(
        `[...document.querySelectorAll('style')].map(({ sheet }) => sheet !== null && sheet.cssRules.length > 0)`,
      );
    const allApplied = (count: number) => Array.from({ length: count }, () => true);
    await expect.poll(styles).toEqual(allApplied(1));
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('menu').waitFor();
    await expect.poll(styles).toEqual(allApplied(2));
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.getByRole('main').getByRole('combobox').first().click();
    await page.getByRole('listbox').waitFor();
    await expect.poll(styles).toEqual(allApplied(3));

    excuse(/Content Security Policy/);
    const isRefused = await page.evaluate<boolean>(`(() => {
      const style = document.createElement('style');
      style.textContent = 'body { color: red; }';
      document.head.append(style);
      return style.sheet === null;
    })()`);
    expect(isRefused).toBe(true);
  });

  test('keeps the selected theme, in all tabs', async () => {
    const page = await visit(platform().url);
    const other = await page.context().newPage();
    await other.goto(platform().url);
    await heading(other, 'Chat').waitFor();
    await chooseTheme(page, 'Dark');
    await expect.poll(() => themeOf(other)).toBe('dark');
    await page.reload();
    await heading(page, 'Chat').waitFor();
    expect(await themeOf(page)).toBe('dark');
  });

  test('a theme that could not be stored lasts until one is stored, by any tab', async () => {
    const page = await visit(platform().url);
    const isFull = (full: boolean) => page.evaluate(full ? FILL_STORAGE : EMPTY_STORAGE);
    for (const theme of ['Dark', 'Light']) {
      await isFull(true);
      await chooseTheme(page, theme);
      await expectTheme(page, theme);
      await isFull(false);
      await chooseTheme(page, theme === 'Dark' ? 'Light' : 'Dark');
      await expectTheme(page, theme === 'Dark' ? 'Light' : 'Dark');
    }
    await isFull(true);
    await chooseTheme(page, 'Light');
    const other = await page.context().newPage();
    await other.goto(platform().url);
    await expectTheme(other, 'Dark');
    await chooseTheme(other, 'System');
    await expect.poll(() => themeOf(page)).toBe(null);
    await expectTheme(page, 'System');
  });

  for (const { theme, size } of LOOKS) {
    test(`every page is accessible and fits: ${theme}, ${size}`, async () => {
      const page = await visit(platform().url, { theme, size });
      for (const { path, name } of PLACES) {
        await page.goto(`${platform().url}${path}`);
        await heading(page, name).waitFor();
        await expectAccessible(page);
        await expectFits(page);
      }
    });
  }

  test('shows that the connection is lost, and continues once it is back', async () => {
    excuse(/Failed to load resource/);
    const page = await visit(`${platform().url}/overview`);
    await heading(page, 'Overview').waitFor();
    await platform().kill();
    const lost = page.getByText('The connection to Nightshift was lost');
    await lost.waitFor();
    await expectAccessible(page);
    await platform().restart();
    await lost.waitFor({ state: 'detached' });
    await heading(page, 'Overview').waitFor();
  });
});

describe('with a key', () => {
  const apiKey = keyOf('shell');
  const platform = useTenant('shell');

  test('asks for it, keeps the requested page, and forgets the key on sign-out', async () => {
    excuse(/401/);
    const page = await visit(`${platform().url}/jobs?status=running`);
    await heading(page, 'Sign in to Nightshift').waitFor();
    await expectAccessible(page);
    const field = page.getByLabel('API key');
    await field.fill('another');
    await field.press('Enter');
    await page.getByText('This API key is not valid.').waitFor();
    await field.fill(apiKey);
    await field.press('Enter');
    await heading(page, 'Jobs').waitFor();
    await page.waitForURL('**/jobs?status=running');
    expect(await page.evaluate('document.cookie')).toBe('');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(cookie?.value).not.toContain(apiKey);
    await page.reload();
    await heading(page, 'Jobs').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in to Nightshift').waitFor();
    await page.reload();
    await heading(page, 'Sign in to Nightshift').waitFor();
  });

  test('forgets it from the settings, too', async () => {
    excuse(/401/);
    const page = await visit(`${platform().url}/settings?tab=browser`);
    await page.getByLabel('API key').fill(apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Sign out of this browser' }).click();
    await heading(page, 'Sign in to Nightshift').waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.goto(`${platform().url}/inbox`);
    await heading(page, 'Sign in to Nightshift').waitFor();
  });
});
